//! [`LimitOptions`]: how much is accepted, as JSON.

use reknit::Limits;
use serde::Deserialize;

/// [`Limits`], each of which may be set.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct LimitOptions {
    frame_bytes: Option<usize>,
    reply_bytes: Option<u64>,
    values: Option<usize>,
    json_depth: Option<usize>,
    blocks: Option<usize>,
    diagnostics: Option<usize>,
    text_bytes: Option<usize>,
    param_bytes: Option<usize>,
    file_bytes: Option<u64>,
}

impl LimitOptions {
    pub(crate) fn limits(self) -> Limits {
        let mut limits = Limits::default();
        limits.frame_bytes = self.frame_bytes.unwrap_or(limits.frame_bytes);
        limits.reply_bytes = self.reply_bytes.unwrap_or(limits.reply_bytes);
        limits.values = self.values.unwrap_or(limits.values);
        limits.json_depth = self.json_depth.unwrap_or(limits.json_depth);
        limits.blocks = self.blocks.unwrap_or(limits.blocks);
        limits.diagnostics = self.diagnostics.unwrap_or(limits.diagnostics);
        limits.text_bytes = self.text_bytes.unwrap_or(limits.text_bytes);
        limits.param_bytes = self.param_bytes.unwrap_or(limits.param_bytes);
        limits.file_bytes = self.file_bytes.unwrap_or(limits.file_bytes);
        limits
    }
}
