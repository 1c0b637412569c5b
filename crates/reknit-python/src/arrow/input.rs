//! [`Cells`]: the bytes in a binary column of somebody else's.

use std::ffi::CStr;
use std::slice;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use super::c_data::{ARRAY_NAME, ArrowArray, ArrowSchema, SCHEMA_NAME};

/// The cells of a column. It borrows from capsules, which have to outlive it.
pub(super) struct Cells<'a> {
    length: usize,
    offset: usize,
    validity: Option<&'a [u8]>,
    layout: Layout<'a>,
}

enum Layout<'a> {
    Offsets { ends: &'a [i32], bytes: *const u8 },
    LargeOffsets { ends: &'a [i64], bytes: *const u8 },
    Views { views: &'a [[u8; 16]], bytes: &'a [*const u8] },
}

// SAFETY: nobody writes to the buffers of an Arrow array.
unsafe impl Send for Cells<'_> {}
// SAFETY: as above.
unsafe impl Sync for Cells<'_> {}

/// The views of short values have the value itself; of longer ones, where it is.
const SHORT: usize = 12;

impl<'a> Cells<'a> {
    pub(super) fn new(schema: &'a Bound<'_, PyCapsule>, array: &'a Bound<'_, PyCapsule>) -> PyResult<Self> {
        let schema = schema.pointer_checked(Some(SCHEMA_NAME))?.cast::<ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY_NAME))?.cast::<ArrowArray>();
        // SAFETY: capsules with these names point to these structs, and live for `'a`.
        let (schema, array) = unsafe { (schema.as_ref(), array.as_ref()) };
        if schema.is_released() || array.is_released() {
            return Err(PyValueError::new_err("the column was given to somebody else already"));
        }
        // SAFETY: the format of a schema that is not released is a text.
        let format = unsafe { CStr::from_ptr(schema.format) };
        let size = |number: i64| {
            usize::try_from(number).map_err(|_| PyValueError::new_err("the column has a negative length"))
        };
        let (length, offset, buffers) = (size(array.length)?, size(array.offset)?, size(array.n_buffers)?);
        let end = offset + length;
        // SAFETY: an array that is not released has as many buffers as it says.
        let buffers = unsafe { slice_of(array.buffers.cast::<*const u8>(), buffers) };
        let validity = buffers.first().copied().filter(|bits| !bits.is_null() && array.null_count != 0);
        let validity = validity.map(|bits| {
            // SAFETY: a validity buffer has a bit for each row.
            unsafe { slice_of(bits, end.div_ceil(8)) }
        });
        let layout = match (format.to_bytes(), buffers) {
            (b"z" | b"u", [_, ends, bytes]) => {
                // SAFETY: columns of these formats have an offset for each row and one more.
                Layout::Offsets { ends: unsafe { slice_of(ends.cast(), end + 1) }, bytes: *bytes }
            }
            (b"Z" | b"U", [_, ends, bytes]) => {
                // SAFETY: as above.
                Layout::LargeOffsets { ends: unsafe { slice_of(ends.cast(), end + 1) }, bytes: *bytes }
            }
            (b"vz" | b"vu", [_, views, bytes @ .., _lengths]) => {
                // SAFETY: columns of these formats have a view of 16 bytes for each row.
                Layout::Views { views: unsafe { slice_of(views.cast(), end) }, bytes }
            }
            (other, _) => {
                let format = String::from_utf8_lossy(other);
                let hint = "cast it to pyarrow.large_binary() first";
                return Err(PyTypeError::new_err(format!(
                    "the column must be binary or string, but its Arrow format is `{format}`\nhint: {hint}"
                )));
            }
        };
        Ok(Self { length, offset, validity, layout })
    }

    /// The bytes of each row; `None` for null.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        (self.offset..self.offset + self.length).map(|row| self.is_valid(row).then(|| self.bytes(row)))
    }

    fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    fn bytes(&self, row: usize) -> &'a [u8] {
        // SAFETY: offsets and views lead to bytes of their buffers, which live for `'a`.
        unsafe {
            match &self.layout {
                Layout::Offsets { ends, bytes } => between(*bytes, ends[row].into(), ends[row + 1].into()),
                Layout::LargeOffsets { ends, bytes } => between(*bytes, ends[row], ends[row + 1]),
                Layout::Views { views, bytes } => {
                    let view: &'a [u8; 16] = &views[row];
                    let number =
                        |at: usize| i32::from_ne_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
                    let length = usize::try_from(number(0)).unwrap_or(0);
                    match length {
                        ..=SHORT => &view[4..4 + length],
                        _ => {
                            let start = i64::from(number(12));
                            let buffer = bytes[usize::try_from(number(8)).unwrap_or(usize::MAX)];
                            between(buffer, start, start + length as i64)
                        }
                    }
                }
            }
        }
    }
}

/// The bytes between two offsets.
///
/// # Safety
///
/// The buffer must have bytes up to `end`, which live for `'a`.
unsafe fn between<'a>(buffer: *const u8, start: i64, end: i64) -> &'a [u8] {
    match (usize::try_from(start), usize::try_from(end)) {
        // SAFETY: the caller's promise.
        (Ok(start), Ok(end)) if start < end => unsafe {
            slice::from_raw_parts(buffer.add(start), end - start)
        },
        _ => &[],
    }
}

/// `length` values from `first` on; none if there is no buffer.
///
/// # Safety
///
/// If `first` is not null, that many values must be there, and live for `'a`.
unsafe fn slice_of<'a, T>(first: *const T, length: usize) -> &'a [T] {
    match first.is_null() {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { slice::from_raw_parts(first, length) },
    }
}
