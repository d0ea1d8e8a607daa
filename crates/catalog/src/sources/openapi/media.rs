//! Media types of bodies, and which of them is preferred.

use serde_json::{Map, Value};

use toolcrib_definition::media_type::essence;

pub(super) const JSON: &str = "application/json";

pub(super) const FORM: &str = "application/x-www-form-urlencoded";

pub(super) const MULTIPART: &str = "multipart/form-data";

/// The preferred media type of a `content` map.
pub(super) fn best_media(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let usable = content.iter().filter(|(_, value)| value.is_object());
    usable.map(|(media, value)| (media.as_str(), value)).min_by_key(|(media, _)| rank(media))
}

/// The JSON media type of a `content` map.
pub(super) fn json_media(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    best_media(content).filter(|(media, _)| rank(media) <= 1)
}

pub(super) fn rank(media: &str) -> u8 {
    match essence(media).as_str() {
        JSON | "*/*" | "application/*" => 0,
        media if media.ends_with("+json") || matches!(media, "text/json" | "json") => 1,
        FORM => 2,
        MULTIPART => 3,
        // Their parts, or their kind, are unknown.
        media if media.starts_with("multipart/") || media.contains('*') => 5,
        _ => 4,
    }
}

pub(super) fn content_type(media: &str) -> Option<String> {
    (rank(media) != 0 && media.contains('/')).then(|| media.to_string())
}
