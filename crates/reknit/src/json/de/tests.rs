//! [`from_value`] has the same result as `serde_json::from_str`.

use crate::diagnostic::Hint;
use std::collections::BTreeMap;
use std::fmt::Debug;

use expect_test::expect;
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{DeserializeError, from_value};
use crate::Text;
use crate::json::{Object, Value, exact};

#[derive(Debug, PartialEq, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Deserialize)]
struct Newtype(u16);

#[derive(Debug, PartialEq, Deserialize)]
struct Tuple(i8, String);

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    id: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    name: String,
    #[serde(default)]
    count: u32,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum Color {
    Red,
    Green,
}

#[derive(Debug, PartialEq, Deserialize)]
enum External {
    Unit,
    Newtype(Option<i32>),
    Tuple(i32, bool),
    Struct { name: Option<String> },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
enum Internal {
    Empty,
    Struct { n: i64 },
    Inner(Strict),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", content = "content")]
enum Adjacent {
    Unit,
    Newtype(u8),
    Tuple(u8, f64),
    Struct { n: i64 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Float(f64),
    Words(Vec<String>),
    Strict(Strict),
    Null,
}

/// Every shape at once.
#[derive(Debug, PartialEq, Deserialize)]
struct All {
    unit: Unit,
    newtype: Newtype,
    tuple: Tuple,
    color: Color,
    external: Vec<External>,
    internal: Option<Internal>,
    adjacent: Adjacent,
    untagged: BTreeMap<String, Untagged>,
    wide: i128,
    letter: char,
    text: Text,
    object: Object,
}

/// Checks that `json` is read into `T` with the same result as by `serde_json`.
fn agrees<T: DeserializeOwned + PartialEq + Debug>(json: &str) {
    let value: Value = json.parse().expect("the tests write JSON");
    match (from_value::<T>(&value), serde_json::from_str::<T>(json)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{json}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{json}: ours {ours:?}, serde_json {theirs:?}"),
    }
}

fn agrees_for_every_type(json: &str) {
    agrees::<()>(json);
    agrees::<bool>(json);
    agrees::<i8>(json);
    agrees::<u8>(json);
    agrees::<i64>(json);
    agrees::<u64>(json);
    agrees::<i128>(json);
    agrees::<u128>(json);
    agrees::<f32>(json);
    agrees::<f64>(json);
    agrees::<char>(json);
    agrees::<String>(json);
    agrees::<Text>(json);
    agrees::<Value>(json);
    agrees::<serde_json::Value>(json);
    agrees::<Option<u32>>(json);
    agrees::<Option<Option<String>>>(json);
    agrees::<Vec<Option<i64>>>(json);
    agrees::<(i64, String)>(json);
    agrees::<[u8; 2]>(json);
    agrees::<BTreeMap<String, Value>>(json);
    agrees::<BTreeMap<u8, Value>>(json);
    agrees::<BTreeMap<i128, Value>>(json);
    agrees::<BTreeMap<bool, Value>>(json);
    agrees::<BTreeMap<char, Value>>(json);
    agrees::<BTreeMap<Color, Value>>(json);
    agrees::<BTreeMap<Option<i32>, Value>>(json);
    agrees::<Unit>(json);
    agrees::<Newtype>(json);
    agrees::<Tuple>(json);
    agrees::<Flat>(json);
    agrees::<Strict>(json);
    agrees::<Color>(json);
    agrees::<External>(json);
    agrees::<Internal>(json);
    agrees::<Adjacent>(json);
    agrees::<Untagged>(json);
    agrees::<All>(json);
}

/// Values that fit one of the types above, or almost do.
const VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "-0",
    "7",
    "-7",
    "255",
    "256",
    "-129",
    "4294967296",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
    "340282366920938463463374607431768211455",
    "340282366920938463463374607431768211456",
    "1.0",
    "1.5",
    "1e2",
    "1.10",
    "1e300",
    r#""""#,
    r#""a""#,
    r#""é""#,
    r#""ab""#,
    r#""1""#,
    r#""Red""#,
    r#""Unit""#,
    r#""Empty""#,
    r#""Newtype""#,
    "[]",
    "[1]",
    r#"[1,"a"]"#,
    r#"[1,"a",2]"#,
    "[1,2]",
    "[null,null]",
    r#"["a","b"]"#,
    "{}",
    r#"{"1":2}"#,
    r#"{"-1":2}"#,
    r#"{"01":2}"#,
    r#"{" 1":2}"#,
    r#"{"1 ":2}"#,
    r#"{"256":2}"#,
    r#"{"true":1,"false":null}"#,
    r#"{"Red":1,"Green":2}"#,
    r#"{"Unit":null}"#,
    r#"{"Unit":1}"#,
    r#"{"Newtype":null}"#,
    r#"{"Newtype":3}"#,
    r#"{"Newtype":3,"Unit":null}"#,
    r#"{"Tuple":[1,true]}"#,
    r#"{"Tuple":[1]}"#,
    r#"{"Tuple":[1,true,2]}"#,
    r#"{"Struct":{"name":"a"}}"#,
    r#"{"Struct":{}}"#,
    r#"{"Struct":["a"]}"#,
    r#"{"Struct":null}"#,
    r#"{"Other":1}"#,
    r#"{"type":"Empty"}"#,
    r#"{"type":"Struct","n":-3}"#,
    r#"{"n":-3,"type":"Struct"}"#,
    r#"{"type":"Struct"}"#,
    r#"{"type":"Inner","name":"a","count":3}"#,
    r#"{"type":"Inner","name":"a","more":3}"#,
    r#"{"type":"Unit"}"#,
    r#"{"type":0}"#,
    r#"{"type":"Newtype","content":3}"#,
    r#"{"content":3,"type":"Newtype"}"#,
    r#"{"type":"Newtype","content":300}"#,
    r#"{"type":"Tuple","content":[3,0.5]}"#,
    r#"{"type":"Struct","content":{"n":1}}"#,
    r#"{"name":"a"}"#,
    r#"{"name":"a","count":null}"#,
    r#"{"name":"a","more":1}"#,
    r#"{"id":1,"a":[1.5,{"b":null}]}"#,
    r#"{"a":1}"#,
];

#[test]
fn every_type_reads_every_value_as_with_serde_json() {
    VALUES.iter().for_each(|json| agrees_for_every_type(json));
}

/// A field that usually has a right value, and sometimes any value or none.
fn field(name: &'static str, right: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        24 => prop::sample::select(right).prop_map(move |json| Some(format!("{name:?}:{json}"))),
        1 => prop::sample::select(VALUES).prop_map(move |json| Some(format!("{name:?}:{json}"))),
        1 => Just(None),
    ]
}

fn all() -> impl Strategy<Value = String> {
    let fields = (
        field("unit", &["null"]),
        field("newtype", &["0", "65535"]),
        field("tuple", &[r#"[-128,"a"]"#]),
        field("color", &[r#""Red""#, r#"{"Green":null}"#]),
        field("external", &["[]", r#"["Unit",{"Tuple":[1,true]},{"Newtype":3},{"Struct":{"name":null}}]"#]),
        field("internal", &["null", r#"{"type":"Struct","n":1}"#, r#"{"type":"Inner","name":"a"}"#]),
        field("adjacent", &[r#"{"type":"Unit"}"#, r#"{"content":[1,1e2],"type":"Tuple"}"#]),
        field("untagged", &["{}", r#"{"a":1,"b":1.5,"c":["x"],"d":{"name":"y"},"e":null}"#]),
        field("wide", &["-7", "170141183460469231731687303715884105727"]),
        field("letter", &[r#""é""#]),
        field("text", &[r#""some \u0041 text""#]),
        field("object", &[r#"{"a":[1,{"b":2.5}]}"#]),
    );
    fields.prop_map(|(a, b, c, d, e, f, g, h, i, j, k, l)| {
        let fields: Vec<_> = [a, b, c, d, e, f, g, h, i, j, k, l].into_iter().flatten().collect();
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #[test]
    fn a_struct_of_everything_is_read_as_with_serde_json(json in all()) {
        agrees::<All>(&json);
    }

    #[test]
    fn values_inside_values_are_read_as_with_serde_json(
        values in prop::collection::vec(prop::sample::select(VALUES), 0..4),
        keys in prop::collection::btree_set(prop::sample::select(vec!["0", "1", "true", "Red", "a"]), 4),
    ) {
        agrees_for_every_type(&format!("[{}]", values.join(",")));
        let members: Vec<_> = keys.iter().zip(&values).map(|(key, json)| format!("{key:?}:{json}")).collect();
        agrees_for_every_type(&format!("{{{}}}", members.join(",")));
    }
}

#[test]
fn a_float_is_the_nearest_one() {
    // `serde_json` reads the float next to it.
    let json = "31.245270191439438";
    assert_eq!(from_value::<f64>(&json.parse().unwrap()), Ok(31.245270191439438));
}

#[test]
fn exact_fields_keep_every_digit() {
    #[derive(Deserialize)]
    struct Call {
        #[serde(deserialize_with = "exact")]
        arguments: Value,
        raw: Box<RawValue>,
    }
    let json = r#"{"arguments":{"price":1.10},"raw":[1.10, "a"]}"#;
    let call: Call = from_value(&json.parse().unwrap()).unwrap();
    assert_eq!(call.arguments.to_string(), r#"{"price":1.10}"#);
    assert_eq!(call.raw.get(), r#"[1.10,"a"]"#);
}

#[test]
fn a_string_in_several_segments_is_one_string() {
    let mut text = Text::from("half a ");
    let _held = text.clone();
    text.push_str("sentence");
    assert_eq!(text.segments().count(), 2);
    assert_eq!(from_value::<String>(&Value::String(text)).unwrap(), "half a sentence");
}

fn error<T: DeserializeOwned + Debug>(json: &str) -> String {
    let error = from_value::<T>(&json.parse().unwrap()).unwrap_err();
    assert!(!error.hint().is_empty());
    format!("{json}\n    {error}\n")
}

#[test]
fn an_error_says_where_and_what() {
    let errors = [
        error::<u8>("-1"),
        error::<String>("null"),
        error::<Vec<Tuple>>(r#"[[1,"a"],[1,2]]"#),
        error::<Vec<Tuple>>(r#"[[1]]"#),
        error::<[u8; 2]>("[1,2,3]"),
        error::<Strict>(r#"{"count":1}"#),
        error::<Vec<Strict>>(r#"[{"name":"a"},{"count":1}]"#),
        error::<BTreeMap<String, Strict>>(r#"{"a/b":{"~":1}}"#),
        error::<BTreeMap<u8, u8>>(r#"{"x":1}"#),
        error::<BTreeMap<u8, u8>>(r#"{"256":1}"#),
        error::<External>(r#"{"Struct":{"name":[]}}"#),
        error::<External>(r#"{"Unit":null,"Tuple":[]}"#),
        error::<External>("7"),
        error::<External>(r#""Red""#),
        error::<External>(r#""Newtype""#),
        error::<BTreeMap<String, Internal>>(r#"{"a":{"type":"Struct","n":"x"}}"#),
        error::<Vec<Adjacent>>(r#"[{"type":"Struct","content":{"n":"x"}}]"#),
        error::<Vec<Untagged>>(r#"[1,{}]"#),
        error::<u64>("18446744073709551616"),
        error::<i128>("1.5"),
    ];
    expect![[r#"
        -1
            invalid value: integer `-1`, expected u8
        null
            invalid type: null, expected a string
        [[1,"a"],[1,2]]
            `/1/1`: invalid type: integer `2`, expected a string
        [[1]]
            `/0`: invalid length 1, expected tuple struct Tuple with 2 elements
        [1,2,3]
            invalid length 3, expected fewer elements in the array
        {"count":1}
            missing field `name`
        [{"name":"a"},{"count":1}]
            `/1`: missing field `name`
        {"a/b":{"~":1}}
            `/a~1b`: unknown field `~`, expected `name` or `count`
        {"x":1}
            invalid value: string "x", expected a key that is a number
        {"256":1}
            invalid value: integer `256`, expected u8
        {"Struct":{"name":[]}}
            `/Struct/name`: invalid type: sequence, expected a string
        {"Unit":null,"Tuple":[]}
            invalid value: map, expected an object with a single key
        7
            invalid type: integer `7`, expected a string or an object
        "Red"
            unknown variant `Red`, expected one of `Unit`, `Newtype`, `Tuple`, `Struct`
        "Newtype"
            invalid type: unit variant, expected newtype variant
        {"a":{"type":"Struct","n":"x"}}
            `/a`: invalid type: string "x", expected i64
        [{"type":"Struct","content":{"n":"x"}}]
            `/0/content/n`: invalid type: string "x", expected i64
        [1,{}]
            `/1`: data did not match any variant of untagged enum Untagged
        18446744073709551616
            invalid type: floating point `18446744073709552000.0`, expected u64
        1.5
            invalid type: floating point `1.5`, expected i128
    "#]]
    .assert_eq(&errors.concat());
}

#[test]
fn a_path_is_a_pointer_to_the_value() {
    let value: Value = r#"{"a/b":[{"~":0}]}"#.parse().unwrap();
    let error = from_value::<BTreeMap<String, Vec<BTreeMap<String, bool>>>>(&value).unwrap_err();
    assert_eq!(value.pointer(&error.path), Some(&Value::from(0)));
    let error: DeserializeError = from_value::<bool>(&value).unwrap_err();
    assert_eq!(value.pointer(&error.path), Some(&value));
}
