//! [`Chunks`]: what a person sees of a message.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::change::Change;
use super::chunk::{Call, Chunk, Input, Preview};
use super::named::Named;
use crate::agent::{Members, Misread};
use crate::diagnostic::Diagnostics;
use crate::json::exact;
use crate::limits::Limits;
use crate::message::Misfit;
use crate::text::Text;

/// The chunks of a message so far, in order.
///
/// An index of the calls makes it fast to find one by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    list: Vec<Chunk>,
    pub(super) places: Places,
    /// The number of events so far.
    events: u64,
    diagnostics: Diagnostics,
    /// How many diagnostics are kept.
    limit: usize,
}

/// Where the things are in the list that an event can refer to.
///
/// This can be computed from the list alone, so that chunks that were written and read back continue in the
/// same way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// By id: the first call in the last batch that has the id.
    pub(super) calls: BTreeMap<String, Place>,
    /// By id: calls whose arguments are being written.
    writing: Named<Place>,
    /// By the id of the request: calls whose approval was requested.
    approvals: Named<Place>,
    pub(super) last_batch: Option<usize>,
    pub(super) last_thinking: Option<usize>,
}

/// The place of a call: its chunk and its number in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) chunk: usize,
    pub(super) call: usize,
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: Places::default(),
            events: 0,
            diagnostics: Diagnostics::default(),
            limit: Limits::default().diagnostics,
        }
    }
}

/// All chunks, in order.
impl Deref for Chunks {
    type Target = [Chunk];

    fn deref(&self) -> &[Chunk] {
        &self.list
    }
}

/// Continues with chunks that exist already.
impl From<Vec<Chunk>> for Chunks {
    fn from(list: Vec<Chunk>) -> Self {
        let mut places = Places::default();
        list.iter().enumerate().for_each(|(number, chunk)| places.enter_chunk(number, chunk));
        Self { list, places, ..Self::default() }
    }
}

impl Chunks {
    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limit(limits);
        self
    }

    pub(super) fn limit(&mut self, limits: &Limits) {
        self.limit = limits.diagnostics;
    }

    /// Reads chunks back from their JSON form.
    pub(super) fn read(members: &mut Members) -> Result<Self, Misread> {
        let list = members.list("chunks")?.into_iter().map(Chunk::read).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            events: members.count("events")?,
            diagnostics: read_diagnostics(members)?,
            ..Self::from(list)
        })
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// All calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.list.iter().flat_map(|chunk| match chunk {
            Chunk::ToolBatch { calls } => calls.as_slice(),
            Chunk::Text { .. } | Chunk::Thinking { .. } | Chunk::Error { .. } | Chunk::System { .. } => &[],
        })
    }

    /// Events that were dropped because they have no place or an unknown type.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// The call with this id whose arguments are still arriving, and their text so far.
    pub(super) fn writing(&self, id: &str) -> Option<(Place, &Text)> {
        let place = self.places.writing.last(id)?;
        match &self.call_at(place).input {
            Input::Streaming { input_text } => Some((place, input_text)),
            Input::Whole { .. } | Input::Broken { .. } => None,
        }
    }

    /// The call whose approval was requested with this id.
    pub(super) fn asked(&self, approval: &str) -> Option<Place> {
        self.places.approvals.last(approval)
    }

    pub(super) fn call_at(&self, place: Place) -> &Call {
        match &self.list[place.chunk] {
            Chunk::ToolBatch { calls } => &calls[place.call],
            _ => unreachable!("places only refer to calls"),
        }
    }
}

/// Applying changes, which is the only way to modify chunks.
impl Chunks {
    /// Applies a change that [`append`](super::append) returned for another copy of these chunks.
    pub fn follow(&mut self, change: &Change<'_>) -> Result<(), Misfit> {
        match change {
            Change::Opened { chunk, value } => {
                if *chunk != self.list.len() {
                    return Err(no_chunk(*chunk, self.list.len()));
                }
                self.places.enter_chunk(*chunk, value);
                self.list.push(value.clone());
            }
            Change::Grew { chunk, at, text } => match self.chunk(*chunk)? {
                Chunk::Text { text: shown } | Chunk::Thinking { text: shown, metadata: None } => {
                    grow(*chunk, shown, *at, text)?;
                }
                _ => return Err(wrong_chunk(*chunk)),
            },
            Change::Sealed { chunk, metadata } => match self.chunk(*chunk)? {
                Chunk::Thinking { metadata: seal @ None, .. } => *seal = Some(metadata.clone()),
                _ => return Err(wrong_chunk(*chunk)),
            },
            Change::Called { chunk, call, value } => match self.chunk(*chunk)? {
                Chunk::ToolBatch { calls } if calls.len() == *call => {
                    calls.push((**value).clone());
                    self.places.enter_call(Place { chunk: *chunk, call: *call }, value);
                }
                _ => return Err(wrong_chunk(*chunk)),
            },
            Change::InputGrew { chunk, call, at, text } => match &mut self.find(*chunk, *call)?.input {
                Input::Streaming { input_text } => grow(*chunk, input_text, *at, text)?,
                Input::Whole { .. } | Input::Broken { .. } => {
                    return Err(wrong_chunk(*chunk));
                }
            },
            Change::InputWhole { chunk, call, name, arguments } => {
                let found = self.find_writing(*chunk, *call)?;
                name.clone_into(&mut found.name);
                found.input = Input::Whole { arguments: arguments.clone() };
            }
            Change::InputBroken { chunk, call, error } => {
                let found = self.find_writing(*chunk, *call)?;
                if let Input::Streaming { input_text } = &found.input {
                    let (input_text, input_error) = (input_text.clone(), error.to_string());
                    found.input = Input::Broken { input_text, input_error };
                }
            }
            Change::Answered { chunk, call, result, is_error } => {
                let found = self.find(*chunk, *call)?;
                found.result = Some(result.clone());
                found.is_error = *is_error;
            }
            Change::Wrote { chunk, call, stream, at, text } => {
                let output = &mut self.find(*chunk, *call)?.shell_output;
                let has = output.as_ref().map_or(0, |output| output.of(*stream).len());
                continues(*chunk, has, *at)?;
                output.get_or_insert_default().of_mut(*stream).push_str(text);
            }
            Change::Approval { chunk, call, approval } => {
                let place = Place { chunk: *chunk, call: *call };
                if let Some(before) = self.find(*chunk, *call)?.approval.replace(approval.clone()) {
                    self.places.approvals.remove(&before.id, place);
                }
                self.places.approvals.insert(&approval.id, place);
            }
            Change::Previewed { chunk, call, path, at, text } => {
                let preview = &mut self.find(*chunk, *call)?.preview;
                match preview {
                    _ if *at == 0 => {
                        *preview = Some(Preview { path: path.to_string(), text: Text::from(&**text) });
                    }
                    Some(shown) if shown.path == *path => grow(*chunk, &mut shown.text, *at, text)?,
                    _ => return Err(gap(*chunk, 0, *at)),
                }
            }
            Change::Dropped(diagnostic) => self.diagnostics.add(self.limit, || diagnostic.clone()),
            Change::Nothing {} => {}
        }
        self.events += 1;
        Ok(())
    }

    fn chunk(&mut self, chunk: usize) -> Result<&mut Chunk, Misfit> {
        let has = self.list.len();
        self.list.get_mut(chunk).ok_or_else(|| no_chunk(chunk, has))
    }

    fn find(&mut self, chunk: usize, call: usize) -> Result<&mut Call, Misfit> {
        match self.chunk(chunk)? {
            Chunk::ToolBatch { calls } => calls.get_mut(call).ok_or_else(|| wrong_chunk(chunk)),
            _ => Err(wrong_chunk(chunk)),
        }
    }

    /// The call at this place, whose arguments are still arriving and stop doing so now.
    fn find_writing(&mut self, chunk: usize, call: usize) -> Result<&mut Call, Misfit> {
        let id = match self.find(chunk, call)? {
            Call { id, input: Input::Streaming { .. }, .. } => id.clone(),
            Call { .. } => return Err(wrong_chunk(chunk)),
        };
        self.places.writing.remove(&id, Place { chunk, call });
        self.find(chunk, call)
    }
}

impl Serialize for Chunks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("chunks", &self.list)?;
        map.serialize_entry("events", &self.events)?;
        write_diagnostics(&self.diagnostics, &mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Chunks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::new("chunks", exact(deserializer)?);
        members.and_then(|mut members| Self::read(&mut members)).map_err(D::Error::custom)
    }
}

/// Writes the diagnostics of chunks or of a transcript.
pub(super) fn write_diagnostics<M: SerializeMap>(
    diagnostics: &Diagnostics,
    map: &mut M,
) -> Result<(), M::Error> {
    if !diagnostics.is_empty() {
        map.serialize_entry("diagnostics", &**diagnostics)?;
    }
    if diagnostics.omitted() > 0 {
        map.serialize_entry("diagnosticsOmitted", &diagnostics.omitted())?;
    }
    Ok(())
}

/// Reads them back.
pub(super) fn read_diagnostics(members: &mut Members) -> Result<Diagnostics, Misread> {
    let kept = members.optional_as("diagnostics", "a list of diagnostics")?.unwrap_or_default();
    let omitted = members.optional_count("diagnosticsOmitted")?.unwrap_or_default();
    Ok(Diagnostics::new(kept, omitted))
}

impl Places {
    fn enter_chunk(&mut self, number: usize, chunk: &Chunk) {
        match chunk {
            Chunk::Thinking { .. } => self.last_thinking = Some(number),
            Chunk::ToolBatch { calls } => {
                self.last_batch = Some(number);
                for (call, value) in calls.iter().enumerate() {
                    self.enter_call(Place { chunk: number, call }, value);
                }
            }
            Chunk::Text { .. } | Chunk::Error { .. } | Chunk::System { .. } => {}
        }
    }

    fn enter_call(&mut self, place: Place, call: &Call) {
        let known = self.calls.entry(call.id.clone()).or_insert(place);
        if known.chunk < place.chunk {
            *known = place;
        }
        if let Input::Streaming { .. } = call.input {
            self.writing.insert(&call.id, place);
        }
        if let Some(approval) = &call.approval {
            self.approvals.insert(&approval.id, place);
        }
    }
}

fn grow(chunk: usize, shown: &mut Text, at: usize, piece: &str) -> Result<(), Misfit> {
    continues(chunk, shown.len(), at)?;
    shown.push_str(piece);
    Ok(())
}

fn continues(chunk: usize, has: usize, at: usize) -> Result<(), Misfit> {
    if has == at { Ok(()) } else { Err(gap(chunk, has, at)) }
}

fn no_chunk(chunk: usize, has: usize) -> Misfit {
    Misfit::new(format!("the change names chunk {chunk}, but there are {has} chunks"))
}

fn wrong_chunk(chunk: usize) -> Misfit {
    Misfit::new(format!("chunk {chunk} is not what the change expects, or has no such call"))
}

fn gap(chunk: usize, has: usize, at: usize) -> Misfit {
    Misfit::gap(&format!("chunk {chunk}"), has, at)
}
