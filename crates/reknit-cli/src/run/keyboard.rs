//! Answers, line by line, from standard input.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal};
use std::thread;

use reknit_runtime::question::{Answer, Class, Question};
use tokio::sync::mpsc;

/// Lines of standard input, which a thread reads: a read of a terminal cannot be cancelled.
pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
    is_terminal: bool,
    is_open: bool,
}

impl Keyboard {
    pub(super) fn open() -> Self {
        let (sender, lines) = mpsc::channel(1);
        // The thread ends with the program.
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines, is_terminal: io::stdin().is_terminal(), is_open: true }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether lines are read although nothing is asked. What is typed before a question is shown is not an answer
    /// to it; what is on a pipe was put there for the questions to come.
    pub(super) fn is_read_ahead(&self) -> bool {
        self.is_terminal && self.is_open
    }

    /// The next line, or `None` if there are no more.
    pub(super) async fn line(&mut self) -> Option<String> {
        let line = self.lines.recv().await;
        self.is_open = line.is_some();
        line
    }
}

/// What a line says to a question; `None` if there are no more lines.
pub(super) fn answer(question: &Question, line: Option<&str>) -> Answer {
    let Some(line) = line.map(str::trim) else {
        return Answer::nobody();
    };
    let is_conversation = question.class == Class::Talk;
    match &*line.to_lowercase() {
        "" => Answer::no(),
        // The model has asked something: whatever is said is the answer, and the number of a suggestion means it.
        _ if is_conversation && !question.tool.is_empty() => {
            Answer::yes().with_words(suggestion(question, line).unwrap_or_else(|| line.to_owned()))
        }
        "y" | "yes" => Answer::yes(),
        "n" | "no" => Answer::no(),
        _ if is_conversation => Answer::yes().with_words(line),
        _ => Answer::no().with_words(line),
    }
}

fn suggestion(question: &Question, line: &str) -> Option<String> {
    let index = line.parse::<usize>().ok()?.checked_sub(1)?;
    let suggestions = question.arguments.get("follow_up")?.as_array()?;
    suggestions.get(index)?.get("text")?.as_str().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use reknit::json::{Object, Value};

    use super::*;

    fn check(question: &Question, line: Option<&str>, yes: bool, words: Option<&str>) {
        let answer = answer(question, line);
        assert_eq!((answer.yes, answer.words.as_deref()), (yes, words), "{line:?}");
    }

    #[test]
    fn a_call_runs_only_if_the_answer_is_yes() {
        let question = Question::new("c", "edit", String::new(), Class::Write, Value::Null);
        check(&question, Some("y"), true, None);
        check(&question, Some(" YES "), true, None);
        check(&question, Some("n"), false, None);
        check(&question, Some(""), false, None);
        check(&question, Some("yes, but later"), false, Some("yes, but later"));
        check(&question, None, false, Some("Nobody can be asked in this session."));
    }

    #[test]
    fn a_question_of_the_model_is_answered_in_words_or_with_a_number() {
        let suggestions = Value::parse(r#"[{"text": "SQLite"}, {"text": "a file"}]"#, 8).expect("it is JSON");
        let arguments: Object = [("follow_up", suggestions)].into_iter().collect();
        let question = Question::new("c", "ask", String::new(), Class::Talk, arguments.into());
        check(&question, Some("2"), true, Some("a file"));
        check(&question, Some("3"), true, Some("3"));
        check(&question, Some("no"), true, Some("no"));
        check(&question, Some(""), false, None);
    }

    #[test]
    fn a_question_of_the_session_may_be_answered_with_advice() {
        let question = Question::new("", "", String::new(), Class::Talk, Value::Null);
        check(&question, Some("n"), false, None);
        check(&question, Some("use the other tool"), true, Some("use the other tool"));
    }
}
