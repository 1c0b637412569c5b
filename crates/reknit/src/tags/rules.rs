//! [`Rules`]: the markup of calls, prepared for searching.

use super::finder::Finder;
use super::grammar::{Clean, Closer, GrammarError, Markup, Rule};
use super::markup::OpenCall;
use super::tag::Tag;
use super::template::{Found, Match, Name, Template, any_literal, literal, skip_short_whitespace};

/// The markup of calls.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) calls: Tag,
    /// How the tag of a parameter starts, whatever its name.
    parameter_start: String,
    /// The parameters of all tools, followed by those of each tool that has a list of its own.
    parameters: Vec<Tag>,
    pub(super) markup: Markup,
    /// Whether a value may be read again at a later closing marker.
    pub(super) repairs: bool,
    /// Finds the next byte that can start a marker between parameters.
    finder: Finder,
    /// Finds the next byte that can start a marker in a value.
    value_finder: Finder,
    /// The same, and the end of a line.
    line_finder: Finder,
    /// The opening markers of a wrapper, each followed by that of a call.
    wrapped: Vec<Template>,
}

/// How one parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Treatment {
    pub(super) clean: Clean,
    pub(super) closer: Closer,
    pub(super) ampersands: bool,
}

/// How far the line after an opening marker has been searched for what makes it a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Where the marker ends.
    end: usize,
    /// Everything before this has been searched.
    scan: usize,
}

impl Look {
    /// Searches the line after the marker that ends at `end`, from `start` on, for what decides whether the
    /// marker counts. `decide` says what a place that `finder` finds decides; it does not count if none does.
    pub(super) fn search(
        &mut self,
        text: &str,
        end: usize,
        start: usize,
        finder: &Finder,
        finished: bool,
        decide: impl Fn(usize) -> Option<Match<()>>,
    ) -> Match<()> {
        if self.end != end {
            *self = Self { end, scan: start };
        }
        self.scan = start.max(self.scan);
        while let Some(ahead) = finder.find(&text.as_bytes()[self.scan..]) {
            self.scan += ahead;
            if text.as_bytes()[self.scan] == b'\n' {
                return Match::No;
            }
            if let Some(decision) = decide(self.scan) {
                return decision;
            }
            self.scan = text.ceil_char_boundary(self.scan + 1);
        }
        self.scan = text.len();
        Match::Partial.at_end(finished)
    }
}

/// What a marker of a call means inside a value.
pub(super) enum Inside {
    /// A call that is part of the value begins; its marker ends here.
    Call(Found),
    /// It is only mentioned, and ends here.
    Mention(usize),
}

impl Rules {
    pub(super) fn new(
        markup: &Markup,
        template: impl Fn(&'static str, &str) -> Result<Template, GrammarError>,
        named: impl Fn(&'static str, &str) -> Result<Template, GrammarError>,
    ) -> Result<Self, GrammarError> {
        let tag = |open: &Template, close: &Template, names: &[String]| match names {
            [] => Tag::free(open.clone(), close.clone()),
            some => Tag::listed(open.clone(), close.clone(), some),
        };
        let call = named("call", &markup.call)?.with_tool_name();
        let call_close = template("call_close", &markup.call_close)?;
        let open = named("parameter", &markup.parameter)?;
        let close = template("parameter_close", &markup.parameter_close)?;
        let mut parameters = vec![tag(&open, &close, &markup.parameters)];
        let own = markup.tool_parameters.values();
        parameters.extend(own.map(|names| Tag::listed(open.clone(), close.clone(), names)));
        let calls = tag(&call, &call_close, &markup.tools);
        let mut bytes = [&call, &call_close, &open].map(Template::first_byte).to_vec();
        let mut wrapped = Vec::new();
        if let Some(wrapper) = &markup.wrapper {
            for marker in wrapper.open.iter().chain(&wrapper.close) {
                bytes.push(template("wrapper", marker)?.first_byte());
            }
            for marker in &wrapper.open {
                wrapped.push(template("wrapper.open", marker)?.followed_by(&calls.open));
            }
        }
        let finder = Finder::new(&bytes);
        bytes.push(close.first_byte());
        let value_finder = Finder::new(&bytes);
        bytes.push(b'\n');
        let repaired =
            |rule: &Rule| matches!(rule.closer, Some(Closer::RepairedAtClose | Closer::RepairedAtEach));
        Ok(Self {
            calls,
            parameter_start: start_of_tag(&markup.parameter).to_owned(),
            parameters,
            repairs: markup.rules.iter().any(repaired),
            markup: markup.clone(),
            finder,
            value_finder,
            line_finder: Finder::new(&bytes),
            wrapped,
        })
    }

    /// How a parameter of a tool is read.
    pub(super) fn treatment(&self, tool: &str, param: &str) -> Treatment {
        let Markup { clean, closer, .. } = self.markup;
        let mut treatment = Treatment { clean, closer, ampersands: false };
        for rule in &self.markup.rules {
            if rule.parameters.iter().any(|name| name == param) && rule.is_for(tool) {
                treatment.clean = rule.clean.unwrap_or(treatment.clean);
                treatment.closer = rule.closer.unwrap_or(treatment.closer);
                treatment.ampersands |= rule.ampersands;
            }
        }
        treatment
    }

    /// The parameters of a tool that are read again in this way.
    pub(super) fn repaired<'a>(&'a self, tool: &'a str, closer: Closer) -> impl Iterator<Item = &'a str> {
        let rules = self.markup.rules.iter().filter(move |rule| rule.closer == Some(closer));
        let names = rules.filter(move |rule| rule.is_for(tool)).flat_map(|rule| &rule.parameters);
        names.map(String::as_str).filter(move |name| self.treatment(tool, name).closer == closer)
    }

    /// The number of the list that has the parameters of this tool.
    #[inline]
    pub(super) fn list(&self, tool: &str) -> usize {
        if self.parameters.len() == 1 {
            return 0;
        }
        self.markup.tool_parameters.keys().position(|name| name == tool).map_or(0, |own| own + 1)
    }

    /// The parameters in this list.
    #[inline]
    pub(super) fn parameters(&self, list: usize) -> &Tag {
        &self.parameters[list]
    }

    /// The distance to the next byte that can start a marker between parameters.
    #[inline]
    pub(super) fn next(&self, bytes: &[u8]) -> Option<usize> {
        match bytes {
            // Usually a tag follows on the next line, and comparing two bytes is faster than starting a
            // search.
            [b'\n', b'<', ..] if self.finder.has(b'<') => Some(1),
            _ => self.finder.find(bytes),
        }
    }

    /// The closing markers of the wrapper; empty if there is no wrapper.
    pub(super) fn wrapper_close(&self) -> &[String] {
        self.markup.wrapper.as_ref().map_or(&[], |wrapper| &wrapper.close)
    }

    pub(super) fn wrapper_open(&self) -> &[String] {
        self.markup.wrapper.as_ref().map_or(&[], |wrapper| &wrapper.open)
    }

    /// Whether the grammar looks at what follows a marker. If not, as in the reproduced parsers, the first
    /// marker always counts.
    pub(super) fn looks_ahead(&self) -> bool {
        self.markup.mentions
    }

    /// The distance to the next byte that can start a marker in a value.
    #[inline]
    pub(super) fn next_in_value(&self, bytes: &[u8]) -> Option<usize> {
        self.value_finder.find(bytes)
    }

    /// The distance to the next byte that can start a marker, or to the end of the line.
    pub(super) fn next_on_line(&self, bytes: &[u8]) -> Option<usize> {
        self.line_finder.find(bytes)
    }

    /// Whether the opening marker `found` opens a call, and is not only mentioned: on the line of what follows
    /// it comes a parameter or its closing marker, or nothing follows at all.
    ///
    /// `look` says how far the line has been searched already, so that a long one is searched only once.
    pub(super) fn opens(&self, text: &str, found: &Found, finished: bool, look: &mut Look) -> Match<()> {
        if !self.looks_ahead() {
            return Match::Full(());
        }
        let Some(start) = skip_short_whitespace(text, found.end) else { return Match::No };
        let nothing = if finished { Match::Full(()) } else { Match::Partial };
        match text.as_bytes()[start..] {
            [] => return nothing,
            // The tag of a parameter that the tool does not have, or one with a mistake in it, is not prose.
            [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                match (
                    self.opener(text, start, finished),
                    literal(text, start, &self.parameter_start, finished),
                ) {
                    (Match::No, Match::Full(_)) => return Match::Full(()),
                    (Match::Partial, _) | (Match::No, Match::Partial) => return Match::Partial,
                    (Match::Full(()), _) | (Match::No, Match::No) => {}
                }
            }
            _ => {}
        }
        look.search(text, found.end, start, &self.line_finder, finished, |at| {
            match self.goes_on(text, at, found.name, finished) {
                Match::Full(()) => return Some(Match::Full(())),
                Match::Partial if !finished || at == start => return Some(nothing),
                Match::Partial | Match::No => {}
            }
            match self.opener(text, at, finished) {
                Match::Full(()) if self.markup.nesting == 0 => Some(Match::No),
                Match::No => None,
                begins => Some(begins),
            }
        })
    }

    /// Whether an opening marker of a call or of a wrapper is at `at`.
    fn opener(&self, text: &str, at: usize, finished: bool) -> Match<()> {
        let wrapper = any_literal(text, at, self.wrapper_open(), finished);
        match self.calls.open.find(text, at, finished).found().or(wrapper.found()) {
            Match::No if self.calls.open.head(text, at).is_some() => Match::Full(()),
            found => found,
        }
    }

    /// Whether the call of this name goes on at `at`, with a parameter or a closing marker. A marker that is
    /// cut by the end of the text is `Partial`, even if nothing follows.
    fn goes_on(&self, text: &str, at: usize, name: Name, finished: bool) -> Match<()> {
        let param = self.parameters[self.list(name.of(text))].open.find(text, at, false);
        let close = self.calls.closes(text, at, name);
        let wrapper = any_literal(text, at, self.wrapper_close(), finished);
        param.found().or(close.found()).or(wrapper.found())
    }

    /// Whether a call begins at `at`: its opening marker, and right after it a parameter or a closing marker.
    pub(super) fn begins(&self, text: &str, at: usize, finished: bool) -> Match<()> {
        let begins = |open: &Template| {
            open.find(text, at, finished).and_then(|found| self.is_followed(text, &found, finished))
        };
        self.wrapped.iter().chain([&self.calls.open]).map(begins).fold(Match::No, Match::or)
    }

    /// Whether a parameter or a closing marker comes right after the opening marker `found`.
    fn is_followed(&self, text: &str, found: &Found, finished: bool) -> Match<()> {
        let follows = match skip_short_whitespace(text, found.end) {
            None => Match::No,
            Some(next) if next == text.len() => Match::Partial,
            Some(next) => self.goes_on(text, next, found.name, finished),
        };
        follows.at_end(finished)
    }

    /// Whether `call` ends at `at` although its closing marker has not come: its wrapper closes, or the next
    /// call begins.
    pub(super) fn ends_call(&self, text: &str, at: usize, call: &OpenCall, finished: bool) -> Match<()> {
        if !self.looks_ahead() {
            return Match::No;
        }
        let wrapper = match call.in_wrapper {
            true => any_literal(text, at, self.wrapper_close(), finished).found(),
            false => Match::No,
        };
        // If calls can contain calls, the next one may be in this one.
        let next = if self.markup.nesting > 0 { Match::No } else { self.begins(text, at, finished) };
        wrapper.or(next)
    }

    /// What the opening marker of a call at `at` means in a value of `call`.
    ///
    /// A call that begins there has closing markers of its own, which belong to the value. If they contain the
    /// name, only a call of the same tool can have the same ones.
    pub(super) fn inside(&self, text: &str, at: usize, call: &OpenCall, finished: bool) -> Match<Inside> {
        match self.calls.open.find(text, at, finished) {
            Match::Full(found)
                if self.calls.closes_by_name() && found.name.of(text) != call.name.of(text) =>
            {
                Match::No
            }
            Match::Full(found) => match self.is_followed(text, &found, finished) {
                Match::No => Match::Full(Inside::Mention(found.end)),
                follows => follows.map(|()| Inside::Call(found)),
            },
            Match::Partial => Match::Partial,
            Match::No => {
                let head = self.calls.open.head(text, at);
                head.map_or(Match::No, |end| Match::Full(Inside::Mention(end)))
            }
        }
    }
}

/// The start of a tag up to its name, or to where an attribute follows: `<` of `<{name}>`, `<parameter` of
/// `<parameter={name}>`.
fn start_of_tag(marker: &str) -> &str {
    &marker[..marker.find(['{', '=', ' ', '>']).unwrap_or(marker.len())]
}

impl Rule {
    fn is_for(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|name| name == tool)
    }
}
