//! [`Offsets`]: places in growing texts, counted in code points as Python does.

use std::collections::BTreeMap;

/// How long each text is that a `K` names.
#[derive(Debug)]
pub(crate) struct Offsets<K>(BTreeMap<K, Length>);

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    bytes: usize,
    code_points: usize,
}

impl<K: Ord> Offsets<K> {
    pub(crate) fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The code points before the byte `at`, from which on `key` now has `text`. `whole` is the text of `key`
    /// with the new part, in case it did not start empty or was cut back.
    pub(crate) fn grow<'a>(
        &mut self,
        key: K,
        at: usize,
        text: &str,
        whole: impl FnOnce() -> Option<&'a reknit::Text>,
    ) -> usize {
        let length = self.0.entry(key).or_default();
        if length.bytes != at {
            let before = whole().map_or(0, |whole| code_points_before(whole, at));
            *length = Length { bytes: at, code_points: before };
        }
        let before = length.code_points;
        length.bytes += text.len();
        length.code_points += text.chars().count();
        before
    }
}

fn code_points_before(text: &reknit::Text, at: usize) -> usize {
    let mut left = at;
    let counts = text.segments().map(|segment| {
        let part = &segment[..segment.floor_char_boundary(left.min(segment.len()))];
        left -= part.len();
        part.chars().count()
    });
    counts.sum()
}
