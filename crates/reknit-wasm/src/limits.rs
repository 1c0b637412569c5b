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
        let limits = Limits::default();
        limits
            .with_frame_bytes(self.frame_bytes.unwrap_or(limits.frame_bytes))
            .with_reply_bytes(self.reply_bytes.unwrap_or(limits.reply_bytes))
            .with_values(self.values.unwrap_or(limits.values))
            .with_json_depth(self.json_depth.unwrap_or(limits.json_depth))
            .with_blocks(self.blocks.unwrap_or(limits.blocks))
            .with_diagnostics(self.diagnostics.unwrap_or(limits.diagnostics))
            .with_text_bytes(self.text_bytes.unwrap_or(limits.text_bytes))
            .with_param_bytes(self.param_bytes.unwrap_or(limits.param_bytes))
            .with_file_bytes(self.file_bytes.unwrap_or(limits.file_bytes))
    }
}
