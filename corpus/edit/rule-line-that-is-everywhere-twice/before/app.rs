    /// A note.
    ///
    /// </div>
    ///
    /// # Examples
    ///
    /// ```rust
    /// use clap::{Command, arg};
    /// let m = Command::new("prog");
    /// ```
    fn new() {}
