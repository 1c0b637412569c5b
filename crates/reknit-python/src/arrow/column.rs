//! Columns that are filled row by row.

use std::ffi::CStr;

use super::c_data::{ArrowArray, ArrowSchema, Buffer};

/// A column that is complete.
pub(crate) struct Column {
    name: &'static str,
    format: &'static CStr,
    validity: Validity,
    buffers: Vec<Buffer>,
    children: Vec<Column>,
}

impl Column {
    pub(super) fn export(self) -> (ArrowSchema, ArrowArray) {
        let (schemas, arrays) = self.children.into_iter().map(Self::export).unzip();
        let Validity { bits, length, nulls } = self.validity;
        let validity = (nulls > 0).then_some(Buffer::Bytes(bits));
        let buffers = [validity].into_iter().chain(self.buffers.into_iter().map(Some)).collect();
        (ArrowSchema::new(self.format, self.name, schemas), ArrowArray::new(length, nulls, buffers, arrays))
    }
}

/// Which rows have a value.
#[derive(Default)]
pub(super) struct Validity {
    bits: Vec<u8>,
    length: usize,
    nulls: usize,
}

impl Validity {
    fn push(&mut self, is_valid: bool) {
        if self.length.is_multiple_of(8) {
            self.bits.push(0);
        }
        if is_valid {
            self.bits[self.length / 8] |= 1 << (self.length % 8);
        } else {
            self.nulls += 1;
        }
        self.length += 1;
    }
}

/// Texts.
pub(super) struct Texts {
    validity: Validity,
    ends: Vec<i64>,
    bytes: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { validity: Validity::default(), ends: vec![0], bytes: Vec::new() }
    }
}

impl Texts {
    pub(super) fn push(&mut self, text: Option<&str>) {
        self.push_pieces(text.map(|text| [text]));
    }

    /// A text that is in pieces.
    pub(super) fn push_pieces<'a>(&mut self, pieces: Option<impl IntoIterator<Item = &'a str>>) {
        self.validity.push(pieces.is_some());
        for piece in pieces.into_iter().flatten() {
            self.bytes.extend_from_slice(piece.as_bytes());
        }
        self.ends.push(self.bytes.len() as i64);
    }

    pub(super) fn finish(self, name: &'static str) -> Column {
        let buffers = vec![Buffer::Numbers(self.ends), Buffer::Bytes(self.bytes)];
        Column { name, format: c"U", validity: self.validity, buffers, children: Vec::new() }
    }
}

/// Numbers.
#[derive(Default)]
pub(super) struct Numbers {
    validity: Validity,
    numbers: Vec<i64>,
}

impl Numbers {
    pub(super) fn push(&mut self, number: Option<u64>) {
        let number = number.and_then(|number| i64::try_from(number).ok());
        self.validity.push(number.is_some());
        self.numbers.push(number.unwrap_or(0));
    }

    pub(super) fn finish(self, name: &'static str) -> Column {
        let buffers = vec![Buffer::Numbers(self.numbers)];
        Column { name, format: c"l", validity: self.validity, buffers, children: Vec::new() }
    }
}

/// Rows of several fields, which have as many rows.
#[derive(Default)]
pub(super) struct Structs {
    validity: Validity,
}

impl Structs {
    pub(super) fn push(&mut self, is_valid: bool) {
        self.validity.push(is_valid);
    }

    pub(super) fn finish(self, name: &'static str, fields: Vec<Column>) -> Column {
        Column { name, format: c"+s", validity: self.validity, buffers: Vec::new(), children: fields }
    }
}

/// Lists of items, which another column has.
pub(super) struct Lists {
    validity: Validity,
    ends: Vec<i64>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { validity: Validity::default(), ends: vec![0] }
    }
}

impl Lists {
    /// A list of so many items; `None` for no list.
    pub(super) fn push(&mut self, items: Option<usize>) {
        self.validity.push(items.is_some());
        let end = self.ends.last().copied().unwrap_or(0);
        self.ends.push(end + items.unwrap_or(0) as i64);
    }

    pub(super) fn finish(self, name: &'static str, items: Column) -> Column {
        let buffers = vec![Buffer::Numbers(self.ends)];
        Column { name, format: c"+L", validity: self.validity, buffers, children: vec![items] }
    }
}
