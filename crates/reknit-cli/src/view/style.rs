//! [`Style`]: what something is, and how that looks.

/// What a piece of the page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Heading,
    Strong,
    Code,
    /// Code on lines of its own.
    Fenced,
    /// The markers of Markdown.
    Mark,
    /// The marker of a list item.
    Bullet,
    Thinking,
    /// The name of a tool that is called.
    Call,
    /// The name of an argument.
    Label,
    /// Words of this program.
    Quiet,
    Good,
    Warning,
    Bad,
    /// A line of a diff, and the words in it that changed.
    Removed,
    RemovedWord,
    Added,
    AddedWord,
}

impl Style {
    /// A text in this style, with the style reset after it.
    pub(crate) fn paint(self, text: &str) -> String {
        format!("\x1b[{}m{text}\x1b[0m", self.parameters())
    }

    /// The parameters of the escape sequence that sets it. Only the sixteen colours, which users can choose.
    pub(super) fn parameters(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Heading => "0;1;35",
            Self::Strong => "0;1",
            Self::Code | Self::Fenced | Self::Bullet => "0;36",
            Self::Mark | Self::Quiet | Self::Label => "0;2",
            Self::Thinking => "0;2;3",
            Self::Call => "0;1;33",
            Self::Good => "0;32",
            Self::Warning => "0;33",
            Self::Bad => "0;1;31",
            Self::Removed => "0;31",
            Self::RemovedWord => "0;7;31",
            Self::Added => "0;32",
            Self::AddedWord => "0;7;32",
        }
    }
}
