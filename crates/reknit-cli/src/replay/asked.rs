//! [`Asked`]: whether a request asks for a stream, read off its body as it passes by.

/// Looks for the member `stream` of a JSON object that comes in pieces, and keeps nothing else of it.
#[derive(Default)]
pub(super) struct Asked {
    depth: usize,
    place: Place,
    stream: Option<bool>,
}

/// Where the last byte was.
#[derive(Default)]
enum Place {
    /// Outside strings, after nothing that matters.
    #[default]
    Outside,
    /// In a string, with how much of it is the name, if all of it is so far.
    String { name: Option<usize>, is_escaped: bool },
    /// After a string of the outermost object: the name if a colon follows.
    AfterName,
    /// After the colon.
    AtValue,
}

const NAME: &[u8] = b"stream";

impl Asked {
    /// Looks at the next piece of the body.
    pub(super) fn push(&mut self, piece: &[u8]) {
        piece.iter().for_each(|byte| self.take(*byte));
    }

    /// What the body says about it; nothing if it does not.
    pub(super) fn stream(&self) -> Option<bool> {
        self.stream
    }

    fn take(&mut self, byte: u8) {
        match &mut self.place {
            Place::String { is_escaped, .. } if *is_escaped => *is_escaped = false,
            Place::String { name, is_escaped } if byte == b'\\' => (*name, *is_escaped) = (None, true),
            Place::String { name, .. } if byte == b'"' => {
                let is_name = *name == Some(NAME.len()) && self.depth == 1;
                self.place = if is_name { Place::AfterName } else { Place::Outside };
            }
            Place::String { name, .. } => {
                *name = name.filter(|at| NAME.get(*at) == Some(&byte)).map(|at| at + 1);
            }
            Place::AfterName | Place::AtValue if byte.is_ascii_whitespace() => {}
            Place::AfterName if byte == b':' => self.place = Place::AtValue,
            Place::AtValue if byte == b't' || byte == b'f' => {
                self.stream = Some(byte == b't');
                self.place = Place::Outside;
            }
            Place::AfterName | Place::AtValue | Place::Outside => {
                self.place = Place::Outside;
                match byte {
                    b'"' => self.place = Place::String { name: Some(0), is_escaped: false },
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_member_counts_however_the_body_is_cut() {
        let check = |body: &str, expected| {
            for length in [1, 2, 3, 7, body.len().max(1)] {
                let mut asked = Asked::default();
                body.as_bytes().chunks(length).for_each(|piece| asked.push(piece));
                assert_eq!(asked.stream(), expected, "{body} in pieces of {length}");
            }
        };
        check("", None);
        check("{}", None);
        check("not JSON", None);
        check(r#"{"stream":true}"#, Some(true));
        check("{\"model\":\"m\",\r\n \"stream\" :\t false }", Some(false));
        check(r#"{"messages":[{"content":"\"stream\":true"}],"stream":false}"#, Some(false));
        check(r#"{"messages":[{"stream":true}]}"#, None);
        check(r#"{"options":{"stream":true},"a":"stream"}"#, None);
        check(r#"{"a":"stream","b":true}"#, None);
        check(r#"{"stream_options":{"include_usage":true}}"#, None);
        check(r#"{"xstream":true,"strea":true,"streams":true}"#, None);
        check(r#"{"stream":null}"#, None);
        check(r#"{"stream":"true"}"#, None);
        check(r#"{"a":"\\","stream":true}"#, Some(true));
    }
}
