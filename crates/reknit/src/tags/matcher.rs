//! [`Matcher`]: a grammar, prepared for searching.

use std::ops::Range;

use super::channel;
use super::finder::Finder;
use super::grammar::{self, Calls, CodeRule, Grammar, GrammarError, Reasoning};
use super::mention::{First, Followers};
use super::prose::Place;
use super::rules::{Look, Rules};
use super::template::{Found, Match, Template, skip_short_whitespace};
use super::tools::{Tools, Types};

/// The markers of a grammar, sorted by where they can occur.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    pub(super) grammar: Grammar,
    pub(super) tools: Option<Tools>,
    /// Markers that can open something in text.
    in_text: Openers,
    /// The same inside a wrapper, and the markers that end the wrapper.
    in_wrapper: Openers,
    /// Markers that can end thinking.
    in_thinking: Openers,
    rules: Option<Rules>,
    body: Option<grammar::Body>,
    /// What follows the marker of a call whose name is in it, if it is not only mentioned.
    after_named: Option<Followers>,
    /// What follows the opening marker of a wrapper, if it is not only mentioned.
    after_wrapper: Option<Followers>,
}

/// Markers, and fast ways to find the next byte at which one can start.
#[derive(Clone, Debug, Default)]
pub(super) struct Openers {
    openers: Vec<Opener>,
    finder: Finder,
    /// Also finds what may start code in Markdown.
    code_finder: Finder,
}

#[derive(Clone, Debug)]
struct Opener {
    template: Template,
    kind: OpenerKind,
}

/// What a marker opens, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenerKind {
    Thinking,
    ThinkingEnd,
    WrapperEnd,
    /// The end of a call that is over already.
    CallEnd,
    /// A wrapper that is not followed by a call yet.
    Wrapper,
    /// A call; `wrapper` if the marker includes the wrapper around it.
    Markup {
        wrapper: bool,
    },
    /// A call, or only its arguments, as a value in JSON or in Gemma's notation; `named` if the marker includes
    /// the name of the tool.
    Json {
        named: bool,
    },
    /// A JSON value without a marker, at the start of the text.
    Bare,
    Python,
    /// The header of a message in a channel.
    Channel,
    /// The end of such a message.
    ChannelEnd,
}

impl Matcher {
    /// Whether values may be read again when more of the text has come.
    pub(super) fn rereads_values(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.repairs)
    }

    /// With an empty list of tools nothing can be called, and what looks like a call is text.
    pub(super) fn new(grammar: &Grammar, tools: Option<&Tools>) -> Result<Self, GrammarError> {
        let template = |field: &'static str, source: &str| {
            Template::parse(source).map_err(|problem| wrong_marker(grammar, field, problem))
        };
        // A name is where a call needs one, and nowhere else.
        let named = |field, source: &str| {
            let template = template(field, source)?;
            match template.has_name() {
                true => Ok(template),
                false => Err(wrong_marker(grammar, field, format!("`{source}` does not contain `{{name}}`"))),
            }
        };
        let unnamed = |field, source: &str| {
            let template = template(field, source)?;
            match template.has_name() {
                true => Err(wrong_marker(grammar, field, format!("`{source}` cannot contain `{{name}}`"))),
                false => Ok(template),
            }
        };
        let literals = |field, markers: &[String], kind| -> Result<Vec<Opener>, GrammarError> {
            markers.iter().map(|marker| Ok(Opener { template: unnamed(field, marker)?, kind })).collect()
        };
        let mut calls: Vec<Opener> = Vec::new();
        let mut within: Vec<Opener> = Vec::new();
        let mut in_text = Vec::new();
        let mut in_thinking = Vec::new();
        let (mut rules, mut body) = (None, None);
        let (mut after_named, mut after_wrapper) = (None, None);
        let callable = grammar.calls.as_ref().filter(|_| tools.is_none_or(|tools| !tools.is_empty()));
        match callable {
            None => {}
            Some(Calls::Markup(markup)) => {
                let made = Rules::new(markup, template, named)?;
                let call = |template: Template, wrapper: bool| Opener {
                    template,
                    kind: OpenerKind::Markup { wrapper },
                };
                if let Some(wrapper) = &markup.wrapper {
                    for open in &wrapper.open {
                        calls.push(call(unnamed("wrapper.open", open)?.followed_by(&made.calls.open), true));
                    }
                    calls.extend(literals("wrapper.close", &wrapper.close, OpenerKind::WrapperEnd)?);
                    within.push(call(made.calls.open.clone(), false));
                }
                if markup.wrapper.as_ref().is_none_or(|wrapper| wrapper.optional) {
                    calls.push(call(made.calls.open.clone(), false));
                }
                rules = Some(made);
            }
            Some(Calls::Json(json)) => {
                body = Some(json.clone());
                calls.extend(literals("close", &json.close, OpenerKind::CallEnd)?);
                let mut heads = Vec::new();
                for open in &json.open {
                    let template = template("open", open)?.with_tool_name();
                    let named = template.has_name();
                    heads.push(Opener { template, kind: OpenerKind::Json { named } });
                }
                let starts: Vec<_> = heads.iter().map(|head| head.template.start().to_owned()).collect();
                let object = First::Object { before: json.before.clone() };
                after_named = Some(Followers::new(object, json.close.clone(), starts.clone()));
                if let Some(wrapper) = &json.wrapper {
                    let markers = [starts, wrapper.close.clone()].concat();
                    after_wrapper = Some(Followers::new(First::Marker, markers, wrapper.open.clone()));
                    calls.extend(literals("wrapper.open", &wrapper.open, OpenerKind::Wrapper)?);
                    calls.extend(literals("wrapper.close", &wrapper.close, OpenerKind::WrapperEnd)?);
                    within.extend(heads.iter().cloned());
                }
                if json.wrapper.as_ref().is_none_or(|wrapper| wrapper.optional) {
                    calls.extend(heads);
                }
                if json.bare {
                    calls.extend(literals("bare", &["{".to_owned()], OpenerKind::Bare)?);
                }
            }
            Some(Calls::Python(python)) => {
                let list = ["[".to_owned()];
                let markers = [&list[..], &python.close].concat();
                after_wrapper = Some(Followers::new(First::Marker, markers, python.open.clone()));
                calls.extend(literals("open", &python.open, OpenerKind::Wrapper)?);
                within.extend(literals("close", &python.close, OpenerKind::WrapperEnd)?);
                calls.extend(literals("open", &list, OpenerKind::Python)?);
            }
            Some(Calls::Gemma(gemma)) => {
                let template = named("open", &gemma.open)?.with_tool_name();
                unnamed("close", &gemma.close)?;
                let starts = vec![template.start().to_owned()];
                let key = First::Key { quote: gemma.quote.clone() };
                after_named = Some(Followers::new(key, vec![gemma.close.clone()], starts));
                calls.push(Opener { template, kind: OpenerKind::Json { named: true } });
                unnamed("quote", &gemma.quote)?;
                body = Some(grammar::Body { close: vec![gemma.close.clone()], ..grammar::Body::default() });
            }
            Some(Calls::Channels(_)) => {}
        }
        // Channels also mark thinking, so their markers are needed even if nothing can be called.
        if let Some(Calls::Channels(_)) = &grammar.calls {
            let [start, channel, message] =
                [channel::START, channel::CHANNEL, channel::MESSAGE].map(str::to_owned);
            let ends = channel::ENDS.map(str::to_owned);
            calls.extend(literals("open", &[start, channel], OpenerKind::Channel)?);
            calls.extend(literals("close", &ends, OpenerKind::ChannelEnd)?);
            calls.extend(literals("close", &[message], OpenerKind::ChannelEnd)?);
            in_thinking.extend(calls.iter().cloned());
            body = Some(grammar::Body {
                close: ends.to_vec(),
                name_prefix: "functions.".to_owned(),
                ..grammar::Body::default()
            });
        }

        if let Some(Reasoning { open, close, ends_at_calls, .. }) = &grammar.reasoning {
            in_text = literals("reasoning.open", open, OpenerKind::Thinking)?;
            let end = literals("reasoning.close", std::slice::from_ref(close), OpenerKind::ThinkingEnd)?;
            in_thinking.extend(end.iter().chain(&in_text).cloned());
            if *ends_at_calls {
                // Its closing marker may come after the call.
                in_text.extend(end);
                let ends = |opener: &&Opener| {
                    !matches!(opener.kind, OpenerKind::Bare | OpenerKind::WrapperEnd | OpenerKind::CallEnd)
                };
                in_thinking.extend(calls.iter().filter(ends).cloned());
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
            after_named,
            after_wrapper,
            grammar: grammar.clone(),
            tools: tools.cloned(),
        })
    }

    /// Whether a tool of this name may be called.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.has(name))
    }

    /// The types of a parameter, if tools are given and one has it.
    pub(super) fn types(&self, tool: &str, param: &str) -> Option<Types> {
        self.tools.as_ref()?.types(tool, param)
    }

    fn openers(&self, place: Place) -> &Openers {
        match place {
            Place::Text => &self.in_text,
            Place::Wrapper => &self.in_wrapper,
            Place::Thinking => &self.in_thinking,
        }
    }

    /// The distance to the next byte that can start a marker or code.
    #[inline]
    pub(super) fn next_opener_or_code(&self, place: Place, bytes: &[u8]) -> Option<usize> {
        self.openers(place).code_finder.find(bytes)
    }

    /// The distance to the next byte that can start a marker.
    #[inline]
    pub(super) fn next_opener(&self, place: Place, bytes: &[u8]) -> Option<usize> {
        self.openers(place).finder.find(bytes)
    }

    /// Whether code in Markdown is recognised there.
    pub(super) fn recognises_code(&self, place: Place) -> bool {
        self.grammar.code == CodeRule::Prose && place != Place::Thinking
    }

    /// The marker at `at`. `finished` says that nothing follows the text, and `look` remembers how far was
    /// looked ahead.
    pub(super) fn opener(
        &self,
        place: Place,
        text: &str,
        at: usize,
        finished: bool,
        look: &mut Look,
    ) -> Match<(Found, OpenerKind)> {
        let byte = text.as_bytes()[at];
        let openers = self.openers(place).openers.iter();
        for opener in openers.filter(|opener| opener.template.first_byte() == byte) {
            let kind = opener.kind;
            let found = match opener.template.find(text, at, finished) {
                Match::Full(found) => found,
                Match::Partial => return Match::Partial,
                Match::No => continue,
            };
            let mut follows = |followers: &Option<Followers>| match followers {
                Some(followers) => followers.follow(text, found.end, finished, look),
                None => Match::Full(()),
            };
            let counts = match kind {
                OpenerKind::Markup { .. } => self.rules().opens(text, &found, finished, look),
                // The arguments follow a name that no marker ends, or nothing at all.
                OpenerKind::Json { named: true } if opener.template.ends_with_name() => {
                    match is_next(text, found.end, b"{") {
                        Match::Partial if finished => Match::Full(()),
                        next => next,
                    }
                }
                // In a wrapper nothing is only mentioned.
                OpenerKind::Json { named: true } if place != Place::Wrapper => follows(&self.after_named),
                OpenerKind::Wrapper => follows(&self.after_wrapper),
                _ => Match::Full(()),
            };
            if counts != Match::No {
                return counts.map(|()| (found, kind));
            }
        }
        Match::No
    }

    /// What has come of the name of a call at `at`, if the text ends in its opening marker.
    pub(super) fn begun(&self, place: Place, text: &str, at: usize) -> Option<Range<usize>> {
        let byte = text.as_bytes()[at];
        let openers =
            self.openers(place).openers.iter().filter(|opener| opener.template.first_byte() == byte);
        let calls = openers.filter(|opener| {
            matches!(opener.kind, OpenerKind::Markup { .. } | OpenerKind::Json { named: true })
        });
        let name = calls.into_iter().find_map(|opener| opener.template.begun(text, at))?;
        Some(self.body.as_ref().map_or(name.clone(), |body| body.bare_name_so_far(text, name)))
    }

    /// Whether the text ends after the opening marker of a wrapper, which ends at `end`, or in the next marker.
    pub(super) fn is_cut_wrapper(&self, text: &str, end: usize) -> bool {
        self.after_wrapper.as_ref().is_some_and(|followers| followers.is_cut(text, end))
    }

    /// Whether the parameters of calls have markers of their own.
    pub(super) fn has_markup(&self) -> bool {
        self.rules.is_some()
    }

    /// The marker that closes the wrapper of calls.
    pub(super) fn wrapper_close(&self) -> Option<&str> {
        let close = match self.grammar.calls.as_ref()? {
            Calls::Markup(markup) => &markup.wrapper.as_ref()?.close,
            Calls::Json(body) => &body.wrapper.as_ref()?.close,
            Calls::Python(python) => &python.close,
            Calls::Gemma(_) | Calls::Channels(_) => return None,
        };
        close.first().map(String::as_str)
    }

    /// Whether the list of tools is empty.
    pub(super) fn has_no_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(Tools::is_empty)
    }

    /// Whether thinking is dropped.
    pub(super) fn hides_thinking(&self) -> bool {
        matches!(&self.grammar.calls, Some(Calls::Channels(channels)) if !channels.analysis)
    }

    pub(super) fn body(&self) -> &grammar::Body {
        self.body.as_ref().expect("only a grammar with JSON kind to it")
    }

    pub(super) fn rules(&self) -> &Rules {
        self.rules.as_ref().expect("only a grammar with markup kind to it")
    }
}

fn wrong_marker(grammar: &Grammar, field: &'static str, problem: String) -> GrammarError {
    GrammarError::Marker { grammar: grammar.name.clone(), field, problem }
}

/// Whether one of these bytes follows what ends at `end`, after whitespace. If nothing does, it is `Partial`,
/// even if nothing follows the text.
pub(super) fn is_next(text: &str, end: usize, bytes: &[u8]) -> Match<()> {
    let Some(next) = skip_short_whitespace(text, end) else { return Match::No };
    match text.as_bytes().get(next) {
        Some(byte) if bytes.contains(byte) => Match::Full(()),
        Some(_) => Match::No,
        None => Match::Partial,
    }
}

impl Openers {
    fn new(openers: Vec<Opener>, code: bool) -> Self {
        let mut first: Vec<_> = openers.iter().map(|opener| opener.template.first_byte()).collect();
        let finder = Finder::new(&first);
        first.extend(if code { &b"`~"[..] } else { b"" });
        Self { openers, finder, code_finder: Finder::new(&first) }
    }
}
