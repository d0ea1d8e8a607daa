//! The beginning of a text.

use toolcrib_definition::clean_line;

/// The beginning of a text, at most this many characters: whole sentences where one fits, else whole words.
pub(super) fn brief(text: &str, most: usize) -> String {
    let text = clean_line(text);
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let head = &text[..end];
    let sentence = head.rmatch_indices(['.', '!', '?', '。']).map(|(at, mark)| at + mark.len());
    let is_end = |at: &usize| text[*at..].starts_with(' ') || head.len() == *at;
    if let Some(at) = sentence.into_iter().find(is_end).filter(|at| *at * 3 >= head.len()) {
        return head[..at].to_string();
    }
    let word = head.rfind(' ').filter(|at| *at * 2 >= head.len()).unwrap_or(head.len());
    format!("{}…", head[..word].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn a_text_is_cut_after_a_sentence_or_a_word() {
        assert_eq!(brief("One thing.  And\nmore", 40), "One thing. And more");
        assert_eq!(brief("One thing. And another thing that is long", 20), "One thing.");
        assert_eq!(brief("One thing, and another thing that is long", 12), "One thing…");
        assert_eq!(brief("Version 1.25 of the thing that counts", 12), "Version…");
        assert_eq!(brief("ééééé", 3), "ééé…");
    }
}
