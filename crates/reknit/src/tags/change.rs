//! [`Change`]: what one piece changed.

/// What a piece changed; what a range names is in [`Parser::text`](super::Parser::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A block has come.
    Opened {
        /// Its index.
        block: usize,
    },
    /// A text or thinking block has got longer.
    Grew {
        /// Its index.
        block: usize,
        /// Where in the text the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call has come, empty.
    ParamOpened {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// A parameter of a call has got longer.
    ParamGrew {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
        /// Where in the parameter's value the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call is whole.
    ParamClosed {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The JSON text of a call's arguments has got longer; see [`Call::args_text`](super::Call::args_text).
    ArgsGrew {
        /// The index of the call.
        block: usize,
        /// Where in that text the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A block is over.
    Closed {
        /// Its index.
        block: usize,
    },
}
