//! Lists of words in a text, which are easier to read and to change there than in code.

/// The lists of a text, one a line, in their order. A line that begins with `#` is a comment.
pub(crate) fn word_lists<const N: usize>(text: &'static str) -> [Vec<&'static str>; N] {
    let mut lists = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect());
    std::array::from_fn(|_| lists.next().unwrap_or_default())
}
