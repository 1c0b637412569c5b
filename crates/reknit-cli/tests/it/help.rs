//! What `--help` and `--version` print.

use expect_test::expect;

use crate::command::run;

#[test]
fn help_is_on_stdout_and_fits_a_screen() {
    let help = run(&["--help"], "");
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        Turn streaming LLM responses into complete messages, tool calls and file edits

        Usage: reknit [OPTIONS] <COMMAND>

        Commands:
          run          Work on a task with a model that edits files and runs commands, after asking
          sessions     List, show and delete the sessions of `run`
          models       List the models that `run` can use, and which keys are missing
          doctor       Check the set-up of `run`: keys, addresses, files, and what to do about them
          read         Turn a provider's stream into the message it contains, live
          replay       Play a recording at its own pace, to standard output or as a provider's server
          tools        Find the tool calls and thinking that a model writes into its text, live
          chunks       Turn the events of a session into what a person sees of it, live
          apply        Apply a model's edits to files, or explain why they cannot be applied
          undo         Undo what `apply` and `run` wrote, byte for byte
          log          List what `apply`, `run` and `undo` changed, newest first
          explain      Explain what an error or diagnostic means, why it happens, and what to do about it
          completions  Print the completions of commands, options and names for a shell
          man          Write the manual pages of all commands into a folder
          help         Print this message or the help of the given subcommand(s)

        Options:
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]
          -q, --quiet         Print errors only: no warnings, notes, progress or summary
          -h, --help          Print help
          -V, --version       Print version
    "#]]
    .assert_eq(&help.stdout);

    let read = run(&["read", "--help"], "");
    assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""));
    assert!(read.stdout.lines().count() <= 50);
    assert!(read.stdout.lines().all(|line| line.chars().count() <= 100));
    expect![[r#"
        Turn a provider's stream into the message it contains, live

        Usage: reknit read [OPTIONS] [FILE]...

        Arguments:
          [FILE]...  Streams or recordings, or folders of *.sse and *.rec; standard input if `-` or omitted

        Options:
              --from <DIALECT>   Dialect of the stream [default: auto] [possible values: auto, anthropic,
                                 openai-responses, gemini, gemini-interactions, bedrock-converse, cohere,
                                 ollama, agent-c, openai-chat]
              --as <FORM>        Print the neutral form, or the provider's own [default: neutral] [possible
                                 values: neutral, native]
              --all              Print every message of the stream, as an array, instead of the last one
              --tools <PROFILE>  Find calls and thinking in the text; `auto` reads the whole reply first
                                 [possible values: auto, anthropic, cline, cline-v2, deepseek-r1,
                                 deepseek-v3, deepseek-v3-1, deepseek-v3-2, deepseek-v4, gemma4, glm47,
                                 gpt-oss, granite, harmony, hermes, jamba, kimi, kimi-k2, kimi-k25,
                                 llama3-json, minimax-append-think, minimax-m2, minimax-m2-thinking,
                                 mistral, nemotron-deci, nemotron-nano, none, phi4, pythonic, qwen25, qwen3,
                                 qwen3-coder, qwen3-thinking, roo, roo-v1]
              --text             Print only the text of the reply
              --json             Print the message as one JSON object
              --ndjson           Print every change as it arrives, one JSON object per line
              --events           Print the reply's agent events as they arrive, one JSON object per line
              --recut <SEED>     Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
              --record <FILE>    Record the input in a new file, with its cuts and times, for `replay`
          -j, --jobs <N>         Read so many files at the same time [default: the number of processors]
              --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
          -q, --quiet            Print errors only: no warnings, notes, progress or summary
          -h, --help             Print help

        Examples:
          curl -N … | reknit read                      the reply, as it arrives
          curl -N … | reknit read --text               its text, and nothing else
          curl -N … | reknit read --json               the whole message as one JSON object
          curl -N … | reknit read --ndjson             every change as a line of JSON
          curl -N … | reknit read --record new.rec     record the stream, with its cuts and times
          reknit read --as native --json reply.sse     the message in the provider's own form
          reknit read recordings/                      how each of many replies ended, and a summary
          reknit read --json a.sse b.sse               a line with `path` and `message` for each file

        Ctrl-C or SIGTERM ends the input; what has arrived is printed as a message that is cut.
        Exit code: 0 the message is complete, 1 it failed, or it or a call in its text is cut,
        2 usage or other error, 130 or 143 ended by a signal; of several files, the worst of 0, 1 and 2
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
              --format <FORMAT>  Format of the edits [default: auto] [possible values: auto, search-replace,
                                 udiff, apply-patch, whole, str-replace, roo-args]
              --loosest <HOW>    Most that a place may differ in from the search text [default: context]
                                 [possible values: exact, line-ends, trailing-whitespace, look-alikes,
                                 indentation, blank-lines, line-breaks, context]
              --keep-going       Apply the edits that match, even if others do not
              --dry-run          Print what would change as a unified diff, and write nothing
              --yes              Write without asking for confirmation
              --journal <DIR>    Folder of the journal [default: `$XDG_STATE_HOME/reknit/journal`]
              --no-journal       Write without a journal: this cannot be undone
              --streaming        The answer is unfinished: print as much of the new content as is known
              --explain          Report where each edit was applied and how, or the closest place
              --json             Print the outcome of each edit as one JSON object
              --ndjson           Print one JSON object per file, or per change with `--streaming`
              --profile <NAME>   Apply the edits as Cline does, for comparison [possible values: cline-v1,
                                 cline-v2]
              --recut <SEED>     Feed the answer cut at pseudo-random bytes, or `bytes` for single bytes
              --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
          -q, --quiet            Print errors only: no warnings, notes, progress or summary
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
              --realtime[=<NAME>]  Read an Agent C server's events, by the rules as documented or of its
                                   client [possible values: documented, agent-c]
              --strict             Stop at the first line that is not an event
              --recut <SEED>       Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
              --color <WHEN>       When to use colours [default: auto] [possible values: auto, always,
                                   never]
          -q, --quiet              Print errors only: no warnings, notes, progress or summary
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
fn the_version_says_what_was_built() {
    let short = run(&["-V"], "");
    assert_eq!((short.code, short.stdout), (Some(0), format!("reknit {}\n", env!("CARGO_PKG_VERSION"))));
    let long = run(&["--version"], "");
    let lines: Vec<_> = long.stdout.lines().collect();
    let [first, features, target] = lines[..] else { panic!("{}", long.stdout) };
    let commit =
        first.strip_prefix(concat!("reknit ", env!("CARGO_PKG_VERSION"), " (")).expect("it is named first");
    let commit = commit.strip_suffix(')').expect("the commit is in parentheses");
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_commit || commit == "unknown commit", "{commit}");
    assert_eq!(features, "features: gzip, zlib, zstd");
    assert!(target.starts_with("target: ") && target.contains(std::env::consts::ARCH), "{target}");
}
