//! [`Facts`]: what is known about a reply, as one line of words.

use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::numbers::{rate, seconds};
use super::safe::name;

/// What is known about a reply. Times count from the start of the program, the closest it knows to the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) model: Option<String>,
    /// Tokens of the request, as the provider counts them.
    pub(crate) input: Option<u64>,
    /// Tokens of the reply so far, as the provider counts them.
    pub(crate) output: Option<u64>,
    /// Whether that was counted when the reply was over. Some providers count only up to their first piece.
    pub(crate) is_final: bool,
    /// Characters of the reply so far.
    pub(crate) characters: u64,
    /// When the first piece of the reply came.
    pub(crate) first: Option<Duration>,
    /// When the last one came, or the time now.
    pub(crate) last: Option<Duration>,
}

impl Facts {
    /// The parts of the line while the reply arrives, the most important first.
    fn while_it_goes_on(&self) -> Vec<String> {
        let mut words: Vec<_> = self.model.as_deref().map(name).into_iter().collect();
        words.extend(self.tokens());
        words.extend(self.first.map(|first| format!("first {}", seconds(first))));
        let rate = self.time().and_then(|time| rate(self.characters, time));
        words.extend(rate.map(|rate| format!("{rate} chars/s")));
        words.extend(self.last.map(seconds));
        words
    }

    /// The parts of the line when the reply is over.
    pub(super) fn when_it_is_over(&self) -> Vec<String> {
        let mut words: Vec<_> = self.model.as_deref().map(name).into_iter().collect();
        words.extend(self.tokens());
        words.extend(self.first.map(|first| format!("first piece after {}", seconds(first))));
        let tokens = self.output.filter(|_| self.is_final);
        let rate = tokens.and_then(|tokens| rate(tokens, self.time()?));
        words.extend(rate.map(|rate| format!("{rate} tokens/s")));
        words.extend(self.last.map(seconds));
        words
    }

    /// What is being done, and as much of the rest as fits; never more columns than that.
    pub(super) fn status_line(&self, doing: &str, columns: usize) -> (String, String) {
        let doing = if doing.width() > columns { shortened(doing, columns) } else { doing.to_owned() };
        let mut rest = String::new();
        for words in self.while_it_goes_on() {
            let more = format!(" · {words}");
            if doing.width() + rest.width() + more.width() > columns {
                break;
            }
            rest += &more;
        }
        (doing, rest)
    }

    fn tokens(&self) -> Option<String> {
        match (self.input, self.output) {
            (None, None) => None,
            (Some(input), None) => Some(format!("tokens: {input} in")),
            (None, Some(output)) => Some(format!("tokens: {output} out")),
            (Some(input), Some(output)) => Some(format!("tokens: {input} in, {output} out")),
        }
    }

    /// How long the reply itself takes.
    fn time(&self) -> Option<Duration> {
        self.last?.checked_sub(self.first?)
    }
}

/// The beginning of a text, with an ellipsis.
fn shortened(text: &str, columns: usize) -> String {
    let mut line = String::new();
    for cluster in text.graphemes(true) {
        if line.width() + cluster.width() + 1 > columns {
            break;
        }
        line.push_str(cluster);
    }
    line + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_never_wraps() {
        let facts = Facts {
            model: Some("模型-🙂-long-name".to_owned()),
            input: Some(1200),
            output: Some(7),
            is_final: false,
            characters: 900,
            first: Some(Duration::from_millis(420)),
            last: Some(Duration::from_millis(2420)),
        };
        for columns in 1..120 {
            let (doing, rest) = facts.status_line("日本語 12.4 KB", columns);
            assert!(doing.width() + rest.width() <= columns, "{columns}: {doing}{rest}");
        }
        let line = |columns| {
            let (doing, rest) = facts.status_line("writing", columns);
            doing + &rest
        };
        assert_eq!(line(19), "writing");
        assert_eq!(line(5), "writ…");
        assert_eq!(line(40), "writing · 模型-🙂-long-name");
        assert_eq!(
            line(200),
            "writing · 模型-🙂-long-name · tokens: 1200 in, 7 out · first 0.42 s · 450 chars/s · 2.42 s"
        );
    }
}
