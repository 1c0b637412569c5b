//! [`Markdown`]: which style each character of a text is in, decided while it arrives.
//!
//! Every character is shown, including the markers: what turns out not to be Markdown is still complete, and
//! nothing has to be taken back. A marker is held back only until it is known which one it is, so an emphasis
//! that is never closed ends with its line.

use std::mem;

use super::style::Style;

/// A text, character by character.
pub(super) struct Markdown {
    place: Place,
    /// What may become a marker.
    held: String,
    /// Of the line: plain, or a heading.
    base: Style,
    emphasis: Emphasis,
    /// The last character that was put.
    before: char,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Before the first character of a line that is not a space.
    Start,
    /// Inside a line.
    Line,
    /// After a backslash.
    Escape,
    /// After the opening marker of a fence, on the same line.
    Info(Fence),
    /// At the start of a line inside a fence.
    FenceStart(Fence),
    FenceLine(Fence),
}

#[derive(Clone, Copy, PartialEq)]
struct Fence {
    sign: char,
    length: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Emphasis {
    None,
    Strong,
    /// Between this many backticks, inside strong text or not.
    Code {
        ticks: usize,
        is_strong: bool,
    },
}

/// A longer run is text, not a marker.
const MAX_SIGN: usize = 32;

impl Markdown {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Start,
            held: String::new(),
            base: Style::Plain,
            emphasis: Emphasis::None,
            before: '\n',
        }
    }

    /// Takes a character, and passes on what it decides.
    pub(super) fn push(&mut self, char: char, mut put: impl FnMut(Style, char)) {
        let put = &mut put;
        match self.place {
            Place::Start => self.start(char, put),
            Place::Line => self.line(char, put),
            Place::Escape => {
                self.place = Place::Line;
                if char == '\n' { self.line(char, put) } else { self.give(char, put) }
            }
            Place::Info(fence) => self.info(fence, char, put),
            Place::FenceStart(fence) => self.fence_start(fence, char, put),
            Place::FenceLine(fence) => {
                if char == '\n' {
                    self.place = Place::FenceStart(fence);
                }
                put(Style::Fenced, char);
            }
        }
    }

    /// What may become a marker.
    pub(super) fn held(&self) -> &str {
        &self.held
    }

    /// The text is over, or goes on after something else: what is held back is not a marker.
    pub(super) fn finish(&mut self, mut put: impl FnMut(Style, char)) {
        match self.place {
            Place::FenceStart(Fence { length, .. }) if self.held.trim().len() >= length => {
                self.release(Style::Mark, &mut put);
            }
            Place::FenceStart(_) | Place::FenceLine(_) => self.release(Style::Fenced, &mut put),
            Place::Start if self.held.is_empty() => {}
            Place::Start | Place::Line | Place::Escape | Place::Info(_) => self.end_line(&mut put),
        }
        *self = Self::new();
    }

    fn start(&mut self, char: char, put: &mut impl FnMut(Style, char)) {
        let sign = self.held.chars().next();
        let length = self.held.len();
        match (sign, char) {
            (None, ' ' | '\t') => put(Style::Plain, char),
            (None, '>') => put(Style::Mark, char),
            (None, '#' | '`' | '~' | '-' | '*' | '+' | '0'..='9') => self.held.push(char),
            (Some('#'), '#') if length < 6 => self.held.push(char),
            (Some('#'), ' ') => {
                self.base = Style::Heading;
                self.release(Style::Heading, put);
                self.enter_line(char, put);
            }
            (Some(sign @ ('`' | '~')), _) if char == sign => {
                self.held.push(char);
                if length == 2 {
                    self.release(Style::Mark, put);
                    self.place = Place::Info(Fence { sign, length: 3 });
                }
            }
            (Some('-' | '*' | '+'), ' ') if length == 1 => {
                self.release(Style::Bullet, put);
                self.enter_line(char, put);
            }
            (Some('0'..='9'), '0'..='9') if length < 9 && !self.held.ends_with(['.', ')']) => {
                self.held.push(char);
            }
            (Some('0'..='9'), '.' | ')') if !self.held.ends_with(['.', ')']) => self.held.push(char),
            (Some('0'..='9'), ' ') if self.held.ends_with(['.', ')']) => {
                self.release(Style::Bullet, put);
                self.enter_line(char, put);
            }
            _ => {
                // It is not a marker at the start of a line, but may be one inside it.
                self.place = Place::Line;
                for held in mem::take(&mut self.held).chars() {
                    self.line(held, put);
                }
                self.line(char, put);
            }
        }
    }

    fn enter_line(&mut self, char: char, put: &mut impl FnMut(Style, char)) {
        self.place = Place::Line;
        self.line(char, put);
    }

    fn line(&mut self, char: char, put: &mut impl FnMut(Style, char)) {
        let is_run = self.held.ends_with(char) && self.held.len() < MAX_SIGN;
        if is_run {
            return self.held.push(char);
        }
        self.resolve(char, put);
        match char {
            '\n' => {
                self.end_line(put);
                put(Style::Plain, char);
            }
            '`' => self.held.push(char),
            '*' if !matches!(self.emphasis, Emphasis::Code { .. }) => self.held.push(char),
            '\\' if !matches!(self.emphasis, Emphasis::Code { .. }) => {
                self.give(char, put);
                self.place = Place::Escape;
            }
            _ => self.give(char, put),
        }
    }

    /// Decides what is held back, now that it is known what follows.
    fn resolve(&mut self, next: char, put: &mut impl FnMut(Style, char)) {
        let length = self.held.len();
        let style = match (self.held.chars().next(), self.emphasis) {
            (None, _) => return,
            (Some('`'), Emphasis::Code { ticks, is_strong }) if ticks == length => {
                self.emphasis = if is_strong { Emphasis::Strong } else { Emphasis::None };
                Style::Mark
            }
            (Some('`'), Emphasis::Code { .. }) => Style::Code,
            (Some('`'), outside) => {
                self.emphasis = Emphasis::Code { ticks: length, is_strong: outside == Emphasis::Strong };
                Style::Mark
            }
            (Some(_), Emphasis::Strong) if matches!(length, 2 | 3) && !self.before.is_whitespace() => {
                self.emphasis = Emphasis::None;
                Style::Mark
            }
            (Some(_), Emphasis::None) if matches!(length, 2 | 3) && !next.is_whitespace() => {
                self.emphasis = Emphasis::Strong;
                Style::Mark
            }
            (Some(_), _) => self.style(),
        };
        self.release(style, put);
    }

    fn end_line(&mut self, put: &mut impl FnMut(Style, char)) {
        self.resolve('\n', put);
        self.place = Place::Start;
        self.base = Style::Plain;
        self.emphasis = Emphasis::None;
    }

    fn info(&mut self, fence: Fence, char: char, put: &mut impl FnMut(Style, char)) {
        let Fence { sign, length } = fence;
        let goes_on = char == sign && self.before == sign;
        if char == '`' && sign == '`' && !goes_on {
            // Three backticks with another one on the line are a code span.
            self.emphasis = Emphasis::Code { ticks: length, is_strong: false };
            self.place = Place::Line;
            return self.held.push(char);
        }
        self.place = match char {
            '\n' => Place::FenceStart(fence),
            _ if goes_on => Place::Info(Fence { sign, length: length + 1 }),
            _ => Place::Info(fence),
        };
        self.before = char;
        put(Style::Mark, char);
    }

    fn fence_start(&mut self, fence: Fence, char: char, put: &mut impl FnMut(Style, char)) {
        let signs = self.held.trim().len();
        let may_close = match char {
            ' ' => true,
            _ if char == fence.sign => !(signs > 0 && self.held.ends_with(' ')),
            _ => false,
        };
        if may_close && self.held.len() < MAX_SIGN {
            self.held.push(char);
        } else if char == '\n' && signs >= fence.length {
            self.release(Style::Mark, put);
            self.place = Place::Start;
            put(Style::Plain, char);
        } else {
            self.release(Style::Fenced, put);
            self.place = if char == '\n' { Place::FenceStart(fence) } else { Place::FenceLine(fence) };
            put(Style::Fenced, char);
        }
    }

    fn style(&self) -> Style {
        match self.emphasis {
            Emphasis::Code { .. } => Style::Code,
            Emphasis::Strong if self.base == Style::Plain => Style::Strong,
            Emphasis::Strong | Emphasis::None => self.base,
        }
    }

    fn give(&mut self, char: char, put: &mut impl FnMut(Style, char)) {
        self.before = char;
        put(self.style(), char);
    }

    fn release(&mut self, style: Style, put: &mut impl FnMut(Style, char)) {
        for char in mem::take(&mut self.held).chars() {
            self.before = char;
            put(style, char);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// The text with a sign at every change of style.
    fn styled(text: &str) -> String {
        let mut shown = String::new();
        let mut last = Style::Plain;
        let mut put = |style: Style, char: char| {
            if style != last && char != '\n' {
                shown.push_str(match style {
                    Style::Plain => "⟨⟩",
                    Style::Heading => "⟨H⟩",
                    Style::Strong => "⟨S⟩",
                    Style::Code => "⟨C⟩",
                    Style::Fenced => "⟨F⟩",
                    Style::Mark => "⟨m⟩",
                    Style::Bullet => "⟨b⟩",
                    other => panic!("{other:?} is not of Markdown"),
                });
                last = style;
            }
            shown.push(char);
        };
        let mut markdown = Markdown::new();
        text.chars().for_each(|char| markdown.push(char, &mut put));
        markdown.finish(&mut put);
        shown
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&styled(text));
    }

    #[test]
    fn signs_of_a_line() {
        check("# One\n###### Six `x`\n", expect![["⟨H⟩# One\n###### Six ⟨m⟩`⟨C⟩x⟨m⟩`\n"]]);
        check("#no\n####### seven\n", expect![["#no\n####### seven\n"]]);
        check("- a\n  * b\n10. c\n2) d\n", expect![["⟨b⟩-⟨⟩ a\n  ⟨b⟩*⟨⟩ b\n⟨b⟩10.⟨⟩ c\n⟨b⟩2)⟨⟩ d\n"]]);
        check("-a\n1.5 m\n1234567890. x\n", expect![["-a\n1.5 m\n1234567890. x\n"]]);
        check(
            "> - said\n",
            expect![[r#"
            ⟨m⟩>⟨⟩ ⟨b⟩-⟨⟩ said
        "#]],
        );
    }

    #[test]
    fn emphasis_and_code() {
        check("a **b** c", expect![["a ⟨m⟩**⟨S⟩b⟨m⟩**⟨⟩ c"]]);
        check("**a** and ***b***\n", expect![["⟨m⟩**⟨S⟩a⟨m⟩**⟨⟩ and ⟨m⟩***⟨S⟩b⟨m⟩***\n"]]);
        check("2 ** 3 ** 4, *so*, ****\n", expect![["2 ** 3 ** 4, *so*, ****\n"]]);
        check("**never closed\nnext", expect![["⟨m⟩**⟨S⟩never closed\n⟨⟩next"]]);
        check(
            "`**x**` ``a ` b``\n",
            expect![[r#"
            ⟨m⟩`⟨C⟩**x**⟨m⟩`⟨⟩ ⟨m⟩``⟨C⟩a ` b⟨m⟩``
        "#]],
        );
        check("**with `code` in it**.", expect![["⟨m⟩**⟨S⟩with ⟨m⟩`⟨C⟩code⟨m⟩`⟨S⟩ in it⟨m⟩**⟨⟩."]]);
        check("\\*\\*no\\*\\* \\`no\\`", expect![["\\*\\*no\\*\\* \\`no\\`"]]);
        check("one ` tick\nnext `", expect![["one ⟨m⟩`⟨C⟩ tick\n⟨⟩next ⟨m⟩`"]]);
    }

    #[test]
    fn fences() {
        check("```rust\nlet **a** = 1;\n```\nb", expect![["⟨m⟩```rust\n⟨F⟩let **a** = 1;\n⟨m⟩```\n⟨⟩b"]]);
        check("````\n```\nx\n````\n# a", expect![["⟨m⟩````\n⟨F⟩```\nx\n⟨m⟩````\n⟨H⟩# a"]]);
        check("~~~\n```\n~~~  \na", expect![["⟨m⟩~~~\n⟨F⟩```\n⟨m⟩~~~  \n⟨⟩a"]]);
        check("```\nnever closed", expect![["⟨m⟩```\n⟨F⟩never closed"]]);
        check("```\na\n```", expect![["⟨m⟩```\n⟨F⟩a\n⟨m⟩```"]]);
        check("```a``` b", expect![["⟨m⟩```a```⟨⟩ b"]]);
        check(
            "- x\n  ```\n  # y\n  ```\n",
            expect![[r#"
            ⟨b⟩-⟨⟩ x
              ⟨m⟩```
            ⟨F⟩  # y
            ⟨m⟩  ```
        "#]],
        );
    }

    #[test]
    fn every_character_is_put_once_and_in_order() {
        let signs = ["#", " ", "*", "**", "`", "```", "\n", "-", "1", ".", "a", "\\", "~~~", "> ", "日"];
        let mut state = 7_u64;
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..30 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(signs[(state >> 33) as usize % signs.len()]);
            }
            let mut put = String::new();
            let mut markdown = Markdown::new();
            text.chars().for_each(|char| markdown.push(char, |_, char| put.push(char)));
            markdown.finish(|_, char| put.push(char));
            assert_eq!(put, text);
        }
    }
}
