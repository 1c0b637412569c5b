//! JSON gives the same result however it is cut, and the same as with `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Everything that is visible of a text read in pieces, except how growth was cut.
#[derive(Debug, PartialEq)]
struct Seen {
    value: Option<Value>,
    result: Result<Value, Error>,
    error: Option<Error>,
    duplicates: Option<(usize, usize)>,
    /// The changes in order, with the growth of a string joined.
    log: Vec<String>,
    /// Every path that was added, with its state at the end.
    states: BTreeMap<String, State>,
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Seen {
    let mut json = PartialJson::new();
    let mut log: Vec<String> = Vec::new();
    let mut grown: Option<(String, String)> = None;
    let mut paths = Vec::new();
    for piece in pieces {
        let before = json.error();
        let pushed = json.push(piece);
        assert_eq!(pushed.err(), json.error());
        assert!(before.is_none() || before == json.error(), "an error stays");
        for change in json.changes() {
            let path = change.path().to_string();
            if let Change::StringGrew { text, .. } = change {
                assert!(!text.is_empty());
                let (open, all) = grown.get_or_insert_with(|| (path.clone(), String::new()));
                assert_eq!(*open, path);
                all.push_str(text);
                continue;
            }
            if let Some((path, all)) = grown.take() {
                log.push(format!("grew {path:?} {all:?}"));
            }
            log.push(match change {
                Change::Opened { .. } => format!("opened {path:?}"),
                Change::Scalar { .. } => format!("scalar {path:?}"),
                Change::Closed { .. } => format!("closed {path:?}"),
                Change::StringGrew { .. } => unreachable!(),
            });
            paths.push(path);
        }
    }
    if let Some((path, all)) = grown {
        log.push(format!("grew {path:?} {all:?}"));
    }
    let states = paths.into_iter().map(|path| (path.clone(), json.state(&path))).collect();
    Seen {
        value: json.value().cloned(),
        error: json.error(),
        duplicates: json.duplicate_keys(),
        log,
        states,
        result: json.finish(),
    }
}

/// The same text in one piece.
fn whole(text: &str) -> Seen {
    read([text])
}

fn split_at_all<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut cuts: Vec<_> = cuts.iter().copied().filter(|&at| text.is_char_boundary(at)).collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in cuts.into_iter().chain([text.len()]) {
        pieces.push(&text[start..at.max(start)]);
        start = at.max(start);
    }
    pieces
}

/// Checks that the text is accepted or refused as by `serde_json`, with the same value.
fn agrees_with_serde_json(text: &str) {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (&whole(text).result, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(serde_json::Value::from(ours.clone()), theirs, "{text:?}");
            let again: Value = ours.to_string().parse().expect("what is written can be read");
            assert_eq!(again, *ours, "{text:?}");
        }
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{text:?}: ours {ours:?}, serde_json {theirs:?}"),
    }
}

#[test]
fn a_value_takes_16_bytes() {
    assert_eq!(size_of::<Value>(), 16);
}

#[test]
fn a_long_text_is_parsed_in_parts() {
    for start in 0..4 {
        let strings: Vec<_> = (0..9_000).map(|number| format!(r#"{{"é{number}":"日{number}\n"}}"#)).collect();
        let text = format!("{}[{}]", " ".repeat(start), strings.join(","));
        let parsed: Value = text.parse().unwrap();
        assert_eq!(
            serde_json::Value::from(parsed),
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        );
        let error = format!("{text}x").parse::<Value>().unwrap_err();
        assert_eq!(error.at, text.len());
    }
}

#[test]
fn deeply_nested_values_can_be_read_back() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Outer {
        #[serde(deserialize_with = "exact")]
        inner: Value,
    }
    let arguments = format!("{}1.10{}", "[".repeat(127), "]".repeat(127));
    let mut text = serde_json::to_string(&Outer { inner: arguments.parse().unwrap() }).unwrap();
    for _ in 0..10 {
        let outer: Outer = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&outer).unwrap(), text);
        text = format!(r#"{{"inner":{text}}}"#);
    }
}

const TRICKY: &[&str] = &[
    "",
    " \n\t\r ",
    "null",
    " true ",
    "false",
    "nul",
    "nulll",
    "nule",
    "tru",
    "0",
    "-0",
    "-",
    "01",
    "-01",
    "00",
    "1.",
    "1.5",
    "1.e5",
    "1e",
    "1e+",
    "1E5",
    "1e-05",
    "-1.25e+3 ",
    ".5",
    "+1",
    "1.10",
    "1 2",
    "1e400",
    "[1e400, 2]",
    "-1e400",
    "1e-400",
    "0e999999999999",
    "123456789012345678901234567890",
    "18446744073709551616",
    "\"\"",
    "\"é日本🙂\"",
    r#""\"\\\/\b\f\n\r\t""#,
    r#""\u0041\u00e9\u65e5""#,
    r#""\ud83d\ude42 \uD83D\uDE42""#,
    r#""\ud83d""#,
    r#""\ud83dx""#,
    r#""\ud83d\n""#,
    r#""\ud83d\u0041""#,
    r#""\ud83d\ud83d\ude42""#,
    r#""\ude42""#,
    r#""\u12g4""#,
    r#""\u12é4""#,
    r#""\x""#,
    r#""\é""#,
    "\"a\nb\"",
    "\"a\u{7f}\"",
    "\"a\0b\"",
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[1,2,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{\"a\":1]",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{\"a\" 1}",
    "{\"a\":}",
    "{\"a\":,}",
    "{a:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1}{\"b\":2}",
    "{\"a\":1} x",
    "{\"a\":1}é",
    "]",
    "}",
    ":",
    "é",
    "\u{feff}1",
    "\u{a0}1",
    "\u{b}1",
    "NaN",
    "Infinity",
    "// 1",
    r#"{"a":1,"b":{"c":2,"c":3},"a":"x","a":["y"]}"#,
    r#"{"a":{"x":"long"},"a":{"y":[1]},"b":"a"}"#,
    r#"{"":{"":[{"a/b":"~"},{"~":"/"}]}}"#,
    r#"{"k\u00e9y\ud83d\ude42":"v","k\n":[true,false,null,"t"]}"#,
    r#"{"path": "src/a.rs", "content": "fn main() {\n\t\"x\\u{1}\"\n}\n", "mode": 1.0, "deep": [[[["x"]]]]}"#,
];

#[test]
fn tricky_documents_are_read_as_serde_json_reads_them() {
    TRICKY.iter().for_each(|text| agrees_with_serde_json(text));
    // Every prefix of a document must be accepted or refused too.
    for text in TRICKY {
        text.char_indices().for_each(|(at, _)| agrees_with_serde_json(&text[..at]));
    }
}

#[test]
fn any_cut_in_two_and_any_cut_in_three_gives_the_same() {
    for text in TRICKY {
        let expected = whole(text);
        for (first, _) in text.char_indices() {
            assert_eq!(read(split_at_all(text, &[first])), expected, "{text:?} cut at {first}");
            let step = 1 + text.len() / 12;
            for second in (first..text.len()).step_by(step) {
                assert_eq!(read(split_at_all(text, &[first, second])), expected, "{text:?} {first} {second}");
            }
        }
        let chars: Vec<_> = text.split_inclusive(|_| true).collect();
        assert_eq!(read(chars), expected, "{text:?} by characters");
    }
}

/// A document with whitespace, all kinds of escapes, repeated keys and all forms of numbers.
fn document() -> impl Strategy<Value = String> {
    let whitespace = || prop::sample::select(vec!["", "", "", " ", "\n\t", "\r\n  "]);
    let string = prop::collection::vec(
        prop::sample::select(vec![
            "a",
            "bc",
            "é",
            "日",
            "🙂",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\u0041",
            "\\u00e9",
            "\\ud83d\\ude42",
            "~",
            "/",
            "0",
        ]),
        0..6,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()));
    let number = prop::sample::select(vec![
        "0",
        "-0",
        "7",
        "-12",
        "1.10",
        "1e5",
        "1E-7",
        "-2.5e+3",
        "18446744073709551615",
        "1e308",
        "98765432109876543210.5",
    ])
    .prop_map(str::to_owned);
    let literal = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![string.clone(), number, literal];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let element = (whitespace(), inner, whitespace()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let key = prop_oneof![Just("\"a\"".to_owned()), Just("\"\\u0061\"".to_owned()), string.clone()];
        let member = (whitespace(), key, whitespace(), element.clone())
            .prop_map(|(a, key, b, value)| format!("{a}{key}{b}:{value}"));
        prop_oneof![
            prop::collection::vec(element, 0..6).prop_map(|elements| format!("[{}]", elements.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A document in which something was replaced, so that it is usually invalid.
fn damaged() -> impl Strategy<Value = String> {
    let splice = prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "t", "\\ud83d", "\n", "\u{1}", " ",
        "é",
    ]);
    (document(), any::<prop::sample::Index>(), 0..3usize, splice).prop_map(|(text, index, length, splice)| {
        let chars: Vec<char> = text.chars().collect();
        let start = index.index(chars.len() + 1);
        let end = (start + length).min(chars.len());
        let mut out: String = chars[..start].iter().collect();
        out.push_str(splice);
        out.extend(&chars[end..]);
        out
    })
}

/// All strings in a value, by path.
fn strings_of(value: &Value, path: &str, out: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) => drop(out.insert(path.to_owned(), text.to_string())),
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                strings_of(element, &format!("{path}/{at}"), out);
            }
        }
        Value::Object(object) => {
            for (key, value) in object.iter() {
                let key = key.replace('~', "~0").replace('/', "~1");
                strings_of(value, &format!("{path}/{key}"), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

proptest! {
    #[test]
    fn documents_are_those_of_serde_json(text in document()) {
        prop_assert!(whole(&text).result.is_ok());
        agrees_with_serde_json(&text);
    }

    #[test]
    fn damaged_documents_are_refused_where_serde_json_refuses_them(text in damaged()) {
        agrees_with_serde_json(&text);
    }

    #[test]
    fn any_split_gives_the_same(text in damaged(), cuts in prop::collection::vec(0..400usize, 0..20)) {
        let cuts: Vec<_> = cuts.into_iter().filter(|&at| at <= text.len()).collect();
        prop_assert_eq!(read(split_at_all(&text, &cuts)), whole(&text));
    }

    #[test]
    fn growth_rebuilds_the_strings(text in document(), size in 1..9usize) {
        let mut json = PartialJson::new();
        let mut built: BTreeMap<String, String> = BTreeMap::new();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            json.push(&piece.iter().collect::<String>()).unwrap();
            for change in json.changes() {
                let path = change.path().to_string();
                match change {
                    // A repeated key starts again, without what was below it.
                    Change::Opened { .. } | Change::Scalar { .. } => {
                        let below = format!("{path}/");
                        built.retain(|key, _| *key != path && !key.starts_with(&below));
                    }
                    Change::StringGrew { text, .. } => built.entry(path).or_default().push_str(text),
                    Change::Closed { .. } => {}
                }
            }
            let mut expected = BTreeMap::new();
            if let Some(value) = json.value() {
                strings_of(value, "", &mut expected);
                expected.retain(|_, text| !text.is_empty());
            }
            prop_assert_eq!(&built, &expected);
        }
    }

    #[test]
    fn changes_lead_to_values_and_states(text in document(), size in 1..9usize) {
        let mut json = PartialJson::new();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            json.push(&piece.iter().collect::<String>()).unwrap();
            // The last change of a path determines its state.
            let last: BTreeMap<String, Change<'_>> =
                json.changes().map(|change| (change.path().to_string(), change)).collect();
            for (pointer, change) in last {
                prop_assert_eq!(change.path(), pointer.as_str());
                let Some(value) = json.at(change.path()) else { continue };
                prop_assert_eq!(json.value().unwrap().pointer(&pointer).unwrap(), value);
                let expected = match change {
                    Change::Opened { .. } | Change::StringGrew { .. } => State::Partial,
                    Change::Scalar { .. } | Change::Closed { .. } => State::Complete,
                };
                prop_assert_eq!(json.state(&pointer), expected, "{} after {}", pointer, json.raw());
            }
        }
        prop_assert_eq!(json.state(""), if json.value().is_some() { State::Complete } else { State::Missing });
    }

    #[test]
    fn values_survive_serde(text in document()) {
        let value: Value = text.parse().unwrap();
        let mut raw = serde_json::Deserializer::from_str(&text);
        prop_assert_eq!(&exact::<Value, _>(&mut raw).unwrap(), &value);
        prop_assert_eq!(serde_json::to_string(&value).unwrap(), value.to_string());
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&serde_json::to_value(&value).unwrap(), &theirs);
        let by_visitor: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::Value::from(by_visitor), theirs);
    }
}
