//! The two structs of Arrow's C data interface, and how we hand them out.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

/// The names that capsules of the two must have.
pub(super) const SCHEMA_NAME: &CStr = c"arrow_schema";
pub(super) const ARRAY_NAME: &CStr = c"arrow_array";

const NULLABLE: i64 = 2;

/// The type of an array.
#[repr(C)]
pub(crate) struct ArrowSchema {
    pub(super) format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// An array.
#[repr(C)]
pub(crate) struct ArrowArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    n_children: i64,
    pub(super) buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    pub(super) dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

// SAFETY: what they point to belongs to them alone, and may be released by any thread.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArray {}

impl ArrowSchema {
    pub(super) fn new(format: &CStr, name: &str, children: Vec<Self>) -> Self {
        let held = Box::new(HeldSchema {
            format: format.to_owned(),
            name: CString::new(name).expect("our names have no zero byte"),
            children: children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect(),
        });
        let held = Box::into_raw(held);
        // SAFETY: it was just made, and nothing else refers to it.
        let HeldSchema { format, name, children } = unsafe { &mut *held };
        Self {
            format: format.as_ptr(),
            name: name.as_ptr(),
            metadata: ptr::null(),
            flags: NULLABLE,
            n_children: children.len() as i64,
            children: children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: held.cast(),
        }
    }

    /// Whether whoever made it has released it.
    pub(super) fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl ArrowArray {
    /// An array of these buffers; the first is the validity, and absent if there are no nulls.
    pub(super) fn new(
        length: usize,
        null_count: usize,
        buffers: Vec<Option<Buffer>>,
        children: Vec<Self>,
    ) -> Self {
        let held = Box::new(HeldArray {
            pointers: buffers
                .iter()
                .map(|buffer| buffer.as_ref().map_or(ptr::null(), Buffer::pointer))
                .collect(),
            buffers,
            children: children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect(),
        });
        let held = Box::into_raw(held);
        // SAFETY: it was just made, and nothing else refers to it.
        let HeldArray { buffers, pointers, children } = unsafe { &mut *held };
        Self {
            length: length as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: buffers.len() as i64,
            n_children: children.len() as i64,
            buffers: pointers.as_mut_ptr(),
            children: children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: held.cast(),
        }
    }

    /// Whether whoever made it has released it.
    pub(super) fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

/// What nobody has taken is released.
impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is not released yet, and this is the only reference.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is not released yet, and this is the only reference.
            unsafe { release(self) };
        }
    }
}

/// The values of a buffer.
pub(super) enum Buffer {
    Bytes(Vec<u8>),
    Numbers(Vec<i64>),
}

impl Buffer {
    fn pointer(&self) -> *const c_void {
        match self {
            Self::Bytes(bytes) => bytes.as_ptr().cast(),
            Self::Numbers(numbers) => numbers.as_ptr().cast(),
        }
    }
}

/// What a schema of ours points to.
struct HeldSchema {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// What an array of ours points to.
struct HeldArray {
    buffers: Vec<Option<Buffer>>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// Frees a schema that [`ArrowSchema::new`] made, wherever it was moved to.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller passes a schema of ours that is not released. Its children are released by their own
    // `Drop`, unless somebody has taken them.
    unsafe {
        let schema = &mut *schema;
        let held = Box::from_raw(schema.private_data.cast::<HeldSchema>());
        held.children.iter().for_each(|child| drop(Box::from_raw(*child)));
        schema.release = None;
        schema.private_data = ptr::null_mut();
    }
}

/// Frees an array that [`ArrowArray::new`] made, wherever it was moved to.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as above.
    unsafe {
        let array = &mut *array;
        let held = Box::from_raw(array.private_data.cast::<HeldArray>());
        held.children.iter().for_each(|child| drop(Box::from_raw(*child)));
        array.release = None;
        array.private_data = ptr::null_mut();
    }
}
