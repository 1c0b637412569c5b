//! [`ReplyFeed`]: the changes of a reply as what a person is shown of it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem;

use reknit::event::{Notation, Opening, Origin, Slot, Stop, StopReason};
use reknit::message::{Args, Block, Body, Change, Input, Status, ToolCall};
use reknit::tags::{Grammar, display_text};
use reknit::{Message, event};

use super::Presenter;
use super::shown::{Call, Ended, Flaw, Shown};
use crate::view::End;

/// Follows a reply and shows it.
///
/// One choice is shown as it arrives, the first that came; the others follow at the end.
pub(crate) struct ReplyFeed {
    source: Source,
    choice: Option<u32>,
    /// The calls of that choice that are not over.
    open: BTreeSet<Slot>,
    /// How the message ended that is over and still has to be closed: usage may follow its end.
    ending: Option<(End, String)>,
    /// Whether nothing has come since the provider counted the tokens of the message.
    is_counted: bool,
    /// A text that is over, and that is to be cleaned before it is shown.
    uncleaned: Option<Slot>,
}

/// What the reply is read from.
pub(crate) enum Source {
    /// A provider's stream.
    Stream,
    /// A model's text.
    Text { profile: String, display: Option<Box<Grammar>> },
}

impl ReplyFeed {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, choice: None, open: BTreeSet::new(), ending: None, is_counted: false, uncleaned: None }
    }

    /// Shows a change; `message` is as it is right after it.
    pub(crate) fn follow(&mut self, change: &Change<'_>, message: &Message, presenter: &mut Presenter) {
        match change {
            Change::Grew { .. } => self.is_counted = false,
            Change::Usage(usage) => self.is_counted |= usage.output.is_some(),
            _ => {}
        }
        match change {
            Change::Started(_) => self.finish(presenter),
            Change::Opened { choice, block, opening } => {
                self.choice.get_or_insert(*choice);
                if self.choice == Some(*choice) {
                    self.opened(*block, opening, message, presenter);
                }
            }
            Change::Grew { block, at, text } => {
                if let Some(block) = self.block(*block, message) {
                    self.grew(block, *at, text, presenter);
                }
            }
            Change::Closed { block, .. } => {
                if let Some(block) = self.block(*block, message) {
                    self.closed(block, presenter);
                }
            }
            Change::Ended { .. } | Change::Cut {} | Change::Failed(_) => self.ended(message, presenter),
            _ => {}
        }
        if let Change::Started(_)
        | Change::Switched { .. }
        | Change::Usage(_)
        | Change::Ended { .. }
        | Change::Cut {} = change
        {
            let model = match &self.source {
                Source::Stream => message.model(),
                Source::Text { profile, .. } => Some(profile.as_str()),
            };
            let (input, output) = (message.usage().input, message.usage().output);
            presenter.show(Shown::About { model, input, output, is_final: self.is_counted });
        }
    }

    /// Closes the message that is over, if there is one.
    pub(crate) fn finish(&mut self, presenter: &mut Presenter) {
        (self.choice, self.uncleaned) = (None, None);
        self.open.clear();
        if let Some((end, words)) = self.ending.take() {
            presenter.show(Shown::Over { end, words: &words });
        }
    }

    /// The input was interrupted. A message that is complete stays so; for a text that cannot be known.
    pub(crate) fn interrupt(&mut self) {
        match (&self.source, &self.ending) {
            (Source::Stream, Some((End::Broken, _))) | (Source::Text { .. }, _) => {
                self.ending = Some((End::Broken, "interrupted".to_owned()));
            }
            (Source::Stream, _) => {}
        }
    }

    /// A block, if it is of the choice that is shown as it arrives.
    fn block<'a>(&self, slot: Slot, message: &'a Message) -> Option<&'a Block> {
        message.block(slot).filter(|block| self.choice == Some(block.choice()))
    }

    fn opened(&mut self, slot: Slot, opening: &Opening, message: &Message, presenter: &mut Presenter) {
        self.show_cleaned(message, presenter);
        match opening {
            // The whitespace between blocks that were found in a text is not in them.
            Opening::Text { refusal: false } if is_found(slot) => presenter.show(Shown::Break),
            Opening::Text { refusal: false } => {}
            Opening::Text { refusal: true } => presenter.show(Shown::Remark("[refusal]")),
            Opening::Thinking { redacted } => {
                presenter.show(Shown::ThinkingOpened);
                if redacted.is_some() {
                    presenter.show(Shown::ThinkingHidden);
                }
            }
            Opening::ToolCall { .. } => drop(self.open.insert(slot)),
            Opening::ToolResult { kind, .. } | Opening::Other { kind } => {
                presenter.show(Shown::Remark(&format!("[{kind}]")));
            }
            _ => {}
        }
    }

    fn grew(&self, block: &Block, at: usize, text: &str, presenter: &mut Presenter) {
        match block.body() {
            Body::Text { .. } if self.cleans_text() => {}
            Body::Text { .. } => presenter.show(Shown::Text(text)),
            Body::Thinking { .. } => presenter.show(Shown::Thinking(text)),
            Body::ToolCall(call) => {
                let notation = match &call.args {
                    Args::Streaming(Input::Plain(_)) => Notation::Plain,
                    _ => Notation::Json,
                };
                presenter.show(Shown::CallGrew { call: called(block, call), notation, at, text });
            }
            _ => {}
        }
    }

    fn closed(&mut self, block: &Block, presenter: &mut Presenter) {
        match block.body() {
            Body::Text { .. } => self.uncleaned = Some(block.slot()).filter(|_| self.cleans_text()),
            Body::Thinking { text, redacted: None, .. } if text.is_empty() && !is_found(block.slot()) => {
                presenter.show(Shown::ThinkingHidden);
            }
            Body::ToolCall(call) => {
                self.open.remove(&block.slot());
                presenter.show(Shown::CallEnded { call: called(block, call), ended: ended(call) });
            }
            _ => {}
        }
    }

    fn ended(&mut self, message: &Message, presenter: &mut Presenter) {
        self.show_cleaned(message, presenter);
        for slot in mem::take(&mut self.open) {
            message.block(slot).into_iter().for_each(|block| self.closed(block, presenter));
        }
        self.show_other_choices(message, presenter);
        self.ending = Some(match (&self.source, message.status(), message.stop()) {
            (_, Status::Failed, _) => (End::Broken, "failed".to_owned()),
            (_, Status::Waiting | Status::Streaming | Status::Cut, _) => (End::Broken, "cut".to_owned()),
            (Source::Text { .. }, Status::Stopped, _) => count_calls(message),
            (Source::Stream, Status::Stopped, stop) => stopped(stop),
        });
    }

    fn show_other_choices(&self, message: &Message, presenter: &mut Presenter) {
        let Some(live) = self.choice else { return };
        for choice in message.choices().iter().filter(|choice| live != choice.index()) {
            presenter.show(Shown::Note(&format!("[choice {}]", choice.index())));
            for block in message.blocks().filter(|block| block.choice() == choice.index()) {
                show_whole(block, presenter);
            }
        }
    }

    fn cleans_text(&self) -> bool {
        matches!(self.source, Source::Text { display: Some(_), .. })
    }

    /// Shows the text that is over as it is displayed.
    fn show_cleaned(&mut self, message: &Message, presenter: &mut Presenter) {
        if let Source::Text { display: Some(grammar), .. } = &self.source
            && let Some(slot) = self.uncleaned.take()
            && let Some(Body::Text { text, .. }) = message.block(slot).map(Block::body)
        {
            let text = text.to_str();
            // Nothing follows the last text of a message: it may end with half a tag.
            let finished = !message.is_over();
            let cleaned = display_text(grammar, &text, finished);
            if !cleaned.is_empty() {
                presenter.show(Shown::Text(&cleaned));
            }
        }
    }
}

/// Whether a block was found in a text, and not sent by the provider.
fn is_found(slot: Slot) -> bool {
    slot.numbers().1.is_some()
}

fn show_whole(block: &Block, presenter: &mut Presenter) {
    match block.body() {
        Body::Text { text, .. } => {
            if is_found(block.slot()) {
                presenter.show(Shown::Break);
            }
            presenter.show(Shown::Text(&text.to_str()));
        }
        Body::Thinking { text, .. } => {
            presenter.show(Shown::ThinkingOpened);
            text.segments().for_each(|text| presenter.show(Shown::Thinking(text)));
        }
        Body::ToolCall(call) => {
            presenter.show(Shown::CallEnded { call: called(block, call), ended: ended(call) });
        }
        _ => {}
    }
}

fn called<'a>(block: &Block, call: &'a ToolCall) -> Call<'a> {
    Call { key: block.slot().into(), name: &call.name, runner: call.runner }
}

fn ended(call: &ToolCall) -> Ended<'_> {
    // What the model wrote says more than the JSON that was made of it.
    let written = || call.raw.clone().unwrap_or_default();
    match (&call.args, &call.origin) {
        (Args::Complete(arguments), _) => Ended::Whole(Cow::Borrowed(arguments)),
        (Args::Streaming(input) | Args::Cut(input), origin) => Ended::Broken {
            flaw: Flaw::Cut,
            raw: if *origin == Origin::Native { input.raw().clone() } else { written() },
            so_far: match input {
                Input::Json(_) => input.value(),
                _ => None,
            },
        },
        (Args::Malformed { raw, error }, Origin::Native) => {
            let error = error.as_ref().map(ToString::to_string);
            Ended::Broken { flaw: Flaw::Malformed(error), raw: raw.clone(), so_far: None }
        }
        (Args::Malformed { .. }, _) => {
            Ended::Broken { flaw: Flaw::Malformed(None), raw: written(), so_far: None }
        }
    }
}

fn stopped(stop: Option<&Stop>) -> (End, String) {
    let Some(Stop { reason, detail }) = stop else { return (End::Whole, "done".to_owned()) };
    let (end, words) = match reason {
        StopReason::End => (End::Whole, "done"),
        StopReason::Tool => (End::Whole, "waits for its calls"),
        StopReason::StopSequence => (End::Whole, "stopped at a stop sequence"),
        StopReason::Length => (End::Short, "stopped at the length limit"),
        StopReason::Refusal => (End::Short, "refused"),
        StopReason::Filter => (End::Short, "stopped by a filter"),
        StopReason::Pause => (End::Short, "paused"),
        _ => (End::Short, detail.as_str()),
    };
    (end, words.to_owned())
}

fn count_calls(message: &Message) -> (End, String) {
    let calls = message.tool_calls().count();
    let broken = message.tool_calls().filter(|call| call.end() != Some(event::End::Closed)).count();
    match (calls, broken) {
        (1, 0) => (End::Whole, "1 call".to_owned()),
        (calls, 0) => (End::Whole, format!("{calls} calls")),
        (calls, broken) => (End::Broken, format!("{calls} calls, {broken} of them broken")),
    }
}
