//! [`Change`]: what one piece changed.

/// What a piece changed in the blocks of a [`Parser`](super::Parser).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A block was opened.
    Opened {
        /// Its index.
        block: usize,
    },
    /// A text or thinking block grew.
    Grew {
        /// Its index.
        block: usize,
        /// Where the new part starts in [`Parser::text`](super::Parser::text).
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call was opened; it is empty.
    ParamOpened {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The value of a parameter grew.
    ParamGrew {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
        /// Where the new part starts in the parameter's text, see [`Call::params`](super::Call::params).
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// The value of a parameter is complete.
    ParamClosed {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The arguments of a call grew.
    ArgsGrew {
        /// The index of the call.
        block: usize,
        /// Where the new part starts in the JSON text of the arguments.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A block was closed.
    Closed {
        /// Its index.
        block: usize,
    },
}
