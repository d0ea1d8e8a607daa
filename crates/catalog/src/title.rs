//! Words of titles: those that each title of an API has, and those that are spelled in capitals.

/// A title of an API without the words that each such title has: `Netlify's API documentation` is `Netlify`.
pub(crate) fn bare(title: &str) -> &str {
    const FILLERS: [&str; 5] = ["api", "apis", "documentation", "reference", "rest"];
    let shorter = |text: &str| {
        let (word_start, _) = text.char_indices().rev().take_while(|(_, c)| c.is_alphanumeric()).last()?;
        let (rest, word) = text.split_at(word_start);
        // `PetsApi`: the last word begins with a capital.
        let camel = word.char_indices().rev().find(|(_, c)| c.is_uppercase()).filter(|(at, _)| *at > 0);
        let is_filler = |word: &str| FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word));
        let end = match camel.map(|(at, _)| word.split_at(at)).filter(|(_, last)| is_filler(last)) {
            _ if is_filler(word) => rest.len(),
            Some((before, _)) => rest.len() + before.len(),
            None => return None,
        };
        let rest = text[..end].trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | ']'));
        (!rest.is_empty()).then_some(end.min(rest.len()))
    };
    let mut text = title.trim();
    while let Some(end) = shorter(text) {
        text = &text[..end];
    }
    let owned = ["'s", "’s"].iter().find_map(|end| text.strip_suffix(end));
    owned.filter(|owned| !owned.is_empty() && text.len() < title.len()).unwrap_or(text)
}

/// Spells formats and protocols in capitals.
pub(super) fn spelled(word: String) -> String {
    const CAPITALS: [&str; 20] = [
        "ai", "api", "crm", "css", "csv", "dns", "html", "http", "ip", "json", "pdf", "sms", "sql", "svg",
        "tls", "ui", "url", "vm", "vpn", "xml",
    ];
    if CAPITALS.contains(&word.as_str()) { word.to_uppercase() } else { word }
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn a_title_loses_the_words_that_all_titles_have() {
        for (title, expected) in [
            ("Netlify's API documentation", "Netlify"),
            ("Box Platform API", "Box Platform"),
            ("PetsApi", "Pets"),
            ("REST API", "REST"),
            ("users-api", "users"),
            ("API keys", "API keys"),
            ("Acme’s REST API reference", "Acme"),
            ("McDonald's", "McDonald's"),
            ("Metadata instances (Files)", "Metadata instances (Files)"),
            ("", ""),
        ] {
            assert_eq!(bare(title), expected, "{title}");
        }
    }
}
