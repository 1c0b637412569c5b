//! [`Parts`]: a message and a grammar joined, so that nobody behind this looks at a tag.
//!
//! The blocks of a message in order, each text block split into text, thinking and calls by the grammar of
//! the model that wrote it. A call is one whether it came as the provider's block or in tags, and so is
//! thinking. Without a grammar the parts are the message as it is.
//!
//! ```
//! use reknit::parts::{Args, Change, Part, Parts};
//! use reknit::{Dialect, Limits, Reply, tags::profile};
//!
//! # let network: Vec<&[u8]> = vec![
//! #     b"data: {\"choices\":[{\"delta\":{\"content\":\"I look.\\n<read_fi\"}}]}\n\n",
//! #     b"data: {\"choices\":[{\"delta\":{\"content\":\"le><path>a.rs</path></read_file>\"}}]}\n\n",
//! #     b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
//! # ];
//! let mut reply = Reply::new(Dialect::OpenAiChat);
//! let mut parts = Parts::with_grammar(profile("cline").unwrap(), None, "turn-7-", &Limits::default())?;
//! for piece in network {
//!     let mut changes = reply.push(piece);
//!     while let Some((change, message)) = changes.next() {
//!         let mut changes = parts.follow(message, &change);
//!         while let Some((change, list)) = changes.next() {
//!             // Live: what came, and the parts right behind it. A half tag is never text.
//!             if let Change::Grew { part, text, .. } = change
//!                 && let Some(Part::Text { .. }) = list.part(part)
//!             {
//!                 print!("{text}");
//!             }
//!         }
//!     }
//! }
//!
//! let call = parts.list().client_calls().next().unwrap();
//! assert_eq!((&*call.id, &*call.name), ("turn-7-0_1", "read_file"));
//! let Args::Complete(input) = &call.args else { panic!("cut or malformed: never run") };
//! assert_eq!(input.to_string(), r#"{"path":"a.rs"}"#);
//! # Ok::<(), reknit::tags::GrammarError>(())
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

mod change;
mod list;
mod neutral;
mod part;
#[cfg(test)]
mod tests;
mod text_block;

pub use change::{Change, Diagnostic, Misfit, Opening};
pub use list::{List, Placed};
pub use neutral::Neutral;
pub use part::{Address, Args, Input, Notation, Origin, Param, Part, Tagged, ToolCall};

use text_block::{Ending, Step, TextBlock};

use crate::event::{self, Runner, Slot};
use crate::json::Value;
use crate::limits::Limits;
use crate::message::{self, Body, CallEnd, Message, State};
use crate::tags::{self, Block, Grammar, GrammarError, Parser, Tools};

/// The parts of a message while it arrives.
///
/// It has to be given every change of the message, from the first on. Of a stream with several messages it
/// has the parts of the one that is being read.
#[derive(Clone, Debug)]
pub struct Parts {
    tagging: Option<Tagging>,
    texts: BTreeMap<Slot, TextBlock>,
    list: List,
    /// What is still to be said of the change that was given last.
    steps: VecDeque<Step>,
}

/// How texts are read.
#[derive(Clone, Debug)]
struct Tagging {
    /// Before the first piece: each text block gets a copy.
    parser: Parser,
    /// How many bytes the grammar puts before a text.
    prefix: usize,
    ids: Ids,
}

/// Where the ids of calls in texts come from.
#[derive(Clone, Debug)]
struct Ids {
    prefix: String,
    /// How many messages there were before this one.
    messages: u32,
}

impl Default for Parts {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Parts {
    /// The parts of a message whose texts are just that.
    ///
    /// `limits` are those of the message.
    pub fn new(limits: &Limits) -> Self {
        Self { tagging: None, texts: BTreeMap::new(), list: List::new(limits), steps: VecDeque::new() }
    }

    /// The parts of a message in whose texts calls and thinking are written. With `tools`, values are typed
    /// and unknown names marked.
    ///
    /// A call in a text has no id of its own. It gets `ids` and its address, and in the second and later
    /// messages of a stream also the number of the message: the same for every cut, and unique if no other
    /// reply of the session is given the same `ids`.
    pub fn with_grammar(
        grammar: &Grammar,
        tools: Option<&Tools>,
        ids: impl Into<String>,
        limits: &Limits,
    ) -> Result<Self, GrammarError> {
        let tagging = Tagging {
            parser: Parser::with_limits(grammar, tools, *limits)?,
            prefix: grammar.prefix.len(),
            ids: Ids { prefix: ids.into(), messages: 0 },
        };
        Ok(Self { tagging: Some(tagging), ..Self::new(limits) })
    }

    /// The parts so far.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Takes a change that `message` has just made.
    ///
    /// What it changes in the parts can be looked at step by step. Whether it is or not, it happens.
    pub fn follow<'a>(&'a mut self, message: &'a Message, change: &'a message::Change<'_>) -> Changes<'a> {
        let steps = &mut self.steps;
        match (change, &mut self.tagging) {
            (message::Change::Started(_), tagging) => {
                if let Some(Tagging { ids, .. }) = tagging.as_mut().filter(|_| !self.texts.is_empty()) {
                    ids.messages += 1;
                }
                self.texts.clear();
                steps.push_back(Step::Given);
            }
            // What the model refuses with is for the reader, whatever it looks like.
            (
                message::Change::Opened { block, choice, opening: event::Opening::Text { refusal: false } },
                Some(tagging),
            ) => {
                self.texts.insert(*block, TextBlock::new(*block, *choice, tagging.parser.clone()));
            }
            (message::Change::Grew { block, text, .. }, _) => match self.texts.get_mut(block) {
                Some(read) => read.push(text, steps),
                None => steps.push_back(Step::Given),
            },
            (message::Change::Closed { block, notice, .. }, _) => {
                match self.texts.get_mut(block) {
                    Some(read) => read.finish(Ending::Whole, steps),
                    None => steps.push_back(Step::Given),
                }
                steps.extend(notice.as_ref().map(|_| Step::Notice));
            }
            (message::Change::Ended { .. } | message::Change::Cut {} | message::Change::Failed(_), _) => {
                let open = self.list.parts().iter().filter(|placed| {
                    placed.part.state() == State::Open && !self.texts.contains_key(&placed.address.block)
                });
                steps.extend(open.map(|placed| Step::End(placed.address, CallEnd::Cut)));
                self.texts.values_mut().for_each(|read| read.finish(Ending::Torn, steps));
                steps.push_back(Step::Given);
            }
            _ => steps.push_back(Step::Given),
        }
        Changes { parts: self, message, change }
    }
}

/// What a change of the message changes in its parts, one step at a time, each with the parts as they are
/// right behind it.
///
/// What is not looked at happens all the same, when this is dropped.
#[derive(Debug)]
pub struct Changes<'a> {
    parts: &'a mut Parts,
    message: &'a Message,
    change: &'a message::Change<'a>,
}

impl Changes<'_> {
    /// The next change, and the parts that it led to.
    // An iterator could not lend what it gives.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(Change<'_>, &List)> {
        let Parts { tagging, texts, list, steps } = &mut *self.parts;
        loop {
            let step = steps.pop_front()?;
            let change = match (step, &*tagging) {
                (Step::Given, _) => given(self.change, self.message, list),
                (Step::Notice, _) => notice(self.change),
                (Step::Tag(slot, change), Some(tagging)) => tagging.resolve(&texts[&slot], change, list),
                (Step::End(part, end), tagging) => {
                    let until =
                        tagging.as_ref().and_then(|tagging| tagging.until(texts.get(&part.block)?, part));
                    Some(Change::Closed { part, end, input: None, until })
                }
                (Step::Noticed(block, index), _) => {
                    let diagnostic = &texts[&block].parser.diagnostics()[index];
                    let (kind, at, message) = (diagnostic.kind, diagnostic.at, diagnostic.message.clone());
                    Some(Change::Noticed(Diagnostic { kind, block, at, message }))
                }
                (Step::Omitted(count), _) => Some(Change::Omitted { count }),
                (Step::Tag(..), None) => None,
            };
            let Some(change) = change else { continue };
            list.apply(&change).expect("a change resolved against these parts fits them");
            return Some((change, list));
        }
    }
}

impl Drop for Changes<'_> {
    fn drop(&mut self) {
        while self.next().is_some() {}
    }
}

/// What a change of the message means for a part that is a whole block of it.
///
/// Nothing if the part is not there: whoever does not give every change has no parts of what is missing.
fn given<'a>(change: &'a message::Change<'a>, message: &Message, list: &List) -> Option<Change<'a>> {
    let whole = |block: Slot| {
        let part = Address { block, part: 0 };
        list.part(part).filter(|found| found.state() == State::Open).map(|found| (part, found))
    };
    Some(match change {
        message::Change::Opened { block, choice, opening } => {
            let part = Address { block: *block, part: 0 };
            if list.part(part).is_some() {
                return None;
            }
            Change::Opened { part, choice: *choice, opening: opening.into() }
        }
        message::Change::Named { block, id, name } => match whole(*block)? {
            (part, Part::Call(_)) => Change::Named { part, id: borrowed(id), name: borrowed(name) },
            _ => return None,
        },
        message::Change::Grew { block, text, .. } => {
            let (part, found) = whole(*block)?;
            Change::Grew { part, at: found.growing()?.len(), text: borrowed(text) }
        }
        message::Change::Signed { block, signature, .. } => match whole(*block)? {
            (part, Part::Thinking { signature: before, .. }) => {
                Change::Signed { part, at: before.len(), signature: borrowed(signature) }
            }
            _ => return None,
        },
        message::Change::Closed { block, end, .. } => {
            let (part, found) = whole(*block)?;
            let input = match (message.block(*block).map(message::Block::body), found) {
                (Some(Body::ToolCall(call)), Part::Call(ToolCall { args: Args::Streaming(input), .. })) => {
                    match &call.args {
                        message::Args::Complete(value) => differing(input, value),
                        message::Args::Streaming(_) | message::Args::Malformed { .. } => None,
                    }
                }
                _ => None,
            };
            Change::Closed { part, end: end.unwrap_or(CallEnd::Closed), input, until: None }
        }
        change => Change::Message(change.clone()),
    })
}

/// The diagnostic that comes with a change of the message.
fn notice<'a>(change: &message::Change<'_>) -> Option<Change<'a>> {
    match change {
        message::Change::Closed { notice: Some(notice), .. } => {
            Some(Change::Message(message::Change::Noticed(notice.clone())))
        }
        _ => None,
    }
}

impl Tagging {
    /// What a change in a text means for its parts.
    fn resolve<'a>(&self, text: &'a TextBlock, change: tags::Change, list: &List) -> Option<Change<'a>> {
        Some(match change {
            tags::Change::Opened { block } => {
                let part = text.address(block);
                let opening = match text.parser.block(block)? {
                    Block::Text { .. } => Opening::Text { refusal: false },
                    Block::Thinking { .. } => Opening::Thinking { redacted: None },
                    Block::Call(call) => self.open_call(text, part, call),
                };
                Change::Opened { part, choice: text.choice, opening }
            }
            tags::Change::Grew { block, from, to } => {
                let part = text.address(block);
                let at = list.part(part)?.growing()?.len();
                Change::Grew { part, at, text: Cow::Borrowed(&text.parser.text()[from..to]) }
            }
            tags::Change::ParamOpened { block, param } => {
                let name = text.call(block)?.params().nth(param)?.name();
                Change::ParamOpened { part: text.address(block), name: Cow::Borrowed(name) }
            }
            tags::Change::ParamGrew { block, param, from, to } => {
                let part = text.address(block);
                let at = open_param(list, part, param)?.as_text()?.len();
                // A value that was read again since may be another; the end of the call tells.
                let grown = text.call(block)?.params().nth(param)?.text().get(from..to)?;
                Change::ParamGrew { part, param, at, text: Cow::Borrowed(grown) }
            }
            tags::Change::ParamClosed { block, param } => {
                let part = text.address(block);
                let shown = open_param(list, part, param)?;
                let value = Some(text.call(block)?.params().nth(param)?.value());
                Change::ParamClosed { part, param, value: value.filter(|value| value != shown) }
            }
            tags::Change::ArgsGrew { block, from, to } => {
                let part = text.address(block);
                let at = list.part(part)?.growing()?.len();
                let grown = match text.call(block)?.args_text() {
                    Cow::Borrowed(args) => Cow::Borrowed(args.get(from..to)?),
                    Cow::Owned(args) => Cow::Owned(args.get(from..to)?.to_owned()),
                };
                Change::Grew { part, at, text: grown }
            }
            tags::Change::Closed { block } => {
                let part = text.address(block);
                let (end, input) = match (text.call(block), list.part(part)?) {
                    (Some(call), Part::Call(ToolCall { args: Args::Streaming(shown), .. })) => {
                        match call.end()? {
                            CallEnd::Closed => (CallEnd::Closed, differing(shown, &call.args())),
                            end => (end, None),
                        }
                    }
                    _ => (CallEnd::Closed, None),
                };
                Change::Closed { part, end, input, until: self.until(text, part) }
            }
        })
    }

    fn open_call(&self, text: &TextBlock, part: Address, call: tags::Call<'_>) -> Opening {
        let start = self.behind_prefix(call.range().start);
        let tagged = Tagged {
            range: start..start,
            known: call.known(),
            parent: call.parent().map(|parent| self.ids.of(text.address(parent))),
        };
        Opening::ToolCall {
            id: self.ids.of(part),
            name: call.name().to_owned(),
            runner: Runner::Client,
            notation: if call.json().is_some() { Notation::Json } else { Notation::Params },
            origin: Origin::Tagged(tagged),
        }
    }

    /// Where a call ends in the text of its block.
    fn until(&self, text: &TextBlock, part: Address) -> Option<usize> {
        text.call(part.part as usize).map(|call| self.behind_prefix(call.range().end))
    }

    fn behind_prefix(&self, at: usize) -> usize {
        at.saturating_sub(self.prefix)
    }
}

impl Ids {
    fn of(&self, Address { block, part }: Address) -> String {
        match self.messages {
            0 => format!("{}{}_{part}", self.prefix, block.0),
            message => format!("{}{message}_{}_{part}", self.prefix, block.0),
        }
    }
}

/// The value so far of a parameter that is open.
fn open_param(list: &List, part: Address, param: usize) -> Option<&Value> {
    match list.part(part)? {
        Part::Call(ToolCall { args: Args::Streaming(Input::Params(params)), .. }) => {
            params.get(param).filter(|param| !param.closed).map(|param| &param.value)
        }
        _ => None,
    }
}

/// The arguments of a call that is whole, if they are not what was shown of them.
fn differing(shown: &Input, args: &Value) -> Option<Value> {
    (shown.whole().as_deref() != Some(args)).then(|| args.clone())
}

fn borrowed<'a>(text: &'a str) -> Cow<'a, str> {
    Cow::Borrowed(text)
}
