use proptest::prelude::*;

use super::*;

fn secrets(of: &[&str]) -> Secrets {
    Secrets::new(of.iter().map(|&secret| secret.to_owned()))
}

#[test]
fn secrets_are_removed_as_they_are_and_escaped() {
    let of = |secret: &str, text: &str| secrets(&[secret]).remove(text);
    assert_eq!(of("sk-12345678", "the key sk-12345678."), "the key [removed].");
    assert_eq!(of("sk-12345678", r#"{"a":"\u0073k\u002D12345678\n"}"#), r#"{"a":"[removed]\n"}"#);
    assert_eq!(of("ab/cd\"ef\\gh", r#""ab\/cd\"ef\\gh""#), r#""[removed]""#);
    // What looks like one so far is not lost, nor what begins again in it.
    assert_eq!(of("sk-12345678", "sk-1234sk-12345678 sk-1234567"), "sk-1234[removed] sk-1234567");
    assert_eq!(of("aaaaaaab", "aaaaaaaaaab"), "aaa[removed]");
    assert_eq!(
        of("sk-12345678", r"\sk-12345678 \usk-12345678 \u00sk-12345678 \"),
        r"\[removed] \u[removed] \u00[removed] \"
    );
    // A shorter text is not a key.
    assert_eq!(of("sk", "ask"), "ask");
}

#[test]
fn secrets_that_overlap_are_removed_whole() {
    let both = secrets(&["sk-12345678", "sk-12345678-too", "78-too-longer"]);
    assert_eq!(both.remove("a sk-12345678-too b"), "a [removed] b");
    assert_eq!(both.remove("a sk-12345678-to b"), "a [removed]-to b");
    assert_eq!(both.remove("a sk-12345678-too-longer b"), "a [removed] b");
}

#[test]
fn only_what_may_become_a_secret_is_held_back() {
    let mut remover = secrets(&["sk-12345678"]).remover();
    assert_eq!(remover.push(b"data: a s"), b"data: a ");
    assert_eq!(remover.push(b"k-1234"), b"");
    assert_eq!(remover.push(b"5!"), b"sk-12345!");
    assert_eq!(remover.push(b"\\u00"), b"", "it may become a letter");
    assert_eq!(remover.push(b"41\n\n"), b"\\u0041\n\n");
    assert_eq!(remover.push(b"sk-1234567"), b"");
    assert_eq!(remover.finish(), b"sk-1234567");
}

/// A text with secrets in it, each letter as it is or escaped.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => Just("sk-12345678".to_owned()),
        2 => Just("12345678/x".to_owned()),
        2 => "[sk\\-1-8/x\\\\u0\"]{0,6}",
        1 => Just("é\n".to_owned()),
    ];
    let written = (word, any::<u64>()).prop_map(|(word, bits)| {
        let letters = word.chars().enumerate().map(|(at, c)| match (bits >> (at % 32 * 2)) & 3 {
            0 if c.is_ascii() => format!("\\u{:04x}", u32::from(c)),
            1 if c == '/' => "\\/".to_owned(),
            _ => c.to_string(),
        });
        letters.collect::<String>()
    });
    proptest::collection::vec(written, 0..8).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_result(text in text(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let secrets = secrets(&["sk-12345678", "12345678/x"]);
        let whole = secrets.remove(&text);
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut remover, mut out, mut from) = (secrets.remover(), Vec::new(), 0);
        for cut in cuts.into_iter().chain([bytes.len()]) {
            out.extend(remover.push(&bytes[from..cut]));
            from = cut;
        }
        out.extend(remover.finish());
        prop_assert_eq!(String::from_utf8_lossy(&out), whole.as_str());
        // Read as JSON it does not have them either.
        if let Ok(value) = format!("\"{whole}\"").parse::<reknit::json::Value>() {
            let read = value.as_str().unwrap().into_owned();
            prop_assert!(!read.contains("sk-12345678") && !read.contains("12345678/x"), "{read:?}");
        }
    }
}
