//! The media type that a client prefers, by the q-values of its `Accept` (RFC 9110, section 12.5).

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

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Media::Markdown => ("text", "markdown"),
            Media::Json => ("application", "json"),
            Media::Html => ("text", "html"),
            Media::Text | Media::Metrics => ("text", "plain"),
        }
    }
}

/// The media type that the client prefers, the first one where it has no preference; `None` when it accepts none.
pub(crate) fn preferred(headers: &HeaderMap, offered: &[Media]) -> Option<Media> {
    if !headers.contains_key(ACCEPT) {
        return offered.first().copied();
    }
    let accept = offered.iter().map(|&media| (media, media_quality(headers, media)));
    // `max_by_key` would return the last of equals.
    accept
        .fold(None, |best: Option<(Media, u16)>, (media, quality)| match best {
            Some((_, known)) if known >= quality => best,
            _ if quality == 0 => best,
            _ => Some((media, quality)),
        })
        .map(|(media, _)| media)
}

/// The client's quality of a media type, in thousandths, from its most specific range.
fn media_quality(headers: &HeaderMap, media: Media) -> u16 {
    let (kind, subtype) = media.names();
    let mut found: Option<(u8, u16)> = None;
    for (range, quality) in items(headers) {
        let Some((range_kind, range_subtype)) = range.split_once('/') else { continue };
        let specific = match (range_kind, range_subtype) {
            ("*", "*") => 0,
            (k, "*") if k.eq_ignore_ascii_case(kind) => 1,
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 2,
            _ => continue,
        };
        if found.is_none_or(|(known, _)| specific > known) {
            found = Some((specific, quality));
        }
    }
    found.map_or(0, |(_, quality)| quality)
}

/// The items of `Accept`, without their parameters, each with its quality in thousandths.
fn items(headers: &HeaderMap) -> impl Iterator<Item = (&str, u16)> {
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let quality = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case("q").then(|| thousandths(value.trim()))
        });
        Some((name, quality.unwrap_or(1000)))
    })
}

/// Quality in thousandths: `0.8` is 800, and an invalid value 0.
fn thousandths(text: &str) -> u16 {
    let value: f32 = text.parse().unwrap_or(0.0);
    if (0.0..=1.0).contains(&value) { (value * 1000.0).round() as u16 } else { 0 }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_most_specific_range_decides_and_then_the_quality() {
        let offered = [Media::Markdown, Media::Json, Media::Html];
        let best = |accept: &str| {
            preferred(&[(ACCEPT, HeaderValue::from_str(accept).unwrap())].into_iter().collect(), &offered)
        };
        assert_eq!(preferred(&HeaderMap::new(), &offered), Some(Media::Markdown));
        assert_eq!(best("*/*"), Some(Media::Markdown));
        assert_eq!(best("text/html,application/xhtml+xml,*/*;q=0.8"), Some(Media::Html));
        assert_eq!(best("text/markdown;q=0.3, application/json;q=0.4"), Some(Media::Json));
        assert_eq!(best("text/*, text/markdown;q=0.1"), Some(Media::Html));
        assert_eq!(best("TEXT/HTML ; Q=1"), Some(Media::Html));
        assert_eq!(best("text/*;q=0, */*;q=0.1"), Some(Media::Json));
        assert_eq!(best("image/png"), None);
        assert_eq!(best("text/markdown;q=nan"), None);
    }
}
