//! `ask_followup_question`: the model asks the user, with answers to choose from.

use reknit::agent::Content;
use reknit::json::{Object, Value};

use super::arguments;
use crate::question::{Class, Question};
use crate::tool::{Context, Definition, Failure, Kind, Output, Tool, Work};

/// How many suggestions a question may have.
const MOST: usize = 4;

pub(super) struct AskFollowupQuestion {
    definition: Definition,
}

impl AskFollowupQuestion {
    pub(super) fn new() -> Self {
        let about = "Asks the user a question. Use it only if the task cannot be done without the answer and no other \
            tool can find it out.";
        let suggestions = r#"{"type": "array", "maxItems": 4, "items": {"type": "object", "properties": {"text":
            {"type": "string"}, "mode": {"type": "string"}}, "required": ["text"], "additionalProperties": false}}"#;
        let suggestions = Value::parse(suggestions, 8).expect("it is JSON");
        let definition = Definition::new("ask_followup_question", Class::Talk, about)
            .subject("question", "The question, with what the user has to know to answer it.")
            .optional(
                "follow_up",
                Kind::Schema(suggestions),
                "Up to four complete answers to choose from, each with the mode to switch to, if any. In tags: \
                 `<suggest>an answer</suggest>` for each.",
            );
        Self { definition }
    }
}

impl Tool for AskFollowupQuestion {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let text = arguments::required(args, "question")?;
            let suggestions = suggestions(args.get("follow_up"))?;
            let detail = detail(&suggestions);
            let arguments = [
                ("question", Value::from(&*text)),
                ("follow_up", Value::from(suggestions.iter().map(Suggestion::to_json).collect::<Vec<_>>())),
            ];
            let arguments: Object = arguments.into_iter().collect();
            let name = &self.definition.name;
            let question = Question::new(context.call_id(), name, text, Class::Talk, arguments.into())
                .with_detail(detail, false);
            let answer = context.ask(question).await;
            let words = match answer.words {
                Some(words) => format!("<user_message>\n{words}\n</user_message>"),
                None if answer.yes => "<user_message>\nyes\n</user_message>".to_owned(),
                None if !answer.images.is_empty() => "<user_message>\n</user_message>".to_owned(),
                None => "Nobody answered. Decide yourself, and say what you assumed.".to_owned(),
            };
            let mut content = vec![Content::Text { text: words }];
            content.extend(answer.images);
            Ok(Output::content(content))
        })
    }
}

/// An answer to choose.
struct Suggestion {
    text: String,
    mode: Option<String>,
}

impl Suggestion {
    fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("text", &*self.text);
        if let Some(mode) = &self.mode {
            object.insert("mode", &**mode);
        }
        object.into()
    }
}

/// The suggestions as a numbered list.
fn detail(suggestions: &[Suggestion]) -> Option<String> {
    let lines = suggestions.iter().enumerate().map(|(index, suggestion)| match &suggestion.mode {
        Some(mode) => format!("{}. {} (mode: {mode})", index + 1, suggestion.text),
        None => format!("{}. {}", index + 1, suggestion.text),
    });
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn suggestions(value: Option<&Value>) -> Result<Vec<Suggestion>, Failure> {
    let found = match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(from_json).collect(),
        Some(value) => value.as_str().map(|text| in_tags(&text)),
    };
    let wrong = || {
        Failure::mistake(
            "Invalid value for parameter 'follow_up': expected a list of objects with a 'text'. Please retry with a \
             corrected value.",
        )
    };
    let mut found = found.ok_or_else(wrong)?;
    found.retain(|suggestion| !suggestion.text.trim().is_empty());
    found.truncate(MOST);
    Ok(found)
}

/// An object with a text, or just the text.
fn from_json(value: &Value) -> Option<Suggestion> {
    if let Some(text) = value.as_str() {
        return Some(Suggestion { text: text.into_owned(), mode: None });
    }
    let object = value.as_object()?;
    Some(Suggestion { text: arguments::text(object, "text")?, mode: arguments::text(object, "mode") })
}

/// `<suggest mode="code">text</suggest>` for each.
fn in_tags(text: &str) -> Vec<Suggestion> {
    let tags = text.split("<suggest").skip(1).filter_map(|rest| rest.split_once('>'));
    let suggestions = tags.filter_map(|(attributes, rest)| {
        let (text, _) = rest.split_once("</suggest>")?;
        let mode = attributes.split_once("mode=\"").and_then(|(_, rest)| rest.split_once('"'));
        Some(Suggestion { text: text.trim().to_owned(), mode: mode.map(|(mode, _)| mode.to_owned()) })
    });
    suggestions.collect()
}
