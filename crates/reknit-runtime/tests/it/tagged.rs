//! Calls that a model writes into its text, through a session from end to end.

use reknit::agent::{AgentEvent, Body, EndReason};
use reknit_runtime::present::{Presenter, Shown};
use reknit_runtime::question::Answer;
use reknit_runtime::session::Audience;
use reknit_runtime::testing::Reply;
use reknit_runtime::tools;

use crate::world::{Watch, World, say_yes};

/// A session whose model writes calls in tags, with the tools that come with the crate.
fn world(replies: impl IntoIterator<Item = Reply>) -> World {
    let mut world = World::new(replies);
    world.tags = Some("roo");
    world
}

#[tokio::test]
async fn nested_closing_tags_do_not_end_a_file() {
    let file = "<foo>\n  </content>\n</foo>";
    let call = format!(
        "I write it.\n<write_to_file>\n<path>test.xml</path>\n<content>\n{file}\n</content>\n</write_to_file>"
    );
    let world = world([Reply::new().text(&call), Reply::new().text("Done.")]);
    let (session, mut watch) = world.open_with(world.builder().tools(tools::standard())).await;
    session.say("write").await;
    assert_eq!(say_yes(&session, &mut watch).await, EndReason::Done);
    let written = std::fs::read_to_string(world.folder.path().join("root/test.xml")).unwrap();
    assert_eq!(written.trim_end(), file);
}

/// What is asked about a reply.
async fn asked_about(world: World) -> Option<String> {
    let (session, mut watch) = world.open_with(world.builder().tools(tools::standard())).await;
    session.say("run").await;
    let (id, question) = watch.question().await;
    session.answer(id, Answer::no()).await;
    watch.end().await;
    question.detail
}

#[tokio::test]
async fn an_encoded_ampersand_is_decoded_in_tags_only() {
    let tagged = "<execute_command>\n<command>true &amp;&amp; echo 1</command>\n</execute_command>";
    let tagged = world([Reply::new().text(tagged), Reply::new().text("Then not.")]);
    assert_eq!(asked_about(tagged).await.as_deref(), Some("true && echo 1"));
    let native = Reply::new().call("a", "execute_command", r#"{"command": "echo '&amp;'"}"#);
    let native = World::new([native, Reply::new().text("Then not.")]);
    assert_eq!(asked_about(native).await.as_deref(), Some("echo '&amp;'"));
}

#[tokio::test]
async fn an_empty_search_is_refused_and_nobody_is_asked() {
    let diff = "<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE";
    let call = format!("<apply_diff>\n<path>a.txt</path>\n<diff>\n{diff}\n</diff>\n</apply_diff>");
    let world = world([Reply::new().text(&call), Reply::new().text("I see.")]);
    let builder = world.builder().tools(tools::standard());
    std::fs::write(world.folder.path().join("root/a.txt"), "old\n").unwrap();
    let (session, mut watch) = world.open_with(builder).await;
    session.say("edit").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let results = watch.results();
    assert!(results[0].contains("<error>") && results[0].contains("search"), "{results:?}");
    assert_eq!(std::fs::read_to_string(world.folder.path().join("root/a.txt")).unwrap(), "old\n");
}

#[tokio::test]
async fn a_file_in_tags_is_previewed_while_it_streams() {
    let call =
        "<write_to_file>\n<path>a.txt</path>\n<content>\none\n2, at last\n</content>\n</write_to_file>";
    let pieces: Vec<_> = (0..call.len()).step_by(7).map(|at| &call[at..call.len().min(at + 7)]).collect();
    let world = world([Reply::new().text_in_pieces(pieces), Reply::new().text("Done.")]);
    let builder = world.builder().tools(tools::standard()).audience(Audience::Nobody);
    let (session, mut watch) = world.open_with(builder).await;
    session.say("write").await;
    watch.end().await;
    let grown: Vec<_> = watch
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Agent(AgentEvent::EditPreview { path, delta, restarted: false, .. }) if path == "a.txt" => {
                Some(delta.as_str())
            }
            _ => None,
        })
        .collect();
    assert!(grown.len() > 1, "it is shown as it grows: {grown:?}");
    assert!("one\n2, at last\n".starts_with(&grown.concat()) && grown.concat().len() > 8, "{grown:?}");
}

/// Everything that a person sees of a log as text, after each entry.
fn texts(watch: &Watch) -> Vec<String> {
    let mut presenter = Presenter::new();
    let mut texts = Vec::new();
    let mut text = String::new();
    for entry in &watch.entries {
        presenter.push(entry);
        while let Some(shown) = presenter.next_shown() {
            if let Shown::Text(more) = shown {
                text += &more;
            }
        }
        texts.push(text.clone());
    }
    texts
}

#[tokio::test]
async fn half_a_tag_is_never_shown_and_text_around_a_call_is() {
    let reply = ["Before it. <", "list_", "files>\n<path>.", "</path>\n</list_files>", "\nAfter it: a < b"];
    let reply = Reply::new().text_in_pieces(reply);
    let world = world([reply, Reply::new().text("Done.")]);
    let (session, mut watch) = world.open_with(world.builder().tools(tools::standard())).await;
    session.say("list").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let calls =
        watch.entries.iter().filter(|entry| matches!(entry.body, Body::Agent(AgentEvent::ToolCall { .. })));
    assert_eq!(calls.count(), 1, "{:#?}", watch.entries);
    let texts = texts(&watch);
    assert!(texts.iter().all(|text| !text.contains("<l") && !text.contains("<path")), "{texts:?}");
    let last = texts.last().unwrap();
    assert!(last.starts_with("Before it.") && last.contains("After it: a < b"), "{last}");
}
