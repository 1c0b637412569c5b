//! [`Limits`]: every bound of the engine in one place.

/// How much of a stream is accepted, and how deeply its JSON may be nested.
///
/// A limit is reached at a byte of the input, not at a call: everything before that byte is read however the
/// input was cut, everything after it is refused, and what was read stays available.
///
/// Start from the default and set the fields that should differ.
///
/// ```
/// use reknit::{Limits, Reply};
///
/// let mut limits = Limits::default();
/// limits.frame_bytes = 64 * 1024;
/// limits.json_depth = 32;
/// let reply = Reply::detect().with_limits(&limits);
/// # drop(reply);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The length of a frame, including its field names and line ends.
    pub frame_bytes: usize,
    /// The length of a whole reply.
    pub reply_bytes: u64,
    /// The number of values in the JSON of a whole reply, its frames included. Every `[`, `{` and `,` is counted
    /// as one: a value of one byte takes up to 128 bytes of memory.
    pub values: usize,
    /// How deeply arrays and objects may be nested in the arguments of a call and in a recording. In the other
    /// fields of a frame the limit is always 128; what is nested deeper is kept as its text.
    pub json_depth: usize,
    /// The number of blocks in all messages of a reply together. It also limits the number of choices in a
    /// message and the number of messages in a reply.
    pub blocks: usize,
    /// The number of diagnostics that a message keeps. Any further ones are only counted.
    pub diagnostics: usize,
    /// The length of a text that is searched for tool calls. It is never more than 512 MiB, whatever is set.
    pub text_bytes: usize,
    /// The length of a parameter of a call in a text, or of all its arguments if they are JSON.
    pub param_bytes: usize,
    /// The length of a file that is edited.
    pub file_bytes: u64,
}

/// Far more than any real reply needs, but together no more than 2 GB of memory.
impl Default for Limits {
    fn default() -> Self {
        Self {
            // An image arrives as one frame.
            frame_bytes: 64 << 20,
            reply_bytes: 256 << 20,
            values: 10 << 20,
            // The same as in `serde_json`, so that both accept the same values.
            json_depth: 128,
            blocks: 16_384,
            diagnostics: 1_000,
            text_bytes: 64 << 20,
            param_bytes: 16 << 20,
            // An edit needs the memory of its file.
            file_bytes: 4 << 30,
        }
    }
}
