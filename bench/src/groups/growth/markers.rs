//! Texts that consist of markers: for each profile the opening markers alone, the closing ones alone, and
//! calls that never close, judged at each doubling.

use std::time::Duration;

use anyhow::Result;
use reknit::tags::{Grammar, Parser, profile_source, profiles};

use super::{Series, doublings, whole_units};
use crate::groups::{Bench, Scale};
use crate::input::{KB, pieces};
use crate::measure::{Effort, timed};

/// How many bytes a piece has.
const PIECE: usize = 20;

/// How each text is measured at first: what is quadratic shows at once, and the rest is only noise.
const AT_FIRST: Effort = Effort { runs: 3, each: Duration::from_millis(500) };

/// How many texts of a profile are measured again with all effort.
const AGAIN: usize = 2;

/// For each profile, the series with the largest growth.
pub(super) fn run(bench: &Bench) -> Result<Vec<Series>> {
    let largest = if bench.scale == Scale::Full { 800 * KB } else { 200 * KB };
    let growth = |series: &Series| series.growths().fold(0.0, f64::max);
    let mut worst = Vec::new();
    for grammar in profiles() {
        let mut suspects = Vec::new();
        for unit in units(grammar) {
            suspects.push((growth(&repeated(AT_FIRST, grammar, &unit, largest)?), unit));
        }
        suspects.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let again = suspects.iter().take(AGAIN);
        let series: Vec<_> =
            again.map(|(_, unit)| repeated(bench.effort, grammar, unit, largest)).collect::<Result<_>>()?;
        worst.extend(series.into_iter().max_by(|a, b| growth(a).total_cmp(&growth(b))));
    }
    Ok(worst)
}

/// A text that repeats `unit`, up to `largest` bytes of it.
///
/// It has an even number of them: of an odd number of code spans the last one is open when the text ends, and its
/// text is read once more, which is not growth.
fn repeated(effort: Effort, grammar: &Grammar, unit: &str, largest: usize) -> Result<Series> {
    let texts: Vec<_> =
        doublings(whole_units(largest / 2, unit.len())).map(|pairs| unit.repeat(2 * pairs)).collect();
    let inputs = texts
        .iter()
        .map(|text| (text.len(), timed(move || read(grammar, text), |parser| parser.text().len())));
    Series::measure(effort, format!("{}, {}", grammar.name, unit.replace('\n', " ")), inputs)
}

fn read(grammar: &Grammar, text: &str) -> Parser {
    let mut parser = Parser::new(grammar, None).expect("it can be used");
    // In pieces as a model writes them: the speed of memory, which differs from one cache to the next, is then not
    // what is measured.
    for piece in pieces(text, PIECE) {
        // The profiles that reproduce another parser accept only as much as that one does.
        if parser.push(piece).is_err() {
            break;
        }
    }
    parser.finish();
    parser
}

/// What is repeated: each marker, and markers in an order in which no call closes as it should.
fn units(grammar: &Grammar) -> Vec<String> {
    let source = profile_source(&grammar.name).unwrap_or_default();
    // Names that the lists of `cline` and `roo` have.
    let of = |key: &str| -> Vec<_> {
        let name = if key.starts_with("parameter") { "path" } else { "read_file" };
        values(source, key).iter().map(|marker| fill(marker, name)).collect()
    };
    let (mut opens, mut closes) =
        ([of("open"), of("call")].concat(), [of("close"), of("call_close")].concat());
    match source {
        _ if source.contains("kind = \"channels\"") => {
            opens.push("<|start|>assistant<|channel|>commentary to=functions.a<|message|>".to_owned());
            closes.push("<|call|>".to_owned());
        }
        _ if source.contains("kind = \"python\"") => {
            opens.push("[a(b=".to_owned());
            closes.push(")]".to_owned());
        }
        _ => {}
    }
    let (params, param_closes) = (of("parameter").concat(), of("parameter_close").concat());
    let json = "{\"name\": \"a\", \"arguments\": {\"b\": ";
    let mut units = [opens.clone(), closes.clone()].concat();
    for open in &opens {
        units.extend([format!("{open}{params}"), format!("{open}{json}"), format!("{open} is how\n")]);
        units.push(format!("{open}{params}{}", closes.concat()));
        units.push(format!("{open}{params}{}{}", closes.concat(), param_closes));
    }
    units.extend([params, param_closes, "`".to_owned(), "` ``".to_owned()]);
    units.retain(|unit| !unit.is_empty());
    units.sort();
    units.dedup();
    units
}

/// The strings that a key of a profile has, wherever it is.
fn values(source: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(&format!("\n{key} = ")) {
        rest = &rest[at + key.len() + 4..];
        let end = match rest.starts_with('[') {
            true => rest.find("]\n").unwrap_or(rest.len()),
            false => rest.find('\n').unwrap_or(rest.len()),
        };
        let mut list = rest[..end].trim_start_matches('[');
        while let Some(start) = list.find(['"', '\'']) {
            let quote = &list[start..=start];
            let Some(length) = list[start + 1..].find(quote) else { break };
            values.push(list[start + 1..start + 1 + length].replace("\\n", "\n"));
            list = &list[start + length + 2..];
        }
    }
    values
}

/// A marker with a name in place of its placeholder.
fn fill(marker: &str, name: &str) -> String {
    marker.replace("{name}", name).replace("{blank}", "").replace("{attributes}", "")
}
