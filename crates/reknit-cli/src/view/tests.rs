use proptest::prelude::*;

use super::terminal::Paint;
use super::*;

/// One thing that is shown.
#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Thinking(String),
    Call { name: String, arguments: Vec<(String, String)>, end: End },
    Note(String),
}

const COLOURS: Terminal = Terminal { paint: Paint::Colours, cursor: Cursor::Moves };

/// The bytes for the terminal, with every text in pieces of these lengths.
fn written(steps: &[Step], lengths: &[usize], terminal: Terminal) -> String {
    let mut view = View::new(terminal);
    let mut lengths = lengths.iter().cycle();
    let mut cut = |text: &str, view: &mut View, show: &dyn Fn(&mut View, &str)| {
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at((*lengths.next().expect("they repeat")).min(rest.len()));
            show(view, &piece.iter().collect::<String>());
            rest = others;
        }
    };
    for step in steps {
        match step {
            Step::Text(text) => cut(text, &mut view, &View::text),
            Step::Thinking(text) => cut(text, &mut view, &View::thinking),
            Step::Call { name, arguments, end } => {
                view.call_opened(name);
                for (path, value) in arguments {
                    view.argument_grew(path, "");
                    cut(value, &mut view, &|view, piece| view.argument_grew(path, piece));
                    view.argument_closed();
                }
                view.call_closed(*end, "words");
            }
            Step::Note(words) => view.note(words),
        }
    }
    view.finish(&Facts::default(), End::Whole, "done");
    let mut bytes = Vec::new();
    view.drain(&mut bytes).expect("a vector takes everything");
    String::from_utf8(bytes).expect("the view writes text")
}

/// Text with what is special to some part of the view.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z]{1,12}",
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        "[*`#~>-]{1,4}",
        "[0-9]{1,2}[.)] ",
        prop::sample::select(vec!["日本語", "👩‍💻", "🇩🇪", "e\u{301}", "❤\u{fe0f}", "한", "\u{200d}"])
            .prop_map(str::to_owned),
        prop::sample::select(vec![
            "\x1b[2J",
            "\x1b]0;x\x07",
            "\r",
            "\r\n",
            "\u{9b}",
            "\u{202e}",
            "\x7f",
            "\t",
            "\\"
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = prop::sample::select(vec![End::Whole, End::Short, End::Broken]);
    let arguments =
        prop::collection::vec((text(), prop_oneof![text(), text().prop_map(|text| text.repeat(9))]), 0..3);
    let one = prop_oneof![
        4 => text().prop_map(Step::Text),
        2 => text().prop_map(Step::Thinking),
        2 => (text(), arguments, end).prop_map(|(name, arguments, end)| Step::Call { name, arguments, end }),
        1 => text().prop_map(Step::Note),
    ];
    prop::collection::vec(one, 0..6)
}

/// A text without the commands of the view.
fn without_commands(mut text: &str) -> String {
    let mut left = String::new();
    while let Some((before, rest)) = text.split_once("\x1b[") {
        let parameters = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == ';');
        left.push_str(before);
        text =
            parameters.strip_prefix('m').unwrap_or_else(|| panic!("a command that is not a style: {rest:?}"));
    }
    left + text
}

proptest! {
    #[test]
    fn any_cut_writes_the_same_bytes(steps in steps(), lengths in prop::collection::vec(1..9_usize, 1..9)) {
        let whole = written(&steps, &[usize::MAX], COLOURS);
        prop_assert_eq!(&written(&steps, &[1], COLOURS), &whole);
        prop_assert_eq!(&written(&steps, &lengths, COLOURS), &whole);
    }

    #[test]
    fn no_command_comes_from_outside(steps in steps()) {
        let left = without_commands(&written(&steps, &[usize::MAX], COLOURS));
        prop_assert!(!left.contains(|char| is_unsafe(char) && char != '\n'), "{:?}", left);
        let plain = written(&steps, &[usize::MAX], Terminal { paint: Paint::None, ..COLOURS });
        prop_assert_eq!(plain, left);
    }

    #[test]
    fn no_letter_is_lost(text in "[a-z *`#\n-]{0,200}") {
        let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
        let shown = written(&[Step::Text(text.clone())], &[1], Terminal { paint: Paint::None, ..COLOURS });
        prop_assert_eq!(letters(&shown), letters(&(text + "✓ done")));
    }
}
