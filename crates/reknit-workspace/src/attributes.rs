//! [`Attributes`]: who may do what with a file, besides its permissions.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::stamp::mode_of;
use crate::system;

/// Owner, group and extended attributes of a file. Access control lists and capabilities are such attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attributes {
    user: u32,
    group: u32,
    /// Names and values, the latter as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extended: Vec<(String, String)>,
}

/// The attribute with the access control list of a file.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Signatures of the content, which do not fit another one.
const OF_CONTENT: [&str; 2] = ["security.ima", "security.evm"];

/// Bits that grant the rights of the owner or the group to whoever runs the file.
const SPECIAL: u32 = 0o6000;

impl Attributes {
    pub(crate) fn of(file: &File, metadata: &fs::Metadata) -> io::Result<Self> {
        let mut extended = Vec::new();
        for name in system::attribute_names(file)? {
            if OF_CONTENT.contains(&name.as_str()) {
                continue;
            }
            if let Some(value) = system::attribute(file, &name)? {
                extended.push((name, hexadecimal(&value)));
            }
        }
        Ok(Self { user: metadata.uid(), group: metadata.gid(), extended })
    }

    /// Gives them and these permissions to a file, as far as this user may; returns what could not be kept.
    ///
    /// A file that could not get its owner does not get its special bits, and one that could not get its group
    /// grants that group no more than everybody.
    pub(crate) fn set(&self, file: &File, mode: u32) -> io::Result<Kept> {
        let mut kept = Kept::default();
        let own = system::metadata(file)?;
        if own.uid() != self.user {
            kept.owner = permitted(system::set_owner(file, Some(self.user), None))?;
        }
        if own.gid() != self.group {
            kept.group = permitted(system::set_owner(file, None, Some(self.group)))?;
        }
        let is_listed = self.extended.iter().any(|(name, _)| name == ACCESS_LIST);
        if !is_listed {
            // Inherited from the directory: it would grant more than the file that is replaced did.
            system::remove_attribute(file, ACCESS_LIST)?;
        }
        for (name, value) in &self.extended {
            if !set_extended(file, name, value)? {
                kept.lost.push(name.clone());
            }
        }
        let mut mode = mode;
        if !kept.is_owned() {
            mode &= !SPECIAL;
        }
        if !kept.group {
            mode = mode & !0o070 | (mode & (mode << 3) & 0o070);
        }
        // Last, because a change of owner clears the special bits, and a list changes the permissions.
        if mode_of(&system::metadata(file)?) != mode {
            system::set_mode(file, mode)?;
        }
        Ok(kept)
    }
}

/// The permissions of a file whose owner is not known: without its special bits.
pub(crate) fn without_owner(mode: u32) -> u32 {
    mode & !SPECIAL
}

/// What a file could keep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) owner: bool,
    pub(crate) group: bool,
    /// The extended attributes that it could not.
    pub(crate) lost: Vec<String>,
}

impl Kept {
    pub(crate) fn is_owned(&self) -> bool {
        self.owner && self.group
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self { owner: true, group: true, lost: Vec::new() }
    }
}

/// Whether the system permitted something.
fn permitted(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        // What cannot be expressed here: another user of a container, a file system without owners.
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::NOTSUP)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets an attribute; returns whether the system permitted it.
fn set_extended(file: &File, name: &str, value: &str) -> io::Result<bool> {
    let Some(value) = bytes(value) else { return Ok(false) };
    if system::attribute(file, name)?.as_ref() == Some(&value) {
        return Ok(true);
    }
    permitted(system::set_attribute(file, name, &value).map_err(io::Error::from))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let (pairs, []) = hexadecimal.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}
