//! The JSON paths (RFC 9535) that lead to one value: `$.edits[0]['old text']`.

use super::super::super::fields::unescape;

/// How many steps a path may have. What it leads to is written recursively, so there is a limit even if the
/// caller's [`Limits::json_depth`](crate::Limits::json_depth), which the message applies, is higher.
const MAX_STEPS: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path; `None` if it does not lead into an object, or deeper than JSON may be nested.
pub(super) fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$')?;
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('.') {
            Some(name) => {
                let end = name.find(['.', '[']).unwrap_or(name.len());
                (Step::Key(name[..end].to_owned()), &name[end..])
            }
            None => bracketed(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        rest = after;
    }
    let reachable = matches!(steps.first(), Some(Step::Key(_))) && steps.len() < MAX_STEPS;
    reachable.then_some(steps)
}

/// The step in brackets, and what follows the closing one.
fn bracketed(text: &str) -> Option<(Step, &str)> {
    let Some(quote @ (b'\'' | b'"')) = text.bytes().next() else {
        let (digits, after) = text.split_once(']')?;
        let index = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        return Some((Step::Index(index?), after));
    };
    let body = &text[1..];
    let mut escaped = false;
    let end = body.bytes().position(|byte| {
        let closes = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })?;
    let (mut key, mut half) = (String::new(), None);
    unescape(&body[..end], &mut half, &mut key);
    Some((Step::Key(key), body[end + 1..].strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let steps = parse(path).map_or("none".to_owned(), |steps| {
            let steps = steps.iter().map(|step| match step {
                Step::Key(key) => format!("<{key}>"),
                Step::Index(index) => format!("#{index}"),
            });
            steps.collect::<String>()
        });
        assert_eq!(steps, expected, "{path}");
    }

    #[test]
    fn names_indexes_and_quoted_names_are_steps() {
        check("$.a", "<a>");
        check("$.a.b_c-d[10][0].é", "<a><b_c-d>#10#0<é>");
        check("$['a b']", "<a b>");
        check("$[\"a.b\"]['c[0]'].d", "<a.b><c[0]><d>");
        check(r"$['it\'s']['\\'][0]", r"<it's><\>#0");
        check(r#"$["\u00e9\n"]"#, "<é\n>");
        check("$['']", "<>");
    }

    #[test]
    fn a_path_that_does_not_lead_to_one_value_is_refused() {
        let paths =
            ["", "a", "$", "$[0]", "$.a[", "$.a[x]", "$.a[-1]", "$.a[*]", "$.a[]", "$['a", "$['a'x]", "$x"];
        paths.iter().for_each(|path| check(path, "none"));
        check("$.a[99999999999999999999999]", "none");
        check(&format!("${}", ".a".repeat(128)), "none");
    }
}
