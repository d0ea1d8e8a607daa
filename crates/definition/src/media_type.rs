//! Media types of bodies: JSON, text, or bytes.

/// Ends of media types outside of `text/` whose content is text, JSON aside.
const TEXTS: [&str; 8] =
    ["xml", "yaml", "javascript", "x-www-form-urlencoded", "ndjson", "jsonl", "graphql", "json-seq"];

/// A media type in lower case, without its parameters.
pub fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether the content of a media type, without parameters, is JSON. A range that JSON is in counts.
pub fn is_json(essence: &str) -> bool {
    matches!(essence, "application/json" | "text/json" | "json" | "*/*" | "application/*")
        || essence.ends_with("+json")
}

/// Whether the content of a media type, without parameters, is text.
pub fn is_text(essence: &str) -> bool {
    essence.starts_with("text/") || is_json(essence) || TEXTS.iter().any(|text| essence.ends_with(text))
}
