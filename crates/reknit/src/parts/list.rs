//! [`List`]: the parts of a message, and the one way to change them.

use std::collections::BTreeMap;

use super::change::{Change, Diagnostic, Misfit};
use super::neutral::Neutral;
use super::part::{Address, Param, Part, ToolCall};
use crate::event::{Owner, Slot};
use crate::json::{Object, Value};
use crate::limits::Limits;
use crate::message::{self, CallEnd, Extra, Message, State};
use crate::text::Text;

/// The parts of one message so far, in order. Data only: it knows no grammar.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    parts: Vec<Placed>,
    extras: BTreeMap<Slot, Extra>,
    diagnostics: Vec<Diagnostic>,
    diagnostics_omitted: u64,
    limits: Limits,
}

/// A part, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its address.
    pub address: Address,
    /// The choice it belongs to.
    pub choice: u32,
    /// The part.
    pub part: Part,
}

impl Default for List {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl List {
    /// Before the first part.
    pub fn new(limits: &Limits) -> Self {
        Self {
            parts: Vec::new(),
            extras: BTreeMap::new(),
            diagnostics: Vec::new(),
            diagnostics_omitted: 0,
            limits: *limits,
        }
    }

    /// All parts, in order.
    pub fn parts(&self) -> &[Placed] {
        &self.parts
    }

    /// The part at an address.
    pub fn part(&self, address: Address) -> Option<&Part> {
        self.position(address).ok().map(|position| &self.parts[position].part)
    }

    /// The parts of one block of the message.
    pub fn parts_of(&self, block: Slot) -> &[Placed] {
        let from = self.parts.partition_point(|placed| placed.address.block < block);
        let to = self.parts.partition_point(|placed| placed.address.block <= block);
        &self.parts[from..to]
    }

    /// All calls, also those that the provider carries out itself.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|placed| match &placed.part {
            Part::Call(call) => Some(call),
            Part::Text { .. } | Part::Thinking { .. } | Part::ToolResult { .. } | Part::Other { .. } => None,
        })
    }

    /// The calls that the caller has to carry out, whole or not.
    pub fn client_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.tool_calls().filter(|call| call.runner.is_client())
    }

    /// Fields of a block outside the neutral form, under the provider's names.
    pub fn extra(&self, block: Slot) -> Option<&Object> {
        self.extras.get(&block).map(|extra| &**extra)
    }

    /// What was odd in the texts of the blocks.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many more diagnostics there were than are kept.
    pub fn diagnostics_omitted(&self) -> u64 {
        self.diagnostics_omitted
    }

    /// These parts in the neutral form of the message they are of.
    pub fn neutral<'a>(&'a self, message: &'a Message) -> Neutral<'a> {
        Neutral::new(self, message)
    }

    /// Takes a change.
    pub fn apply(&mut self, change: &Change<'_>) -> Result<(), Misfit> {
        match change {
            Change::Opened { part, choice, opening } => {
                let Err(position) = self.position(*part) else {
                    return Err(Misfit::PartThere { part: *part });
                };
                let placed = Placed {
                    address: *part,
                    choice: *choice,
                    part: Part::new(opening, self.limits.json_depth),
                };
                self.parts.insert(position, placed);
            }
            Change::Named { part, id, name } => {
                let call = self.find(*part, Part::open_call)?;
                (**id).clone_into(&mut call.id);
                (**name).clone_into(&mut call.name);
            }
            Change::Grew { part, at, text } => {
                let grown = self.find(*part, Some)?;
                let has = grown.growing().map(Text::len).ok_or(Misfit::WrongPart { part: *part })?;
                goes_on(*part, has, *at)?;
                grown.grow(text);
            }
            Change::ParamOpened { part, name } => {
                let params = self.find(*part, Part::open_params)?;
                params.push(Param {
                    name: name.to_string(),
                    value: Value::String(Text::new()),
                    closed: false,
                });
            }
            Change::ParamGrew { part, param, at, text } => match self.open_param(*part, *param)? {
                Param { value: Value::String(value), .. } => {
                    goes_on(*part, value.len(), *at)?;
                    value.push_str(text);
                }
                Param { .. } => return Err(Misfit::WrongPart { part: *part }),
            },
            Change::ParamClosed { part, param, value } => {
                let param = self.open_param(*part, *param)?;
                param.closed = true;
                if let Some(value) = value {
                    param.value = value.clone();
                }
            }
            Change::Signed { part, at, signature } => {
                let signed = self.find(*part, Part::open_signature)?;
                goes_on(*part, signed.len(), *at)?;
                signed.push_str(signature);
            }
            Change::Closed { part, end, input, until } => {
                let open =
                    self.find(*part, |found| Some(found).filter(|found| found.state() == State::Open))?;
                if *end == CallEnd::Malformed && !matches!(open, Part::Call(_)) {
                    return Err(Misfit::WrongPart { part: *part });
                }
                open.close(*end, input.as_ref(), *until);
            }
            Change::Noticed(diagnostic) if self.diagnostics.len() < self.limits.diagnostics => {
                self.diagnostics.push(diagnostic.clone());
            }
            Change::Noticed(_) => self.diagnostics_omitted += 1,
            Change::Omitted { count } => self.diagnostics_omitted += count,
            Change::Message(message::Change::Started(_)) => *self = Self::new(&self.limits),
            Change::Message(message::Change::Kept { owner: Owner::Block(block), key, keep }) => {
                self.extras.entry(*block).or_default().keep(key, keep);
            }
            Change::Message(_) => {}
        }
        Ok(())
    }

    /// Where a part is, or where it would be put. The newest is nearly always meant.
    fn position(&self, address: Address) -> Result<usize, usize> {
        match self.parts.last() {
            Some(last) if last.address == address => Ok(self.parts.len() - 1),
            Some(last) if last.address < address => Err(self.parts.len()),
            Some(_) | None => self.parts.binary_search_by_key(&address, |placed| placed.address),
        }
    }

    /// What `look` finds in the part at an address.
    fn find<'a, T>(
        &'a mut self,
        part: Address,
        look: impl FnOnce(&'a mut Part) -> Option<T>,
    ) -> Result<T, Misfit> {
        let position = self.position(part).map_err(|_| Misfit::NoPart { part })?;
        look(&mut self.parts[position].part).ok_or(Misfit::WrongPart { part })
    }

    fn open_param(&mut self, part: Address, param: usize) -> Result<&mut Param, Misfit> {
        let params = self.find(part, Part::open_params)?;
        params.get_mut(param).filter(|param| !param.closed).ok_or(Misfit::WrongPart { part })
    }
}

fn goes_on(part: Address, has: usize, at: usize) -> Result<(), Misfit> {
    if has == at { Ok(()) } else { Err(Misfit::Gap { part, has, at }) }
}
