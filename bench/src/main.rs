//! The engine beside its peers, and how its work grows with its input.
//!
//! Run by `cargo xtask bench`; the README beside this crate says how to read what it prints.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use groups::{Bench, Scale};
use measure::Effort;
use node::Node;

mod input;
mod measure;
mod ours;
mod node;
mod groups;
mod report;
mod record;
mod chart;
mod speeds;

const HELP: &str = "\
usage: cargo xtask bench [--quick] [--record] [GROUP…]

  --quick     smaller inputs and fewer runs
  --record    also write the table to bench/records/, draw docs/img/bench.svg, and write
              the numbers into the table of speeds in README.md; not with --quick
  GROUP       only these of: sse look message tags edit chunks npm growth many markers memory journal files
              session http

exit code 1 if a target is missed
";

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some(groups::memory::CHILD) {
        return match groups::memory::child(env::args().skip(2)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(2)
            }
        };
    }
    let (mut scale, mut record, mut names) = (Scale::Full, false, Vec::new());
    for argument in env::args().skip(1) {
        match argument.as_str() {
            "--quick" => scale = Scale::Quick,
            "--record" => record = true,
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            name if groups::ALL.iter().any(|(group, _)| *group == name) => names.push(argument),
            _ => {
                eprint!("error: `{argument}` is not an argument of the benchmarks\n\n{HELP}");
                return ExitCode::from(2);
            }
        }
    }
    if record && scale == Scale::Quick {
        eprint!("error: `--record` is not possible with `--quick`, whose inputs are smaller\n\n{HELP}");
        return ExitCode::from(2);
    }
    let effort = match scale {
        Scale::Full => Effort { runs: 11, each: Duration::from_secs(10) },
        Scale::Quick => Effort { runs: 5, each: Duration::from_millis(500) },
    };
    let bench = Bench { effort, scale, node: Node::start() };
    match run(&bench, &names, record) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Prints every group as it is done; returns whether all targets are reached.
fn run(bench: &Bench, names: &[String], record: bool) -> Result<bool> {
    let mut report = record::head(bench.node.as_ref(), bench.effort);
    print!("{report}");
    let mut say = |text: String| {
        print!("{text}");
        report.push_str(&text);
    };
    let (mut targets, mut measured) = (Vec::new(), Vec::new());
    for (name, run) in groups::ALL {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            eprintln!("measuring {name}");
            let group = run(bench)?;
            say(group.table + "\n");
            if record && name == "look" {
                eprintln!("drawn to {}", chart::draw(input::Shape::File.name(), &group.rows)?.display());
            }
            targets.extend(group.targets);
            measured.push((name, group.rows));
        }
    }
    targets.iter().for_each(|target| say(target.line()));
    if record {
        eprintln!("written to {}", record::write(&report)?.display());
        eprintln!("written to {}", speeds::write(&measured)?.display());
    }
    Ok(!targets.iter().any(report::Target::is_missed))
}
