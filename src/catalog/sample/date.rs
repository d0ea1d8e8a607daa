//! Dates and times in the form that a description asks for: `YYYY-MM-DD`, `MM/DD/YYYY`, `HH:MM`.

/// A date or a time in the first form that a description writes; `is_end` for the end of a period.
pub(super) fn by_form(description: &str, is_end: bool) -> Option<String> {
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '(' | ')' | ',' | '[' | ']');
    let words: Vec<&str> =
        description.split(is_edge).map(|word| word.trim_matches(['.', ':', ';'])).collect();
    let at = words.iter().position(|word| is_form(word))?;
    let date = filled(words[at], is_end);
    let time = words.get(at + 1).filter(|time| words[at].contains(['Y', 'y']) && is_time(time));
    Some(time.map_or(date.clone(), |time| format!("{date} {}", filled(time, is_end))))
}

/// Whether a word is made of the letters of a date or time, with separators.
fn is_form(word: &str) -> bool {
    let is_letter = |c: char| matches!(c.to_ascii_lowercase(), 'y' | 'm' | 'd' | 'h' | 's' | 't' | 'z');
    let is_made =
        word.len() <= 32 && word.chars().all(|c| is_letter(c) || matches!(c, '-' | '/' | '.' | ':'));
    let is_date = || {
        let lower = word.to_ascii_lowercase();
        lower.contains("yyyy") || ["mm-dd", "mm/dd", "dd/mm"].contains(&lower.as_str())
    };
    is_made && (is_date() || is_time(word))
}

fn is_time(word: &str) -> bool {
    ["hh:mm", "hh:mm:ss", "hh:mm:ssz", "mm:ss"].contains(&word.to_ascii_lowercase().as_str())
}

/// The form with each run of a letter replaced by its part of a date.
fn filled(form: &str, is_end: bool) -> String {
    let (mut text, mut years, mut is_clock) = (String::new(), 0, false);
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let letter = first.to_ascii_lowercase();
        let length = rest.chars().take_while(|c| c.to_ascii_lowercase() == letter).count();
        let (run, after) = rest.split_at(length);
        is_clock |= letter == 'h';
        match (letter, length) {
            ('y', _) => {
                let year = (2030 + years).to_string();
                text.push_str(if length == 2 { &year[2..] } else { &year });
                years += 1;
            }
            ('m', 3) => text.push_str("Jan"),
            ('m', _) => text.push_str(if is_clock { "00" } else { "01" }),
            ('d', _) => text.push_str(if is_end { "31" } else { "01" }),
            ('h', _) => text.push_str(if is_end { "17" } else { "09" }),
            ('s', _) => text.push_str("00"),
            _ => text.push_str(run),
        }
        rest = after;
    }
    text
}
