//! [`Output`]: changes and items as one JSON text.

use reknit::event::Slot;
use reknit::message::Change;
use serde::Serialize;

/// How the values of an output are separated.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// The elements of a JSON array.
    Array,
    /// Lines of JSON.
    Lines,
}

/// Whether growth of one block becomes one change.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Join {
    Growth,
    Nothing,
}

/// Values that are written one after the other.
pub(crate) struct Output {
    text: Vec<u8>,
    form: Form,
    /// What the end of the text may still be joined with: the kind of growth and its block.
    growing: Option<(&'static str, Slot)>,
}

impl Output {
    pub(crate) fn new(form: Form) -> Self {
        let text = if form == Form::Array { b"[".to_vec() } else { Vec::new() };
        Self { text, form, growing: None }
    }

    /// Writes a value.
    pub(crate) fn write(&mut self, value: &impl Serialize) {
        self.separate();
        self.growing = None;
        self.append(value);
    }

    /// Writes a value that is JSON already.
    pub(crate) fn write_json(&mut self, value: &str) {
        self.separate();
        self.growing = None;
        self.text.extend_from_slice(value.as_bytes());
    }

    /// Writes a change; growth of the block that grew last becomes part of the change before it.
    pub(crate) fn write_change(&mut self, change: &Change<'_>, join: Join) {
        match change {
            Change::Grew { block, text, .. } if join == Join::Growth => {
                if !self.grow("grew", *block, text, "}}") {
                    self.write(change);
                    self.growing = Some(("grew", *block));
                }
            }
            _ => self.write(change),
        }
    }

    /// Writes more text of a block, as an item of this kind or as part of the item before it.
    pub(crate) fn write_growth(&mut self, kind: &'static str, block: Slot, text: &str) {
        #[derive(Serialize)]
        struct Growth<'a> {
            r#type: &'static str,
            block: Slot,
            text: &'a str,
        }
        if !self.grow(kind, block, text, "}") {
            self.write(&Growth { r#type: kind, block, text });
            self.growing = Some((kind, block));
        }
    }

    /// Adds `text` to the value that was written last, whose last member is its text, if it is this block's.
    fn grow(&mut self, kind: &'static str, block: Slot, text: &str, closing: &str) -> bool {
        if self.growing != Some((kind, block)) {
            return false;
        }
        // The quote that ends the text, and what closes the value.
        self.text.truncate(self.text.len() - closing.len() - 1);
        let end = self.text.len();
        self.append(&text);
        self.text.remove(end);
        self.text.extend_from_slice(closing.as_bytes());
        true
    }

    pub(crate) fn finish(mut self) -> String {
        match self.form {
            Form::Array => self.text.push(b']'),
            Form::Lines if !self.text.is_empty() => self.text.push(b'\n'),
            Form::Lines => {}
        }
        String::from_utf8(self.text).expect("JSON is text")
    }

    fn separate(&mut self) {
        match self.form {
            Form::Array if self.text.len() > 1 => self.text.push(b','),
            Form::Lines if !self.text.is_empty() => self.text.push(b'\n'),
            Form::Array | Form::Lines => {}
        }
    }

    fn append(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.text, value).expect("the engine's values are JSON");
    }
}
