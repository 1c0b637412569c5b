//! What `--help` and `--version` print.

use expect_test::expect;

use crate::command::run;

#[test]
fn help_is_on_stdout_and_fits_a_screen() {
    let help = run(&["--help"], "");
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        Turn streaming LLM responses into complete messages, tool calls and file edits

        Usage: reknit <COMMAND>

        Commands:
          read     Turn a provider's stream into the message it contains, live
          replay   Play a recording at its own pace, to standard output or as a provider's server
          tools    Find the tool calls and thinking that a model writes into its text, live
          chunks   Turn the events of a session into what a person sees of it, live
          apply    Apply a model's edits to files, or explain why they cannot be applied
          undo     Undo what `apply` wrote, byte for byte
          log      List what `apply` and `undo` changed, newest first
          explain  Explain what an error or diagnostic means, why it happens, and what to do about it
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
        Turn a provider's stream into the message it contains, live

        Usage: reknit read [OPTIONS] [FILE]

        Arguments:
          [FILE]  Stream or recording; standard input if it is `-` or omitted

        Options:
              --from <DIALECT>  Dialect of the stream [default: auto]
              --as <FORM>       Print the neutral form, or native for the provider's own [default: neutral]
              --all             Print every message of the stream, as an array, instead of the last one
              --tools <NAME>    Find calls and thinking in the text, with a profile of `reknit tools`
              --json            Print the message as one JSON object
              --ndjson          Print every change as it arrives, one JSON object per line
              --events          Print the reply's agent events as they arrive, one JSON object per line
              --recut <SEED>    Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
              --record <FILE>   Record the input in a new file, with its cuts and times, for `replay`
          -h, --help            Print help

        Examples:
          curl -N … | reknit read                      the text, as it arrives
          curl -N … | reknit read --json               the whole message as one JSON object
          curl -N … | reknit read --ndjson             every change as a line of JSON
          curl -N … | reknit read --events             agent events for `reknit chunks`, as lines of JSON
          reknit read --as native --json reply.sse     the message in the provider's own form
          curl -N … | reknit read --record new.rec     record the stream, with its cuts and times
          reknit read new.rec                          read the recording again

        An interrupt (Ctrl-C) ends the input; what has arrived is printed as a message that is cut.
        Exit code: 0 the message is complete, 1 it failed, or it or a call in its text is cut,
        2 usage or other error, 130 interrupted
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
        Apply a model's edits to files, or explain why they cannot be applied

        Usage: reknit apply [OPTIONS] [ANSWER]

        Arguments:
          [ANSWER]  Answer, or a stream, recording or `read --json` of it; standard input if `-` or omitted

        Options:
              --original <FILE>  Edit this file, whatever the answer calls it, and print its new content
              --root <DIR>       Edit the files below this directory [default: .]
              --format <FORMAT>  Format of the edits [default: auto]
              --loosest <HOW>    Most that a place may differ in from the search text [default: context]
              --keep-going       Apply the edits that match, even if others do not
              --dry-run          Print what would change as a unified diff, and write nothing
              --yes              Write without asking for confirmation
              --journal <DIR>    Folder for the journal [default: in the state folder]
              --no-journal       Write without a journal: this cannot be undone
              --streaming        The answer is unfinished: print as much of the new content as is known
              --explain          Report where each edit was applied and how, or the closest place
              --json             Print the outcome of each edit as one JSON object
              --ndjson           Print one JSON object per file, or per change with `--streaming`
              --profile <NAME>   Apply the edits as Cline does, for comparison: cline-v1 or cline-v2
              --recut <SEED>     Feed the answer cut at pseudo-random bytes, or `bytes` for single bytes
          -h, --help             Print help

        Examples:
          reknit apply answer.md                       show the changes below this directory, ask, write
          reknit apply --dry-run answer.md             the changes as a unified diff
          reknit apply --root src --yes answer.md      write without asking
          reknit apply --original a.rs answer.md       the new content of one file
          reknit apply --original a.rs --streaming …   as much of it as an unfinished answer contains
          reknit apply --dry-run --json answer.md      the outcome of each edit, as one JSON object
          reknit read reply.sse --json | reknit apply  the edits in the text and in the calls of a reply

        An edit that matches two places, or none, is an error, and nothing is written or printed.
        Exit code: 0 all edits were applied, 1 some were not, or the report could not be printed,
        2 usage or other error, 128 plus the number of a signal that came before anything was written
    "#]]
    .assert_eq(&apply.stdout);
}

#[test]
fn the_help_about_chunks_fits_a_screen() {
    let help = run(&["chunks", "--help"], "");
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{}", help.stdout);
    expect![[r#"
        Turn the events of a session into what a person sees of it, live

        Usage: reknit chunks [OPTIONS] [FILE]

        Arguments:
          [FILE]  Events, one JSON object per line; standard input if it is `-` or omitted

        Options:
              --json               Print the chunks as one JSON object
              --ndjson             Print what each event changed as it arrives, one JSON object per line
              --realtime[=<NAME>]  Read an Agent C server's events, by the rules `documented` or `agent-c`
              --strict             Stop at the first line that is not an event
              --recut <SEED>       Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
          -h, --help               Print help

        Examples:
          reknit chunks events.ndjson                       text, calls and results, as they arrive
          reknit chunks --json events.ndjson                chunks as one JSON object
          reknit chunks --ndjson events.ndjson              what each event changed, as lines of JSON
          reknit read --events reply.sse | reknit chunks    the chunks of a reply
          reknit chunks --realtime --json server.ndjson     the sessions of a realtime server

        Lines that are not events are reported and skipped.
        Exit code: 0 every line is an event, 1 some are not, 2 usage or other error, 130 interrupted
    "#]]
    .assert_eq(&help.stdout);
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = run(&["--version"], "");
    assert_eq!((version.code, version.stdout), (Some(0), format!("reknit {}\n", env!("CARGO_PKG_VERSION"))));
}
