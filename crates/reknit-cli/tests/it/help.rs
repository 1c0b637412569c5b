//! What `--help` and `--version` print.

use expect_test::expect;

use crate::command::run;

#[test]
fn help_is_on_stdout_and_fits_a_screen() {
    let help = run(&["--help"], "");
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        Model streams, cut or broken however you like, as whole messages, tool calls and file edits

        Usage: reknit <COMMAND>

        Commands:
          read     Turn a provider's stream into the message it holds, live
          replay   Play a recording in its own time, to standard output or as a provider's server
          tools    Find the tool calls and the thinking that a model writes into its text, live
          chunks   Fold the events of a session into what a person sees of it, live
          apply    Put a model's edits where they belong in files, or say why they cannot be
          undo     Take back what `apply` wrote, byte for byte
          log      List what `apply` and `undo` changed, newest first
          explain  Tell what an error or a diagnostic means, why it happens, and what to do
          help     Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version
    "#]]
    .assert_eq(&help.stdout);

    let read = run(&["read", "--help"], "");
    assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""));
    assert!(read.stdout.lines().count() <= 50);
    assert!(read.stdout.lines().all(|line| line.chars().count() <= 100));
    expect![[r#"
        Turn a provider's stream into the message it holds, live

        Usage: reknit read [OPTIONS] [FILE]

        Arguments:
          [FILE]  The stream or a recording of it; standard input if it is `-` or left out

        Options:
              --from <DIALECT>  The dialect of the stream [default: auto]
              --as <FORM>       The form: neutral, or native for the provider's own [default: neutral]
              --all             Print every message of the stream, as an array, instead of the last one
              --tools <NAME>    Find calls and thinking in texts, as a profile of `tools` does
              --json            Print the message as one JSON object
              --ndjson          Print every change as it comes, one JSON object a line
              --events          Print the agent events of the reply as they come, one JSON object a line
              --recut <SEED>    Feed the input cut at pseudo-random bytes, or `bytes` for one byte at a time
              --record <FILE>   Keep what is read in a new file, with its cuts and times, for `replay`
          -h, --help            Print help

        Examples:
          curl -N … | reknit read                      the text, as it arrives
          curl -N … | reknit read --json               the whole message as one JSON object
          curl -N … | reknit read --ndjson             every change as a line of JSON
          curl -N … | reknit read --events             what `chunks` reads, as lines of JSON
          reknit read --as native --json reply.sse     the message in the provider's own form
          curl -N … | reknit read --record new.rec     the same, kept with its cuts and times
          reknit read new.rec                          what was recorded, read again

        An interrupt (Ctrl-C) ends the input: what came is printed, as a message that is cut.
        Exit code: 0 the message is whole, 1 it was cut or failed, 2 wrong use or trouble, 130 interrupted
    "#]]
    .assert_eq(&read.stdout);
}

#[test]
fn the_help_about_edits_fits_a_screen() {
    for command in ["apply", "undo", "log"] {
        let help = run(&[command, "--help"], "");
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
        assert!(help.stdout.lines().count() <= 50, "{command}");
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{}", help.stdout);
    }
    let apply = run(&["apply", "--help"], "");
    expect![[r#"
        Put a model's edits where they belong in files, or say why they cannot be

        Usage: reknit apply [OPTIONS] [ANSWER]

        Arguments:
          [ANSWER]  The model's answer; standard input if it is `-` or left out

        Options:
              --original <FILE>  Edit this file, whatever the answer calls it, and print its new content
              --root <DIR>       Edit the files below this directory [default: .]
              --format <FORMAT>  How the edits are written [default: auto]
              --loosest <RUNG>   The loosest rung of the ladder that is tried [default: distance]
              --keep-going       Apply what has a place, also if something else has none
              --dry-run          Print what would change as a unified diff, and write nothing
              --yes              Write without asking
              --streaming        The answer is unfinished: print as much of the new content as it tells
              --explain          Say of every edit where it landed and how, or what comes closest
              --json             Print what becomes of each edit as one JSON object
              --ndjson           The same with a line for each file, or for each change with `--streaming`
              --profile <NAME>   Apply the edits as Cline does, for comparison: cline-v1 or cline-v2
              --recut <SEED>     Feed the answer cut at pseudo-random bytes, or `bytes` for one at a time
          -h, --help             Print help

        Examples:
          reknit apply answer.md                       show what changes below this directory, ask, write
          reknit apply --dry-run answer.md             the changes as a unified diff
          reknit apply --root src --yes answer.md      write without asking
          reknit apply --original a.rs answer.md       the new content of one file
          reknit apply --original a.rs --streaming …   as much of it as an unfinished answer tells
          reknit apply --dry-run --json answer.md      what becomes of each edit, as one JSON object

        An edit that fits two places, or none, is an error, and then nothing is written or printed.
        Exit code: 0 all is done, 1 some edits have no place, 2 wrong use or trouble, 130 interrupted
    "#]]
    .assert_eq(&apply.stdout);
}

#[test]
fn the_help_about_chunks_fits_a_screen() {
    let help = run(&["chunks", "--help"], "");
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{}", help.stdout);
    expect![[r#"
        Fold the events of a session into what a person sees of it, live

        Usage: reknit chunks [OPTIONS] [FILE]

        Arguments:
          [FILE]  The events, one JSON object a line; standard input if it is `-` or left out

        Options:
              --json               Print the chunks as one JSON object
              --ndjson             Print what each event changed as it comes, one JSON object a line
              --realtime[=<NAME>]  Read an Agent C server's events, by the rules `documented` or `agent-c`
              --strict             Stop at the first line that is no event
              --recut <SEED>       Feed the input cut at pseudo-random bytes, or `bytes` for one at a time
          -h, --help               Print help

        Examples:
          reknit chunks events.ndjson                       text, calls and results, as they arrive
          reknit chunks --json events.ndjson                chunks as one JSON object
          reknit chunks --ndjson events.ndjson              what each event changed, a line of JSON each
          reknit read --events reply.sse | reknit chunks    the chunks of a reply
          reknit chunks --realtime --json server.ndjson     the sessions of a realtime server

        A line that is no event is told and skipped.
        Exit code: 0 every line is an event, 1 one is not, 2 wrong use or trouble, 130 interrupted
    "#]]
    .assert_eq(&help.stdout);
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = run(&["--version"], "");
    assert_eq!((version.code, version.stdout), (Some(0), format!("reknit {}\n", env!("CARGO_PKG_VERSION"))));
}
