//! Example values that a description mentions: `e.g. octocat`, `for example 'main'`, `Examples: HEAD~1`.

/// Words that come before an example, and whether the example may stand without quotes.
const MARKERS: [(&str, bool); 14] = [
    ("e.g.", true),
    ("e.g", true),
    ("for example", true),
    ("example:", true),
    ("examples:", true),
    ("such as", false),
    ("one of:", true),
    ("one of", false),
    ("options:", true),
    ("allowed values:", true),
    ("valid values:", true),
    ("possible values:", true),
    ("like", false),
    ("default:", true),
];

/// The first example value that a description mentions.
pub(super) fn find(description: &str) -> Option<String> {
    let start: String = description.chars().take(600).collect();
    let lower = start.to_ascii_lowercase();
    MARKERS.iter().find_map(|(marker, bare)| {
        let at = lower
            .match_indices(marker)
            .map(|(at, _)| at)
            .find(|&at| !lower[..at].ends_with(char::is_alphanumeric))?;
        let rest = start[at + marker.len()..].trim_start_matches([',', ':', ' ', '\n', '-', '(']);
        quoted(rest).or_else(|| if *bare { plain(rest) } else { None })
    })
}

fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let close = match quote {
        '"' | '\'' | '`' => quote,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let inner = &text[quote.len_utf8()..];
    let found = inner[..inner.find(close)?].trim_matches(['"', '\'', '`']);
    (!found.trim().is_empty() && found.chars().count() <= 80 && is_value(found)).then(|| found.to_string())
}

/// A bare word is an example unless it reads like the rest of the sentence.
fn plain(text: &str) -> Option<String> {
    let end = text.find([',', ';', ')', '\n', '|']).unwrap_or(text.len());
    let found = text[..end].split(". ").next()?.split(" or ").next()?.trim().trim_end_matches('.');
    let words = found.split_whitespace().count();
    let telling = found.starts_with(|c: char| c.is_uppercase() || c.is_numeric()) && words <= 3
        || words == 1 && found.len() > 1;
    let enough =
        telling && found.chars().count() <= 60 && !found.contains(['"', '\'', '`', '(', '=', '{', '[']);
    (enough && is_value(found)).then(|| found.to_string())
}

/// Whether a mention is a value and not a placeholder or a word of the sentence.
fn is_value(text: &str) -> bool {
    const NO_VALUES: [&str; 16] = [
        "the", "a", "an", "if", "in", "to", "for", "when", "none", "null", "true", "false", "this", "use",
        "it", "we",
    ];
    let lower = text.to_ascii_lowercase();
    !NO_VALUES.contains(&lower.as_str())
        && !text.contains(['<', '>', '…'])
        && !text.contains("...")
        && !lower.contains("yyyy")
        && !lower.contains("xxx")
}
