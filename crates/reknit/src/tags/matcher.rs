//! [`Matcher`]: a grammar made ready to be looked for in a text.

use super::channel;
use super::finder::Finder;
use super::grammar::{self, Calls, CodeRule, Grammar, GrammarError, Reasoning};
use super::prose::Place;
use super::rules::{Mention, Rules};
use super::template::{Found, Match, Template};
use super::tools::Tools;
use crate::limits::Limits;

/// A grammar's markers, sorted by where they are looked for.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    pub(super) grammar: Grammar,
    pub(super) tools: Option<Tools>,
    pub(super) limits: Limits,
    /// What may open something in text.
    in_text: Openers,
    /// The same inside a wrapper, which may also end there.
    in_wrapper: Openers,
    /// What may end thinking.
    in_thinking: Openers,
    rules: Option<Rules>,
    body: Option<grammar::Body>,
}

/// Openers, and a quick way to the next place where one may stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Openers {
    openers: Vec<Opener>,
    finder: Finder,
    /// The same, and to what may be code.
    code_finder: Finder,
}

#[derive(Clone, Debug)]
struct Opener {
    template: Template,
    leads: Leads,
}

/// What an opener leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    Thinking,
    ThinkingEnd,
    WrapperEnd,
    /// A wrapper with no call in sight yet.
    Wrapper,
    /// A call; whether its wrapper is in the marker.
    Markup {
        wrapper: bool,
    },
    /// A JSON value; whether its name is in the marker.
    Json {
        named: bool,
    },
    /// A JSON value without a marker, at the start of the text.
    Bare,
    Python,
    Gemma,
    /// The head of a message in a channel.
    Channel,
    /// The end of one.
    ChannelEnd,
}

impl Matcher {
    /// With an empty list of tools nothing can be called, and what looks like a call is text.
    pub(super) fn new(
        grammar: &Grammar,
        tools: Option<&Tools>,
        limits: Limits,
    ) -> Result<Self, GrammarError> {
        let template = |field: &'static str, source: &str| {
            Template::parse(source).map_err(|problem| GrammarError::Marker {
                grammar: grammar.name.clone(),
                field,
                problem,
            })
        };
        let literal =
            |field, source: &String, leads| Ok(Opener { template: template(field, source)?, leads });
        let mut calls: Vec<Opener> = Vec::new();
        let mut within: Vec<Opener> = Vec::new();
        let mut in_text = Vec::new();
        let mut in_thinking = Vec::new();
        let (mut rules, mut body) = (None, None);
        let callable = grammar.calls.as_ref().filter(|_| tools.is_none_or(|tools| !tools.is_empty()));
        match callable {
            None => {}
            Some(Calls::Markup(markup)) => {
                let made = Rules::new(markup, template)?;
                let call =
                    |template: Template, wrapper: bool| Opener { template, leads: Leads::Markup { wrapper } };
                if let Some(wrapper) = &markup.wrapper {
                    for open in &wrapper.open {
                        calls.push(call(template("wrapper.open", open)?.before(&made.calls.open), true));
                    }
                    for close in &wrapper.close {
                        within.push(literal("wrapper.close", close, Leads::WrapperEnd)?);
                    }
                    within.push(call(made.calls.open.clone(), false));
                }
                if markup.wrapper.as_ref().is_none_or(|wrapper| wrapper.optional) {
                    calls.push(call(made.calls.open.clone(), false));
                }
                rules = Some(made);
            }
            Some(Calls::Json(json)) => {
                body = Some(json.clone());
                for close in &json.close {
                    template("close", close)?;
                }
                let mut heads = Vec::new();
                for open in &json.open {
                    let named = open.contains("{name}");
                    heads.push(literal("open", open, Leads::Json { named })?);
                }
                if let Some(wrapper) = &json.wrapper {
                    for open in &wrapper.open {
                        calls.push(literal("wrapper.open", open, Leads::Wrapper)?);
                    }
                    for close in &wrapper.close {
                        within.push(literal("wrapper.close", close, Leads::WrapperEnd)?);
                    }
                    within.extend(heads.iter().cloned());
                }
                if json.wrapper.as_ref().is_none_or(|wrapper| wrapper.optional) {
                    calls.extend(heads);
                }
                if json.bare {
                    calls.push(literal("bare", &"{".to_owned(), Leads::Bare)?);
                }
            }
            Some(Calls::Python(python)) => {
                for open in &python.open {
                    calls.push(literal("open", open, Leads::Wrapper)?);
                }
                for close in &python.close {
                    within.push(literal("close", close, Leads::WrapperEnd)?);
                }
                calls.push(literal("open", &"[".to_owned(), Leads::Python)?);
            }
            Some(Calls::Gemma(gemma)) => {
                calls.push(literal("open", &gemma.open, Leads::Gemma)?);
                template("close", &gemma.close)?;
            }
            Some(Calls::Channels(_)) => {}
        }
        // Channels mark thinking too, so they are there also when nothing can be called.
        if let Some(Calls::Channels(_)) = &grammar.calls {
            for open in [channel::START, channel::CHANNEL] {
                calls.push(literal("open", &open.to_owned(), Leads::Channel)?);
            }
            for end in channel::ENDS.into_iter().chain([channel::MESSAGE]) {
                calls.push(literal("close", &end.to_owned(), Leads::ChannelEnd)?);
            }
            in_thinking.extend(calls.iter().cloned());
            body = Some(grammar::Body {
                close: channel::ENDS.map(str::to_owned).to_vec(),
                name_prefix: "functions.".to_owned(),
                ..grammar::Body::default()
            });
        }

        if let Some(Reasoning { open, close, ends_at_calls, .. }) = &grammar.reasoning {
            for open in open {
                in_text.push(literal("reasoning.open", open, Leads::Thinking)?);
            }
            in_thinking.push(literal("reasoning.close", close, Leads::ThinkingEnd)?);
            in_thinking.extend(in_text.iter().cloned());
            if *ends_at_calls {
                in_thinking.extend(calls.iter().filter(|opener| opener.leads != Leads::Bare).cloned());
            }
        }
        within.extend(in_text.iter().cloned());
        within.extend(calls.iter().cloned());
        in_text.extend(calls);
        let code = grammar.code == CodeRule::Prose;
        Ok(Self {
            in_text: Openers::new(in_text, code),
            in_wrapper: Openers::new(within, code),
            in_thinking: Openers::new(in_thinking, false),
            rules,
            body,
            grammar: grammar.clone(),
            tools: tools.cloned(),
            limits,
        })
    }

    /// Whether a tool of this name may be called.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.has(name))
    }

    fn openers(&self, place: Place) -> &Openers {
        match place {
            Place::Text => &self.in_text,
            Place::Wrapper => &self.in_wrapper,
            Place::Thinking => &self.in_thinking,
        }
    }

    /// How far ahead the next byte stands that may start an opener, or code.
    #[inline]
    pub(super) fn next(&self, place: Place, bytes: &[u8]) -> Option<usize> {
        self.openers(place).code_finder.find(bytes)
    }

    /// How far ahead the next byte stands that may start an opener.
    #[inline]
    pub(super) fn next_opener(&self, place: Place, bytes: &[u8]) -> Option<usize> {
        self.openers(place).finder.find(bytes)
    }

    /// Whether code is told from text there.
    pub(super) fn reads_code(&self, place: Place) -> bool {
        self.grammar.code == CodeRule::Prose && place != Place::Thinking
    }

    /// The opener that stands at `at`.
    pub(super) fn opener(&self, place: Place, text: &str, at: usize, over: bool) -> (Match<Found>, Leads) {
        let byte = text.as_bytes()[at];
        for opener in self.openers(place).openers.iter().filter(|opener| opener.template.first_byte() == byte)
        {
            match (opener.template.find(text, at, over), opener.leads) {
                (Match::No, _) => {}
                (Match::Full(found), leads @ Leads::Markup { .. }) => {
                    match self.rules().opens(text, found.end, over) {
                        Mention::Call => return (Match::Full(found), leads),
                        Mention::Undecided => return (Match::Partial, leads),
                        Mention::Prose => {}
                    }
                }
                found => return found,
            }
        }
        (Match::No, Leads::Thinking)
    }

    /// What closes the wrapper of calls.
    pub(super) fn wrapper_close(&self) -> Option<&str> {
        let close = match self.grammar.calls.as_ref()? {
            Calls::Markup(markup) => &markup.wrapper.as_ref()?.close,
            Calls::Json(body) => &body.wrapper.as_ref()?.close,
            Calls::Python(python) => &python.close,
            Calls::Gemma(_) | Calls::Channels(_) => return None,
        };
        close.first().map(String::as_str)
    }

    /// Whether there is nothing to call.
    pub(super) fn calls_nothing(&self) -> bool {
        self.tools.as_ref().is_some_and(Tools::is_empty)
    }

    /// Whether thinking is dropped.
    pub(super) fn hides_thinking(&self) -> bool {
        matches!(&self.grammar.calls, Some(Calls::Channels(channels)) if !channels.analysis)
    }

    pub(super) fn body(&self) -> &grammar::Body {
        self.body.as_ref().expect("only a grammar with JSON leads to it")
    }

    pub(super) fn rules(&self) -> &Rules {
        self.rules.as_ref().expect("only a grammar with markup leads to it")
    }
}

impl Openers {
    fn new(openers: Vec<Opener>, code: bool) -> Self {
        let mut first: Vec<_> = openers.iter().map(|opener| opener.template.first_byte()).collect();
        let finder = Finder::new(first.clone());
        first.extend(if code { &b"`~"[..] } else { b"" });
        Self { openers, finder, code_finder: Finder::new(first) }
    }
}
