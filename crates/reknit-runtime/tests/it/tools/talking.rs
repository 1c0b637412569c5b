//! `attempt_completion` and `ask_followup_question`.

use reknit::agent::Content;
use reknit_runtime::question::{Answer, Class};

use super::Project;

#[tokio::test]
async fn a_completion_ends_the_task() {
    let project = Project::new(&[]);
    let output = project.call("attempt_completion", r#"{"result": "All done."}"#).await.unwrap();
    assert!(output.completes);
    assert!(
        project.mistake("attempt_completion", r#"{"result": " "}"#).await.starts_with("The result is empty.")
    );
    let words = project.mistake("attempt_completion", "{}").await;
    assert_eq!(words, "Missing value for required parameter 'result'. Please retry with complete response.");
}

#[tokio::test]
async fn a_question_is_asked_with_its_suggestions() {
    let image = Content::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    let answer = Answer::yes().with_words("Python").with_images(vec![image.clone()]);
    let project = Project::answering(&[], [answer, Answer::yes()]);
    let args =
        r#"{"question": "Which language?", "follow_up": [{"text": "Rust", "mode": "code"}, {"text": "Go"}]}"#;
    let output = project.call("ask_followup_question", args).await.unwrap();
    assert_eq!(output.content.last(), Some(&image));
    assert_eq!(output.plain_text(), "<user_message>\nPython\n</user_message>");
    assert!(!output.completes);

    let tags = r#"{"question": "Which language?", "follow_up": "<suggest mode=\"code\">Rust</suggest>\n<suggest>Go</suggest>"}"#;
    assert_eq!(project.text("ask_followup_question", tags).await, "<user_message>\nyes\n</user_message>");

    let questions = project.caller.questions();
    for question in &questions {
        assert_eq!((question.call_id.as_str(), question.class), ("call-1", Class::Talk));
        assert_eq!(question.description, "Which language?");
        assert_eq!(question.detail.as_deref(), Some("1. Rust (mode: code)\n2. Go"));
    }
    assert_eq!(questions[0].arguments, questions[1].arguments);
}

#[tokio::test]
async fn without_an_answer_the_model_decides() {
    let project = Project::new(&[]);
    let text = project.text("ask_followup_question", r#"{"question": "Which?"}"#).await;
    assert_eq!(text, "Nobody answered. Decide yourself, and say what you assumed.");
    let words = project
        .mistake("ask_followup_question", r#"{"question": "Which?", "follow_up": [{"mode": "a"}]}"#)
        .await;
    assert!(words.starts_with("Invalid value for parameter 'follow_up'"), "{words}");
}
