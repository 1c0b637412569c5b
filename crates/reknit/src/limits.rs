//! [`Limits`]: every bound of the engine in one place.

/// How much of a stream is taken, and how deep.
///
/// A limit is reached at a byte of the input, never at a call: what lies before it is taken whatever the
/// pieces were, what lies behind it is refused, and what was read stays readable.
///
/// ```
/// use reknit::Limits;
///
/// let small = Limits { frame_bytes: 64 * 1024, ..Limits::default() };
/// assert!(small.frame_bytes < Limits::default().frame_bytes);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest single frame, with its field names and line ends. Images arrive as one frame.
    pub frame_bytes: usize,
    /// All bytes of one reply together.
    pub reply_bytes: u64,
    /// How deep arrays and objects may be nested in a JSON value; `serde_json` has the same bound.
    pub json_depth: usize,
    /// How many blocks all messages of one reply may have together; how many choices a message may have, and
    /// how many messages the reply.
    pub blocks: usize,
    /// How many diagnostics a message keeps; further ones are only counted.
    pub diagnostics: usize,
    /// How long a text may be in which calls are looked for; more than 512 MiB are never taken.
    pub text_bytes: usize,
    /// How long a parameter of a call in a text may be, or all its arguments if they are JSON.
    pub param_bytes: usize,
}

impl Limits {
    /// The limits of the streaming parser that the tag formats come from: a text of 1 MiB, parameters of
    /// 100 KiB.
    pub fn seed() -> Self {
        Self { text_bytes: 1 << 20, param_bytes: 100 << 10, ..Self::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes: 64 << 20,
            reply_bytes: 1 << 30,
            json_depth: 128,
            blocks: 16_384,
            diagnostics: 1_000,
            text_bytes: 64 << 20,
            param_bytes: 16 << 20,
        }
    }
}
