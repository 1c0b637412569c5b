//! [`Rules`]: the markup of calls, prepared for searching.

use super::finder::Finder;
use super::grammar::{Clean, Closer, GrammarError, Markup, Rule};
use super::tag::Tag;
use super::template::{MAX_PART, Match, Name, Template};
use super::whitespace::skip_whitespace;

/// The markup of calls.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) calls: Tag,
    /// The parameters of all tools, followed by those of each tool that has a list of its own.
    parameters: Vec<Tag>,
    /// How each parameter of each tool is read, if both are out of lists.
    treatments: Vec<Treatment>,
    /// The number of treatments per tool.
    stride: usize,
    markup: Markup,
    /// Whether a value may be read again at a later closing marker.
    pub(super) repairs: bool,
    /// Finds the next byte that can start a marker between parameters.
    finder: Finder,
}

/// How one parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Treatment {
    pub(super) clean: Clean,
    pub(super) closer: Closer,
    pub(super) ampersands: bool,
}

/// Whether a tag opens a call or is only mentioned in prose.
pub(super) enum Mention {
    Call,
    Prose,
    Undecided,
}

impl Rules {
    pub(super) fn new(
        markup: &Markup,
        template: impl Fn(&'static str, &str) -> Result<Template, GrammarError>,
    ) -> Result<Self, GrammarError> {
        let tag = |open: &Template, close: &Template, names: &[String]| match names {
            [] => Tag::free(open.clone(), close.clone()),
            some => Tag::listed(open.clone(), close.clone(), some),
        };
        let call = template("call", &markup.call)?;
        let call_close = template("call_close", &markup.call_close)?;
        let open = template("parameter", &markup.parameter)?;
        let close = template("parameter_close", &markup.parameter_close)?;
        let mut parameters = vec![tag(&open, &close, &markup.parameters)];
        let own = markup.tool_parameters.values();
        parameters.extend(own.map(|names| Tag::listed(open.clone(), close.clone(), names)));
        let repaired =
            |rule: &Rule| matches!(rule.closer, Some(Closer::RepairedAtClose | Closer::RepairedAtEach));
        let mut rules = Self {
            calls: tag(&call, &call_close, &markup.tools),
            stride: parameters.iter().map(|tag| tag.names().len()).max().unwrap_or(0),
            parameters,
            treatments: Vec::new(),
            markup: markup.clone(),
            repairs: markup.rules.iter().any(repaired),
            finder: Finder::new([&call, &call_close, &open].map(Template::first_byte).to_vec()),
        };
        rules.treatments = rules.all_treatments();
        Ok(rules)
    }

    /// The treatments of all parameters of all tools, if the tools are out of a list.
    fn all_treatments(&self) -> Vec<Treatment> {
        let tools = self.calls.names();
        let mut treatments = vec![self.default_treatment(); tools.len() * self.stride];
        for rule in &self.markup.rules {
            for (tool, name) in tools.iter().enumerate().filter(|(_, name)| rule.is_for(name)) {
                let names = self.parameters[self.list(name)].names();
                for (param, _) in names.iter().enumerate().filter(|(_, name)| rule.parameters.contains(name))
                {
                    treatments[tool * self.stride + param].follow(rule);
                }
            }
        }
        treatments
    }

    fn default_treatment(&self) -> Treatment {
        Treatment { clean: self.markup.clean, closer: self.markup.closer, ampersands: false }
    }

    /// How a parameter of a tool is read.
    #[inline]
    pub(super) fn treatment(&self, text: &str, tool: Name, param: Name) -> Treatment {
        match (tool.number, param.number) {
            (Some(tool), Some(param)) => self.treatments[tool as usize * self.stride + param as usize],
            _ => self.treatment_of(tool.of(text), param.of(text)),
        }
    }

    /// How a parameter of a tool is read, by their names.
    pub(super) fn treatment_of(&self, tool: &str, param: &str) -> Treatment {
        let mut treatment = self.default_treatment();
        for rule in &self.markup.rules {
            if rule.is_for(tool) && rule.parameters.iter().any(|name| name == param) {
                treatment.follow(rule);
            }
        }
        treatment
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

    pub(super) fn half_closers(&self) -> bool {
        self.markup.half_closers
    }

    pub(super) fn nesting(&self) -> usize {
        self.markup.nesting
    }

    /// The closing markers of the wrapper; empty if there is no wrapper.
    pub(super) fn wrapper_close(&self) -> &[String] {
        self.markup.wrapper.as_ref().map_or(&[], |wrapper| &wrapper.close)
    }

    pub(super) fn wrapper_open(&self) -> &[String] {
        self.markup.wrapper.as_ref().map_or(&[], |wrapper| &wrapper.open)
    }

    /// Whether the opening marker that ends at `end` opens a call.
    ///
    /// The tag of a call is followed by another tag, of a parameter or its own closing one. A tag that is
    /// only mentioned is followed by prose or, in a list of tools, by the tag of the next tool.
    pub(super) fn opens(&self, text: &str, end: usize, finished: bool) -> Mention {
        if !self.markup.mentions || self.markup.tools.is_empty() {
            return Mention::Call;
        }
        let near = text.floor_char_boundary(end + MAX_PART + 1);
        let next = skip_whitespace(&text[..near], end);
        match text.as_bytes()[next..] {
            _ if next - end > MAX_PART => Mention::Prose,
            [] | [b'<'] if finished => Mention::Call,
            [] | [b'<'] => Mention::Undecided,
            [b'<', b'/', ..] => Mention::Call,
            [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                match self.calls.open.find(text, next, finished) {
                    Match::Full(_) if self.markup.nesting == 0 => Mention::Prose,
                    Match::Partial => Mention::Undecided,
                    Match::Full(_) | Match::No => Mention::Call,
                }
            }
            _ => Mention::Prose,
        }
    }
}

impl Treatment {
    /// Applies `rule`.
    fn follow(&mut self, rule: &Rule) {
        self.clean = rule.clean.unwrap_or(self.clean);
        self.closer = rule.closer.unwrap_or(self.closer);
        self.ampersands |= rule.ampersands;
    }
}

impl Rule {
    fn is_for(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|name| name == tool)
    }
}
