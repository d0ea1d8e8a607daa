//! Lines of descriptions. Their authors indent, number and mark them more freely than Markdown allows.

/// The text of a bulleted line.
pub fn bullet(line: &str) -> Option<&str> {
    let line = line.trim();
    let marks = ["- ", "* ", "\u{2022} ", "\u{2013} ", "\u{2022}"];
    let text = marks.into_iter().find_map(|mark| line.strip_prefix(mark))?.trim();
    (!text.is_empty()).then_some(text)
}

/// The text of a line with a bullet or a number.
pub fn item(line: &str) -> Option<&str> {
    bullet(line).or_else(|| {
        let (number, text) = line.trim().split_once(['.', ')'])?;
        (number.parse::<u8>().is_ok() && text.starts_with(' ')).then(|| text.trim_start())
    })
}

/// Follows the fences of a text, line by line.
#[derive(Debug, Default)]
pub struct Fences {
    is_open: bool,
}

impl Fences {
    /// Whether the next line is code, or the fence after it.
    pub fn are_open(&self) -> bool {
        self.is_open
    }

    /// Whether a line is code, or the fence before it.
    pub fn holds(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        // A span of code can have as many backticks.
        let is_span = !self.is_open && line.trim_start_matches('`').contains('`');
        self.is_open ^= line.starts_with("```") && !is_span;
        self.is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_bulleted_or_numbered() {
        for (line, text) in [("- a", "a"), ("  •b ", "b"), ("2) c", "c"), ("10. d", "d")] {
            assert_eq!(item(line), Some(text), "{line}");
        }
        for line in ["-", "a - b", "2.5 of it", "300. x", "**a**"] {
            assert_eq!(item(line), None, "{line}");
        }
    }

    #[test]
    fn a_span_of_code_opens_no_fence() {
        let mut fences = Fences::default();
        let lines = ["a", "```x``` is code", "```js", "- b", "```", "c"];
        assert_eq!(lines.map(|line| fences.holds(line)), [false, false, true, true, false, false]);
    }
}
