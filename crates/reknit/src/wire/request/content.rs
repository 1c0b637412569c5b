//! [`Content`]: a part of a user's message.

use serde::Serialize;

use crate::json::Object;

/// A part of a user's message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes, encoded in Base64.
        data: String,
    },
    /// A part of an unknown type, as it came.
    #[serde(untagged)]
    Other(Object),
}
