//! The JSON form of why an edit is refused or cannot be read. What is unknown is absent.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::parser::Problem;
use super::rejection::{Reason, Rejection};
use crate::diagnostic::Hint;

/// `{"reason", "message", "hint"}`: the name for programs, the words for people, and what to do; then what
/// the reason knows, and the `closest` place (`lines`, `score` and `diff`) if there is one.
///
/// What reasons know: `already-applied` has `lines`, `ambiguous` has `how` and in `at` the line at which each
/// place begins, `mid-line` has `at`, `taken-away` has the index of the earlier edit in `edit`, and `lines`,
/// `overlaps` has `edit`, `unclear` has `fitting`, `placeholder` has `comment`, `heading-not-found` has `heading`, `not-utf8` has `byte`.
impl Serialize for Rejection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Rejection { reason, closest } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("reason", reason.name())?;
        map.serialize_entry("message", &format_args!("{reason}"))?;
        map.serialize_entry("hint", &reason.hint())?;
        write_details(&mut map, reason)?;
        if let Some(closest) = closest {
            map.serialize_entry("closest", closest)?;
        }
        map.end()
    }
}

/// What a reason knows beside its name.
fn write_details<M: SerializeMap>(map: &mut M, reason: &Reason) -> Result<(), M::Error> {
    match reason {
        Reason::AlreadyApplied { lines } => map.serialize_entry("lines", lines),
        Reason::Ambiguous { how, lines } => {
            map.serialize_entry("how", how)?;
            map.serialize_entry("at", lines)
        }
        Reason::MidLine { lines } => map.serialize_entry("at", lines),
        Reason::TakenAway { by, lines } => {
            map.serialize_entry("edit", by)?;
            map.serialize_entry("lines", lines)
        }
        Reason::Overlaps { with } => map.serialize_entry("edit", with),
        Reason::Unclear { fitting } => map.serialize_entry("fitting", fitting),
        Reason::Placeholder { line } => map.serialize_entry("comment", line),
        Reason::HeadingNotFound { heading } => map.serialize_entry("heading", heading),
        Reason::NotUtf8 { at } => map.serialize_entry("byte", at),
        Reason::MovedAway { by, to } => {
            map.serialize_entry("edit", by)?;
            map.serialize_entry("to", to)
        }
        Reason::NoMatch
        | Reason::Whitespace
        | Reason::Stale
        | Reason::Identical
        | Reason::EmptySearch
        | Reason::NoFile
        | Reason::NoPath => Ok(()),
    }
}

/// `{"kind", "line", "snippet", "message", "hint", "form"}`: the words are those of its kind.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind.name())?;
        map.serialize_entry("line", &self.line)?;
        map.serialize_entry("snippet", &self.snippet)?;
        map.serialize_entry("message", &self.kind.to_string())?;
        map.serialize_entry("hint", &self.kind.hint())?;
        map.serialize_entry("form", self.kind.form())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Closest, How, Lines, Match, Note, Outcome, Report};
    use super::*;

    fn check(value: &impl Serialize, expected: &str) {
        assert_eq!(serde_json::to_string(value).unwrap(), expected);
    }

    fn rejected(reason: Reason) -> Rejection {
        Rejection { reason, closest: None }
    }

    #[test]
    fn an_edit_that_is_applied() {
        let lines = vec![Lines { first: 3, last: 5 }];
        let mut found = Match { how: How::LookAlikes, lines, inside: None, notes: Vec::new() };
        let report = Report { index: 2, outcome: Outcome::Applied(found.clone()) };
        check(&report, r#"{"index":2,"outcome":"applied","how":"look-alikes","lines":[3,5]}"#);
        found.lines.push(Lines { first: 9, last: 11 });
        found.inside = Some(0);
        found.notes.push(Note::Kept { line: 4, text: "b".to_owned() });
        check(
            &found,
            r#"{"how":"look-alikes","lines":[3,5],"places":[[3,5],[9,11]],"inside":0,"notes":[{"kind":"kept","line":4,"text":"b"}]}"#,
        );
        check(&Outcome::Unchanged, r#"{"outcome":"unchanged"}"#);
    }

    #[test]
    fn an_edit_that_is_rejected() {
        let lines = Lines { first: 1, last: 1 };
        let closest = Some(Closest { lines, score: 0.5, diff: "-a\n+b\n".to_owned() });
        let rejection = Box::new(Rejection { reason: Reason::Stale, closest });
        check(
            &Outcome::Rejected(rejection),
            r#"{"outcome":"rejected","reason":"stale","message":"the lines of the search text have changed in the file","hint":"read the file again and copy the lines from it","closest":{"lines":[1,1],"score":0.5,"diff":"-a\n+b\n"}}"#,
        );
        check(
            &rejected(Reason::Ambiguous { how: How::Exact, lines: vec![14, 88] }),
            r#"{"reason":"ambiguous","message":"search text matches at lines 14 and 88","hint":"add lines around the search text until it occurs once","how":"exact","at":[14,88]}"#,
        );
        check(
            &rejected(Reason::TakenAway { by: 0, lines: Lines { first: 2, last: 2 } }),
            r#"{"reason":"taken-away","message":"edit 1 replaced the text that is searched for, line 2","hint":"search for the text as the earlier edit leaves it, or join the two","edit":0,"lines":[2,2]}"#,
        );
    }
}
