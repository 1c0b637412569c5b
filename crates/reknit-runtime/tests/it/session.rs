//! Sessions from end to end, with a script instead of a model.

use reknit::agent::{AgentEvent, Body, EndReason, Entry};
use reknit_runtime::provider::{Error, ErrorKind};
use reknit_runtime::question::Answer;
use reknit_runtime::session::{Audience, Timeouts, root_of};
use reknit_runtime::store::{Cursor, Error as StoreError};
use reknit_runtime::testing::Reply;

use crate::world::{World, say_yes};

#[tokio::test]
async fn a_turn_runs_its_calls_and_sends_their_results() {
    let world = World::new([
        Reply::new().text("I look.").call("a", "read", r#"{"what": "this"}"#),
        Reply::new().text("Done."),
    ]);
    let (session, mut watch) = world.open().await;
    session.say("look").await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert_eq!(watch.results(), ["a: [read] Result:\ndid this"]);
    let requests = world.script.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].tools.len(), 8);
    let last = requests[1].messages.last().unwrap().to_string();
    assert!(last.contains("tool_result") && last.contains("did this"), "{last}");
}

#[tokio::test]
async fn a_call_that_writes_asks_first_and_its_approval_is_in_the_log() {
    let mut world = World::new([
        Reply::new().call("a", "write", r#"{"what": "x"}"#).call("b", "write", r#"{"what": "y"}"#),
        Reply::new().text("Done."),
    ]);
    let (session, mut watch) = world.open().await;
    session.say("write").await;
    let (id, question) = watch.question().await;
    assert_eq!((&*question.description, &*question.call_id), ("[write]", "a"));
    assert!(world.did.try_recv().is_err(), "nothing runs before the answer");
    session.answer(id, Answer::yes().with_words("mind the gap")).await;
    let (id, question) = watch.question().await;
    assert_eq!(question.call_id, "b");
    session.answer(id, Answer::no()).await;
    assert_eq!(watch.end().await, EndReason::Done);
    let results = watch.results();
    assert!(
        results[0].contains("<feedback>\nmind the gap\n</feedback>\n[write] Result:\ndid x"),
        "{results:?}"
    );
    assert_eq!(results[1], "b: The user denied this operation.");
    assert_eq!(world.did.recv().await.unwrap(), "write a");
    assert!(world.did.try_recv().is_err(), "what was denied did not run");
    let decisions = watch.entries.iter().filter(|entry| matches!(entry.body, Body::Decision { .. }));
    assert_eq!(decisions.count(), 2);
}

#[tokio::test]
async fn nobody_to_ask_means_denied() {
    let world = World::new([Reply::new().call("a", "write", "{}"), Reply::new().text("Then not.")]);
    let (session, mut watch) = world.open_with(world.builder().audience(Audience::Nobody)).await;
    session.say("write").await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert!(watch.results()[0].contains("Nobody can be asked"), "{:?}", watch.results());
}

#[tokio::test]
async fn failures_and_panics_of_tools_are_answers() {
    let world = World::new([
        Reply::new().call("a", "fail", "{}").call("b", "panic", "{}").call("c", "nothing", "{}"),
        Reply::new().text("Oh."),
    ]);
    let (session, mut watch) = world.open().await;
    session.say("try").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let results = watch.results();
    assert!(results[0].contains("<error>\nno luck\n</error>"), "{results:?}");
    assert!(results[1].contains("The tool crashed"), "{results:?}");
    assert!(results[2].contains("Unknown tool \"nothing\""), "{results:?}");
}

#[tokio::test]
async fn a_cancel_stops_tools_and_the_session_goes_on() {
    let world = World::new([
        Reply::new().call("a", "hold", "{}").call("b", "write", "{}"),
        Reply::new().text("Hello again."),
    ]);
    let (session, mut watch) = world.open().await;
    session.say("hold").await;
    watch.started("a").await;
    session.say("and then?").await;
    session.cancel().await;
    assert_eq!(watch.end().await, EndReason::Cancelled);
    assert_eq!(
        watch.results(),
        ["a: Tool [hold] was cancelled by the user.", "b: Tool [write] was cancelled by the user."]
    );
    // What was typed meanwhile starts the next turn.
    assert_eq!(watch.end().await, EndReason::Done);
}

#[tokio::test]
async fn a_tool_that_ignores_a_cancel_is_abandoned() {
    let world = World::new([Reply::new().call("a", "deaf", "{}")]);
    let mut timeouts = Timeouts::default();
    timeouts.grace = std::time::Duration::from_millis(1);
    let (session, mut watch) = world.open_with(world.builder().timeouts(timeouts)).await;
    session.say("hold").await;
    watch.started("a").await;
    session.cancel().await;
    assert_eq!(watch.end().await, EndReason::Cancelled);
    assert_eq!(watch.results(), ["a: Tool [deaf] was cancelled by the user."]);
}

#[tokio::test]
async fn a_cancel_while_a_question_is_open_denies_nothing() {
    let world = World::new([Reply::new().call("a", "write", "{}")]);
    let (session, mut watch) = world.open().await;
    session.say("write").await;
    let (id, _) = watch.question().await;
    session.cancel().await;
    assert_eq!(watch.end().await, EndReason::Cancelled);
    assert_eq!(watch.results(), ["a: Tool [write] was cancelled by the user."]);
    assert!(!watch.entries.iter().any(|entry| matches!(entry.body, Body::Decision { .. })));
    session.answer(id, Answer::yes()).await;
    assert!(watch.results().len() == 1, "a late answer changes nothing");
}

#[tokio::test]
async fn a_call_starts_while_the_reply_goes_on() {
    let (reply, allow) = Reply::new().call("a", "read", "{}").text("and more").step_by_step();
    let mut world = World::new([reply, Reply::new().text("Done.")]);
    let (session, mut watch) = world.open().await;
    session.say("read").await;
    // The start of the message, and the three events of the call.
    for _ in 0..4 {
        allow.send(()).await.unwrap();
    }
    assert_eq!(world.did.recv().await.unwrap(), "read a");
    drop(allow);
    assert_eq!(watch.end().await, EndReason::Done);
}

#[tokio::test]
async fn a_reply_that_breaks_off_keeps_its_results_and_the_next_request_follows_from_it() {
    let world = World::new([
        Reply::new().text("First.").call("a", "read", "{}").cut_call("b", "write", r#"{"what": "ha"#),
        Reply::new().text("Where was I?"),
    ]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let results = watch.results();
    assert_eq!(results[0], "a: [read] Result:\ndid ");
    assert!(results[1].starts_with("b: "), "{results:?}");
    assert_eq!(results.len(), 2);
    assert_eq!(world.script.requests().len(), 2);
}

#[tokio::test]
async fn a_reply_that_breaks_off_in_its_text_ends_the_turn() {
    let world = World::new([Reply::new().text("I was about to").breaks(), Reply::new().text("Here.")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Failed);
    session.say("again").await;
    assert_eq!(watch.end().await, EndReason::Done);
}

#[tokio::test(start_paused = true)]
async fn a_request_is_sent_again_only_while_nothing_was_shown() {
    let busy = || Reply::new().refused(Error::connection("busy"));
    let world = World::new([busy(), busy(), Reply::new().text("At last.")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert_eq!(world.script.requests().len(), 3);
    let notices = watch.entries.iter().filter(|entry| matches!(&entry.body, Body::Agent(AgentEvent::Notice { message }) if message.contains("busy")));
    assert_eq!(notices.count(), 2);
    let requests = watch.entries.iter().filter(|entry| matches!(entry.body, Body::Request { .. }));
    assert_eq!(requests.count(), 1, "it is the same request");
}

#[tokio::test(start_paused = true)]
async fn a_provider_says_how_long_to_wait() {
    let busy = |seconds| {
        let mut error = Error::new(ErrorKind::RateLimited, "busy");
        error.retry_after = Some(std::time::Duration::from_secs(seconds));
        Reply::new().refused(error)
    };
    let world = World::new([busy(70), busy(0), Reply::new().text("At last."), busy(121)]);
    let (session, mut watch) = world.open().await;
    let start = tokio::time::Instant::now();
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Done);
    // The clock is that of the test: it moves only when everybody waits for it.
    assert_eq!(start.elapsed().as_secs(), 70);
    // Nobody wants to wait that long without knowing why.
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Failed);
    assert_eq!((start.elapsed().as_secs(), world.script.requests().len()), (70, 4));
}

#[tokio::test]
async fn a_refused_request_is_not_sent_again() {
    let world = World::new([Reply::new().refused(Error::refused("no such model"))]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Failed);
    assert_eq!(world.script.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_provider_is_given_up() {
    let (reply, _allow) = Reply::new().text("never").step_by_step();
    let silent = (0..4).map(|_| Reply::new().refused(Error::connection("busy")));
    let world = World::new([reply].into_iter().chain(silent));
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Failed);
}

#[tokio::test]
async fn a_completion_ends_the_task() {
    let world = World::new([Reply::new().call("a", "finish", "{}")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert_eq!(watch.results(), ["a: [finish] Result:\nfinished"]);
}

#[tokio::test]
async fn the_number_of_requests_is_limited() {
    let replies = (0..9).map(|number| Reply::new().call(&format!("c{number}"), "read", "{}"));
    let world = World::new(replies);
    let (session, mut watch) = world.open_with(world.builder().max_requests(3)).await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Interrupted);
    assert_eq!(world.script.requests().len(), 3);
}

#[tokio::test]
async fn after_three_mistakes_the_user_is_asked() {
    let wrong = |id: &str| Reply::new().call(id, "nothing", "{}");
    let world = World::new([wrong("a"), wrong("b"), wrong("c"), Reply::new().text("Thanks.")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    let (id, question) = watch.question().await;
    assert!(question.description.contains("3 mistakes in a row"), "{}", question.description);
    session.answer(id, Answer::yes().with_words("use `read`")).await;
    assert_eq!(watch.end().await, EndReason::Done);
    let last = world.script.requests().pop().unwrap().messages.pop().unwrap().to_string();
    assert!(last.contains("use `read`"), "{last}");
}

#[tokio::test]
async fn a_tool_that_the_mode_does_not_allow_is_not_run() {
    let mut world = World::new([Reply::new().call("a", "write", "{}"), Reply::new().text("Then not.")]);
    let (session, mut watch) = world.open_with(world.builder().mode("plan", ["read"])).await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert!(watch.results()[0].contains("Tool \"write\" is not allowed in plan mode."));
    assert!(world.did.try_recv().is_err());
    assert_eq!(world.script.requests()[0].tools.len(), 1, "the model is not offered it");
}

#[tokio::test]
async fn a_session_that_is_opened_elsewhere_stops_here_and_ends_its_tools() {
    let mut world = World::new([Reply::new().call("a", "hold", "{}"), Reply::new().text("Resumed.")]);
    let (session, mut watch) = world.open().await;
    session.say("hold").await;
    watch.started("a").await;
    let (_second, mut second_watch) = world.open().await;
    assert_eq!(second_watch.end().await, EndReason::Done);
    assert_eq!(second_watch.results(), ["a: Task was interrupted before this tool call could be completed."]);
    // The first one notices at its next append.
    session.cancel().await;
    while !session.is_over() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.did.recv().await.unwrap(), "hold a");
}

#[tokio::test]
async fn a_resumed_session_asks_its_open_question_again() {
    let mut world = World::new([Reply::new().call("a", "write", "{}"), Reply::new().text("Done.")]);
    let (session, mut watch) = world.open().await;
    session.say("write").await;
    watch.question().await;
    drop(session);
    let (session, mut watch) = world.open().await;
    assert_eq!(say_yes(&session, &mut watch).await, EndReason::Done);
    assert_eq!(world.did.recv().await.unwrap(), "write a");
    assert!(world.did.try_recv().is_err(), "it ran once");
}

#[tokio::test]
async fn a_reader_resumes_from_its_position() {
    let world = World::new([Reply::new().text("One.")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    watch.end().await;
    let lease = world.store.lease("s").await.unwrap();
    let last = watch.entries.len() as u64;
    let (mut tail, _) = session.subscribe(Cursor { epoch: lease.epoch - 1, seq: last - 1 }).await.unwrap();
    assert_eq!(tail.next().await.unwrap().len(), 1);
    let fenced = world.store.append("s", lease.epoch - 1, last, Vec::new()).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })));
}

#[tokio::test]
async fn what_a_call_reports_is_in_the_log_before_its_result() {
    let world = World::new([Reply::new().call("a", "speak", "{}"), Reply::new().text("I heard.")]);
    let (session, mut watch) = world.open().await;
    session.say("speak").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let mut said = String::new();
    for entry in &watch.entries {
        match &entry.body {
            Body::Agent(AgentEvent::ShellOutput { data, .. }) => said += data,
            Body::Agent(AgentEvent::ToolResult { .. }) => said += " result",
            _ => {}
        }
    }
    assert_eq!(said, "onetwothree result");
}

#[tokio::test]
async fn a_reply_that_is_not_wanted_any_more_has_not_failed() {
    let (reply, gate) = Reply::new().call("a", "write", "{}").text("unheard").step_by_step();
    let world = World::new([reply, Reply::new().text("Then not.")]);
    let (session, mut watch) = world.open().await;
    session.say("write").await;
    for _ in 0..4 {
        gate.send(()).await.unwrap();
    }
    let (id, _) = watch.question().await;
    session.answer(id, Answer::no()).await;
    assert_eq!(watch.end().await, EndReason::Done);
    let errors =
        watch.entries.iter().filter(|entry| matches!(entry.body, Body::Agent(AgentEvent::Error { .. })));
    assert_eq!(errors.count(), 0, "{:#?}", watch.entries);
}

#[tokio::test]
async fn an_error_of_the_connection_is_the_only_one() {
    let world = World::new([Reply::new().text("I be").breaks()]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    assert_eq!(watch.end().await, EndReason::Failed);
    let errors = watch.entries.iter().filter_map(|entry| match &entry.body {
        Body::Agent(AgentEvent::Error { error, .. }) => Some(error.as_str()),
        _ => None,
    });
    assert_eq!(errors.collect::<Vec<_>>(), ["the connection was closed"]);
}

#[tokio::test]
async fn what_the_user_says_is_logged_with_the_root() {
    let world = World::new([Reply::new().text("Yes.")]);
    let (session, mut watch) = world.open().await;
    session.say("here").await;
    watch.end().await;
    let roots: Vec<_> = watch.entries.iter().filter_map(root_of).collect();
    assert_eq!(roots, [world.folder.path().join("root").canonicalize().unwrap()]);
}

#[tokio::test]
async fn a_mode_is_logged_when_it_changes() {
    let world = World::new([Reply::new().text("1"), Reply::new().text("2"), Reply::new().text("3")]);
    let mut modes = Vec::new();
    for (turns, mode) in (1..).zip(["plan", "plan", "code"]) {
        let (session, mut watch) = world.open_with(world.builder().mode(mode, ["read"])).await;
        session.say("go").await;
        for _ in 0..turns {
            watch.end().await;
        }
        modes = watch
            .entries
            .iter()
            .filter_map(|entry| match &entry.body {
                Body::Mode { mode } => Some(mode.clone()),
                _ => None,
            })
            .collect();
    }
    assert_eq!(modes, ["plan", "code"]);
}

/// The new text of every `edit-preview` event, with a mark where a call is complete.
fn previews(entries: &[Entry]) -> Vec<String> {
    let shown = entries.iter().filter_map(|entry| match &entry.body {
        Body::Agent(AgentEvent::EditPreview { path, delta, restarted, .. }) => {
            assert_eq!((&**path, *restarted), ("a.txt", false));
            Some(delta.clone())
        }
        Body::Agent(AgentEvent::ToolCall { tool_call }) => Some(format!("({})", tool_call.id)),
        _ => None,
    });
    shown.collect()
}

#[tokio::test]
async fn an_edit_is_previewed_while_its_argument_streams() {
    let diff = r"<<<<<<< SEARCH\ntwo\n=======\n2, at last\n2.5\n>>>>>>> REPLACE\n";
    let inside = format!(r#"{{"path": "a.txt", "diff": "{diff}"}}"#);
    let pieces = (0..inside.len()).step_by(9).map(|at| &inside[at..inside.len().min(at + 9)]);
    let outside = inside.replace("a.txt", "../a.txt");
    let reply =
        Reply::new().call("outside", "apply_diff", &outside).call_in_pieces("inside", "apply_diff", pieces);
    let world = World::new([reply]);
    let builder = world.builder().tools(reknit_runtime::tools::standard());
    std::fs::write(world.folder.path().join("root/a.txt"), "one\ntwo\nthree\n").unwrap();
    let (session, mut watch) = world.open_with(builder.audience(Audience::Nobody)).await;
    session.say("edit").await;
    watch.end().await;
    let shown = previews(&watch.entries);
    // What is outside the root is not read, so there is nothing to show of it.
    assert_eq!(shown.first().map(String::as_str), Some("(outside)"), "{shown:?}");
    assert_eq!(shown.last().map(String::as_str), Some("(inside)"), "{shown:?}");
    let grown = &shown[1..shown.len() - 1];
    assert!(grown.len() > 2, "it is shown as it grows: {grown:?}");
    // The rest of the file is not known yet: another block may change it.
    assert_eq!(grown.concat(), "one\n2, at last\n2.5\n");
}

#[tokio::test]
async fn a_reply_that_was_interrupted_is_asked_for_again() {
    let (reply, gate) = Reply::new().text("Half of it").text("unheard").step_by_step();
    let world = World::new([reply, Reply::new().text("All of it.")]);
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    for _ in 0..4 {
        gate.send(()).await.unwrap();
    }
    let text = |entry: &Entry| match &entry.body {
        Body::Agent(AgentEvent::TextDelta { delta }) => Some(delta.clone()),
        _ => None,
    };
    assert_eq!(watch.until(text).await, "Half of it");
    drop(session);
    let (_session, mut watch) = world.open().await;
    assert_eq!(watch.end().await, EndReason::Done);
    assert_eq!(watch.entries.iter().filter_map(text).collect::<Vec<_>>(), ["Half of it", "All of it."]);
}

#[tokio::test]
async fn a_session_that_is_opened_elsewhere_says_so() {
    let world = World::new([]);
    let (older, _) = world.open().await;
    let (_newer, _) = world.open().await;
    older.say("still here?").await;
    assert_eq!(older.failed().await, StoreError::Fenced { session: "s".into() });
}
