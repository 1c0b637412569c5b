//! A call that the text ends in before its opening marker is complete.

use std::ops::Range;

use super::call::{CallData, Input, Slice};
use super::machine::Machine;
use super::matcher::Matcher;
use super::params::Params;
use super::parsed::Parsed;
use super::prose::{Place, Prose};
use super::span::SpanKind;
use crate::event::End;
use crate::json::PartialJson;

/// At the end of a text in which a call begins at `at`: the call is cut. `name` is what has come of its name,
/// so nothing is known of its tool.
pub(super) fn cut_call(
    matcher: &Matcher,
    parsed: &mut Parsed,
    prose: &Prose,
    at: usize,
    name: Range<usize>,
) -> Machine {
    let end = parsed.text.len();
    parsed.add_prose(prose.run_kind(matcher), at);
    parsed.end_prose(at);
    parsed.add_span(SpanKind::Markup, end);
    let block = parsed.open_call(CallData {
        name: Slice::Range(name.into()),
        range: (at..end).into(),
        input: match matcher.has_markup() {
            true => Input::Params(Params::default()),
            false => Input::json(PartialJson::with_depth(parsed.limits.json_depth)),
        },
        end: None,
        known: true,
        parent: None,
    });
    parsed.end_call(block, End::Cut, end);
    // Nothing follows, so no wrapper has to close.
    Machine::Prose(Prose::new(end, Place::Text))
}
