use super::*;

/// Takes pieces written as `path value`, where a string that ends in `~` is to continue.
fn arguments(pieces: &[&str]) -> (Arguments, Vec<Taken>) {
    let mut arguments = Arguments::default();
    let taken = pieces.iter().map(|piece| {
        let (path, value) = piece.split_once(' ').unwrap_or((piece, ""));
        let path = Value::from(path);
        let (value, continues) = match value.strip_suffix('~') {
            Some(value) => (value, ",\"willContinue\":true"),
            None => (value, ""),
        };
        let member = match value.bytes().next() {
            None => String::new(),
            Some(b'"') => format!(",\"stringValue\":{value}"),
            Some(b't' | b'f') => format!(",\"boolValue\":{value}"),
            Some(b'n') => ",\"nullValue\":\"NULL_VALUE\"".to_owned(),
            Some(_) => format!(",\"numberValue\":{value}"),
        };
        arguments.take(Raw::new(&format!("{{\"jsonPath\":{path}{member}{continues}}}")))
    });
    let taken = taken.collect();
    (arguments, taken)
}

/// Checks that the pieces give this text, which is complete and only grew at its end.
fn check_in_order(pieces: &[&str], expected: &str) {
    let (mut arguments, taken) = arguments(pieces);
    assert!(taken.iter().all(|taken| *taken == Taken::InOrder), "{taken:?}");
    assert!(arguments.end(), "{}", arguments.text());
    assert_eq!(arguments.text(), expected);
}

/// Checks that the pieces give this text, which is not complete.
fn check_cut(pieces: &[&str], expected: &str) {
    let (mut arguments, _) = arguments(pieces);
    assert!(!arguments.end());
    assert_eq!(arguments.text(), expected);
}

#[test]
fn every_kind_of_value_is_written() {
    check_in_order(
        &["$.s \"a\\n\\\"b\"", "$.n -1.50", "$.b true", "$.z null", "$.e \"\""],
        r#"{"s":"a\n\"b","n":-1.50,"b":true,"z":null,"e":""}"#,
    );
}

#[test]
fn containers_open_and_close_as_the_path_moves() {
    check_in_order(
        &[
            "$.a.b[0].c 1",
            "$.a.b[0].d 2",
            "$.a.b[1].c 3",
            "$.a.e 4",
            "$.f[0][0] 5",
            "$.f[0][1] 6",
            "$.f[1] 7",
        ],
        r#"{"a":{"b":[{"c":1,"d":2},{"c":3}],"e":4},"f":[[5,6],7]}"#,
    );
}

#[test]
fn a_string_continues_until_it_ends() {
    check_in_order(&["$.a \"x~\"", "$.b 1"], r#"{"a":"x~","b":1}"#);
    check_in_order(&["$.a \"x\"~", "$.a \"y\"~", "$.a \"\"", "$.b 1"], r#"{"a":"xy","b":1}"#);
    check_in_order(&["$.a \"x\"~", "$.a"], r#"{"a":"x"}"#);
    check_in_order(&["$.a ~", "$.a \"x\""], r#"{"a":"x"}"#);
    check_in_order(&[r#"$.a "\ud83d"~"#, r#"$.a "\ude00""#], r#"{"a":"\ud83d\ude00"}"#);
}

#[test]
fn the_same_name_in_another_container_is_another_value() {
    check_in_order(
        &["$.a.a 1", "$.b.a 2", "$.c[0].a 3", "$.c[1].a 4"],
        r#"{"a":{"a":1},"b":{"a":2},"c":[{"a":3},{"a":4}]}"#,
    );
    check_in_order(&["$[''].x 1", "$.b 2"], r#"{"":{"x":1},"b":2}"#);
    check_in_order(&["$['a.b'] 1", "$['\"'] 2"], r#"{"a.b":1,"\"":2}"#);
}

#[test]
fn growth_is_returned_once() {
    let mut arguments = Arguments::default();
    let mut given = String::new();
    for (piece, grown) in [
        (r#"{"jsonPath":"$.a[0]","stringValue":"x","willContinue":true}"#, r#"{"a":["x"#),
        (r#"{"jsonPath":"$.a[0]","stringValue":"y"}"#, r#"y""#),
        (r#"{"jsonPath":"$.b","boolValue":false}"#, r#"],"b":false"#),
    ] {
        arguments.take(Raw::new(piece));
        let piece = arguments.grown();
        assert_eq!(piece, grown);
        given.push_str(piece);
    }
    assert!(arguments.end());
    given.push_str(arguments.grown());
    assert_eq!(given, r#"{"a":["xy"],"b":false}"#);
}

#[test]
fn arguments_without_values_are_complete() {
    let mut arguments = Arguments::default();
    assert!(arguments.is_empty());
    assert!(arguments.end());
    assert_eq!(arguments.text(), "");
}

#[test]
fn a_late_value_is_written_after_the_rest() {
    let (mut arguments, taken) = arguments(&["$.a.x 1", "$.b 2", "$.a.y 3"]);
    assert_eq!(taken, [Taken::InOrder, Taken::InOrder, Taken::Late]);
    assert!(arguments.is_first_late());
    assert!(arguments.end());
    assert_eq!(arguments.text(), r#"{"a":{"x":1},"b":2,"a":{"x":1,"y":3}}"#);
}

#[test]
fn a_value_that_is_given_again_replaces_the_first() {
    let (mut arguments, _) = arguments(&["$.a \"x\"", "$.a \"y\"", "$.b 1", "$.b.c 2"]);
    assert!(arguments.end());
    assert_eq!(arguments.text(), r#"{"a":"x","b":1,"a":"y","b":{"c":2}}"#);
}

#[test]
fn strings_may_take_turns() {
    let pieces = ["$.a \"1\"~", "$.b \"3\"~", "$.a \"2\"~", "$.b \"4\"", "$.a \"!\""];
    let (mut arguments, _) = arguments(&pieces);
    assert!(arguments.end());
    let value: Value = arguments.text().parse().unwrap();
    assert_eq!(value.to_string(), r#"{"a":"12!","b":"34"}"#);
}

#[test]
fn any_order_gives_the_same_value() {
    let pieces = ["$.a 1", "$.b.c \"x\"", "$.b.d[0] 2", "$.b.d[1].e null", "$.f[0] true"];
    let expected: serde_json::Value =
        serde_json::from_str(r#"{"a":1,"b":{"c":"x","d":[2,{"e":null}]},"f":[true]}"#).unwrap();
    let mut orders = vec![Vec::new()];
    for _ in pieces {
        let longer = |order: &Vec<usize>| {
            let unused: Vec<_> = (0..pieces.len()).filter(|at| !order.contains(at)).collect();
            let order = order.clone();
            unused.into_iter().map(move |at| [order.clone(), vec![at]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 120);
    for order in orders {
        let pieces: Vec<_> = order.iter().map(|at| pieces[*at]).collect();
        let (mut arguments, _) = arguments(&pieces);
        assert!(arguments.end(), "{pieces:?}");
        let value: serde_json::Value = serde_json::from_str(arguments.text()).unwrap();
        assert_eq!(value, expected, "{pieces:?}: {}", arguments.text());
    }
}

#[test]
fn a_value_that_does_not_end_is_incomplete() {
    check_cut(&["$.a \"x\"~"], r#"{"a":"x"#);
    check_cut(&["$.a \"x\"~", "$.b 1"], r#"{"a":"x","b":1"#);
    check_cut(&["$.a 1", "$.b ~"], r#"{"a":1"#);
    check_cut(&["$.a \"x\"~", "$.b 1", "$.b 2"], r#"{"a":"x","b":1,"b":2"#);
}

#[test]
fn a_missing_element_is_incomplete() {
    check_cut(&["$.a[0] 1", "$.a[2] 2"], r#"{"a":[1],"a":[1,2]"#);
    check_cut(&["$.a[4000000000] 1"], r#"{"a":[1]"#);
}

#[test]
fn what_is_not_understood_is_incomplete() {
    for piece in ["$ \"x\"", "a 1", "$.a[*] 1", "$.a"] {
        let (mut arguments, taken) = arguments(&["$.b 1", piece]);
        assert_eq!(taken[1], Taken::NotUnderstood, "{piece}");
        assert!(!arguments.end());
        assert_eq!(arguments.text(), r#"{"b":1"#);
    }
    for piece in [r#"{"jsonPath":"$.a","bytesValue":"eA=="}"#, r#"{"stringValue":"x"}"#, "1"] {
        assert_eq!(Arguments::default().take(Raw::new(piece)), Taken::NotUnderstood, "{piece}");
    }
}
