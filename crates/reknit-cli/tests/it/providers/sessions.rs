//! Whole sessions, in every dialect.

use super::*;

const DIALECTS: [Dialect; 5] =
    [Dialect::Anthropic, Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Gemini, Dialect::Ollama];

/// What the model says in a session, with its calls as calls of their own.
fn native() -> [Say; 7] {
    let write =
        |id: &str, what: &str| (id.to_owned(), format!(r#"{{"path":"list.txt","content":"{what}\n"}}"#));
    let (denied, allowed) = (write("call2", "eggs"), write("call4", "bread"));
    [
        Say::text("I read the notes.").thinking("What do they say?", "seal-A").call(
            "call1",
            "read_file",
            r#"{"path":"notes.txt"}"#,
        ),
        Say::text("I write a list.").thinking("Eggs, then.", "seal-B").call(
            &denied.0,
            "write_to_file",
            &denied.1,
        ),
        Say::text("Then not."),
        Say::text("I see what is set.").thinking("The environment.", "seal-C").call(
            "call3",
            "execute_command",
            r#"{"command":"env"}"#,
        ),
        Say::text("I write it now.").thinking("Bread.", "seal-D").call(
            &allowed.0,
            "write_to_file",
            &allowed.1,
        ),
        Say::text("The list has bread on it."),
        Say::text("You are welcome."),
    ]
}

/// The same from a model that writes its calls into its text.
fn tagged() -> [Say; 7] {
    let write = |what: &str| {
        format!(
            "I write.\n<write_to_file>\n<path>list.txt</path>\n<content>\n{what}\n</content>\n</write_to_file>"
        )
    };
    [
        Say::text("I read the notes.\n<read_file>\n<path>notes.txt</path>\n</read_file>"),
        Say::text(&write("eggs")),
        Say::text("Then not."),
        Say::text("I see what is set.\n<execute_command>\n<command>env</command>\n</execute_command>"),
        Say::text(&write("bread")),
        Say::text("The list has bread on it."),
        Say::text("You are welcome."),
    ]
}

/// Two turns with tools, a denial, a kill at a question, a resume, and another turn.
fn play(dialect: Dialect, says: &[Say], more: &str) {
    let server = Server::start(dialect, says.iter().map(|say| Answer::reply(dialect, say)));
    let home = Home::with_model(&server, dialect, more);
    let what = || format!("{dialect}: {:?}", server.refusals());

    let first = home.run(&["run", "Write a list."], "n\n");
    assert_eq!(first.code, Some(0), "{} {first:?}", what());
    assert!(first.stdout.contains("I read the notes.") && first.stdout.contains("milk"), "{}", first.stdout);
    assert!(first.stdout.trim_end().ends_with("Then not."), "{} {}", what(), first.stdout);
    assert_eq!(home.file("list.txt"), None, "it was denied");
    assert!(first.stderr.contains("\ntokens so far:     "), "{} {}", what(), first.stderr);

    let id = home.session();
    home.kill_at(&["run", "--resume", &id, "Do it."], "y\n", "Write this?");
    assert_eq!(server.requests().len(), 5, "{}", what());
    let resumed = home.run(&["run", "--resume", &id], "y\n");
    assert_eq!(resumed.code, Some(0), "{} {resumed:?}", what());
    assert!(
        resumed.stdout.trim_end().ends_with("The list has bread on it."),
        "{} {}",
        what(),
        resumed.stdout
    );
    let written = home.file("list.txt").unwrap_or_default();
    // In tags, the line end belongs to the tag.
    assert_eq!(written.trim_end(), "bread", "{}", what());
    let last = home.run(&["run", "--resume", &id, "Thanks."], "");
    assert_eq!(last.code, Some(0), "{} {last:?}", what());

    // Each request was as the provider wants it, and none was sent twice.
    assert_eq!((server.requests().len(), server.refusals().len()), (7, 0), "{}", what());
    let body = server.requests()[6].body.to_string();
    assert!(body.contains("denied"), "{} {body}", what());
    let seals = ["seal-A", "seal-B", "seal-C", "seal-D"];
    match dialect {
        _ if !more.is_empty() => {}
        Dialect::OpenAiChat | Dialect::Ollama => assert!(body.contains("What do they say?"), "{body}"),
        _ => assert!(seals.iter().all(|seal| body.contains(seal)), "{} {body}", what()),
    }

    // The command has printed its environment, and the key is nowhere.
    assert!(body.contains("XDG_CONFIG_HOME"), "{} {body}", what());
    assert!(!body.contains(KEY), "{}", what());
    for run in [&first, &resumed, &last] {
        assert!(!run.stdout.contains(KEY) && !run.stderr.contains(KEY), "{} {run:?}", what());
    }
    let log = home.run(&["sessions", "show", &id, "--ndjson"], "");
    assert!(log.stdout.contains("XDG_CONFIG_HOME") && !log.stdout.contains(KEY), "{}", what());
    assert!(!contains(&all_bytes(home.folder.path()), KEY), "{}", what());
}

#[test]
fn a_whole_session_in_every_dialect() {
    for dialect in DIALECTS {
        play(dialect, &native(), "");
    }
}

#[test]
fn a_whole_session_with_calls_in_tags() {
    play(Dialect::OpenAiChat, &tagged(), "tags = \"roo\"");
}

#[test]
fn a_recording_replays_to_the_same_screen_and_has_no_key() {
    let says = native();
    let mut answers: Vec<Answer> =
        says[..3].iter().map(|say| Answer::reply(Dialect::Anthropic, say)).collect();
    answers.insert(0, Answer::faulty(Dialect::Anthropic, &says[0], Fault::RateLimitWithTime));
    let server = Server::start(Dialect::Anthropic, answers);
    let home = Home::with_model(&server, Dialect::Anthropic, "");
    let recorded = home.run(&["run", "Write a list.", "--record", "../session.rec"], "n\n");
    assert_eq!(recorded.code, Some(0), "{recorded:?} {:?}", server.refusals());
    assert!(recorded.stdout.contains("note: the request is sent again in 0 ms: "), "{}", recorded.stdout);
    let text = fs::read_to_string(home.path("session.rec")).expect("it was written");
    assert!(!text.contains(KEY) && text.contains("Write a list."), "{text}");
    // Every exchange is in it: one that failed, and three replies.
    assert_eq!(text.matches("\"reknit\":\"recording\"").count(), 4);

    let other = Home::new();
    fs::copy(home.path("session.rec"), other.path("session.rec")).expect("it can be copied");
    let replayed = other.run(&["run", "Write a list.", "--replay", "../session.rec"], "n\n");
    assert_eq!((replayed.code, &replayed.stdout), (Some(0), &recorded.stdout), "{}", replayed.stderr);
    // The stages read it too: all replies of the session, one after the other.
    let read = other.run(&["read", "--all", "--json", "../session.rec"], "");
    let messages: Value = serde_json::from_str(&read.stdout).expect("it is JSON");
    assert_eq!(messages.as_array().map(Vec::len), Some(3), "{}", read.stderr);

    let again = home.run(&["run", "More.", "--record", "../session.rec"], "");
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    let nowhere = home.run(&["run", "More.", "--record", "../missing/session.rec"], "");
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.stderr.contains("its folder does not exist"), "{}", nowhere.stderr);
}

#[test]
fn an_error_of_the_provider_says_what_to_do() {
    let server = Server::start(Dialect::OpenAiChat, []);
    let mut home = Home::with_model(&server, Dialect::OpenAiChat, "");
    home.variables[0].1 = "sk-this-key-is-wrong".to_owned();
    let run = home.run(&["run", "Hello."], "");
    assert_eq!(run.code, Some(1), "{run:?}");
    let error = "error: invalid_request_error: the key `Bearer [removed]` is not valid (HTTP 401, request req_strict_1)";
    assert!(run.stdout.contains(error), "{}", run.stdout);
    let hint = "hint: check the key: `reknit models` shows which variable it comes from\nsee: `reknit explain provider`";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
    assert!(!contains(&all_bytes(home.folder.path()), "sk-this-key-is-wrong"));
}
