//! The media type that a client prefers, by the qualities in its `Accept`.

use http::HeaderMap;
use http::header::ACCEPT;

/// Media type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Markdown,
    Json,
    Html,
    Text,
    Metrics,
}

impl Media {
    /// The value of `Content-Type`.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Media::Markdown => "text/markdown; charset=utf-8",
            Media::Json => "application/json",
            Media::Html => "text/html; charset=utf-8",
            Media::Text => "text/plain; charset=utf-8",
            Media::Metrics => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Whether a range of `Accept` has this type.
    fn fits(self, range: &str) -> bool {
        let name = self.content_type().split(';').next().unwrap_or_default();
        let range = range.to_ascii_lowercase();
        range == "*/*" || range == name || range.strip_suffix('*').is_some_and(|kind| name.starts_with(kind))
    }
}

/// The media type that the client prefers, the first one where it has no preference; `None` when it accepts none.
pub(crate) fn preferred(headers: &HeaderMap, offered: &[Media]) -> Option<Media> {
    if !headers.contains_key(ACCEPT) {
        return offered.first().copied();
    }
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
        (range, quality.unwrap_or(1.0_f32))
    });
    let mut ranges: Vec<(&str, f32)> = ranges.filter(|(_, quality)| *quality > 0.0).collect();
    ranges.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranges.iter().find_map(|(range, _)| offered.iter().copied().find(|media| media.fits(range)))
}

/// Whether the client prefers a page to JSON.
pub(crate) fn reads_pages(request: &HeaderMap) -> bool {
    preferred(request, &[Media::Json, Media::Html]) == Some(Media::Html)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_highest_quality_decides_and_then_the_order() {
        let offered = [Media::Markdown, Media::Json, Media::Html];
        let best = |accept: &str| {
            preferred(&[(ACCEPT, HeaderValue::from_str(accept).unwrap())].into_iter().collect(), &offered)
        };
        assert_eq!(preferred(&HeaderMap::new(), &offered), Some(Media::Markdown));
        assert_eq!(best("*/*"), Some(Media::Markdown));
        assert_eq!(best("text/html,application/xhtml+xml,*/*;q=0.8"), Some(Media::Html));
        assert_eq!(best("text/markdown;q=0.3, application/json;q=0.4"), Some(Media::Json));
        assert_eq!(best("TEXT/HTML ; q=1"), Some(Media::Html));
        assert_eq!(best("text/*;q=0, application/*;q=0.1"), Some(Media::Json));
        assert_eq!(best("image/png"), None);
        assert_eq!(best("text/markdown;q=nan"), None);
    }
}
