//! [`Finder`]: finds the next byte that can start a marker.

/// Finds the next one of a few bytes.
#[derive(Clone, Debug, Default)]
pub(super) enum Finder {
    #[default]
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Many(Box<[bool; 256]>),
}

impl Finder {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut table = Box::new([false; 256]);
        for byte in bytes {
            table[usize::from(*byte)] = true;
        }
        let distinct: Vec<_> = (0..=u8::MAX).filter(|byte| table[usize::from(*byte)]).collect();
        match distinct[..] {
            [] => Self::None,
            [a] => Self::One(a),
            [a, b] => Self::Two(a, b),
            [a, b, c] => Self::Three(a, b, c),
            _ => Self::Many(table),
        }
    }

    /// Whether it finds this byte.
    #[inline]
    pub(super) fn has(&self, byte: u8) -> bool {
        match self {
            Self::None => false,
            Self::One(a) => *a == byte,
            Self::Two(a, b) => [*a, *b].contains(&byte),
            Self::Three(a, b, c) => [*a, *b, *c].contains(&byte),
            Self::Many(table) => table[usize::from(byte)],
        }
    }

    /// The distance to the next of the bytes.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One(a) => memchr::memchr(*a, bytes),
            Self::Two(a, b) => memchr::memchr2(*a, *b, bytes),
            Self::Three(a, b, c) => memchr::memchr3(*a, *b, *c, bytes),
            Self::Many(table) => bytes.iter().position(|&byte| table[usize::from(byte)]),
        }
    }
}
