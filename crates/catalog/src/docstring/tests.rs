//! Docstrings in the forms that real tools have.

use super::*;
use proptest::prelude::*;

fn arguments(parts: &Docstring) -> Vec<(&str, &str)> {
    parts.arguments.iter().map(|(name, about)| (name.as_str(), about.as_str())).collect()
}

const GOOGLE: &str = "Create a verified citation.

    Tip: Use search_library first,
    then cite the passage.

    Args:
        text: Quoted text from the document
            (the evidence)
        page (int, optional): Page number

    Returns:
        Citation ID: use [N] in your text.

    Raises:
        ValueError: when the page
            is negative

    Example:
        cite(\"a\")

        cite(\"b\", page=2)  # second page

    Sources are checked once a day.";

#[test]
fn a_google_docstring_comes_apart() {
    let parts = split(GOOGLE);
    assert_eq!(parts.body, "Create a verified citation.\n\nSources are checked once a day.");
    let expect =
        [("text", "Quoted text from the document (the evidence)"), ("page", "(int, optional) Page number")];
    assert_eq!(arguments(&parts), expect);
    assert_eq!(parts.returns.as_deref(), Some("Citation ID: use [N] in your text."));
    assert_eq!(parts.raises, ["ValueError: when the page is negative"]);
    assert_eq!(parts.examples, ["cite(\"a\")\n\ncite(\"b\", page=2)  # second page"]);
    assert_eq!(parts.notes, ["Use search_library first,\nthen cite the passage."]);
}

#[test]
fn markdown_numpy_and_sphinx_come_apart() {
    let parts = split(
        "Read.\n\n## Parameters\n- **`path`** (str): The file\n- `limit`: Lines\n\n**Returns:**\nThe text.\n\nMore.",
    );
    assert_eq!(arguments(&parts), [("path", "(str) The file"), ("limit", "Lines")]);
    assert_eq!(parts.returns.as_deref(), Some("The text."));
    assert_eq!(parts.body, "Read.\n\nMore.");

    let parts = split(
        "Add.\n\nParameters\n----------\nx : int\n    First\ny : int\n    Second\n\nReturns\n-------\nint\n    Sum",
    );
    assert_eq!(arguments(&parts), [("x", "int First"), ("y", "int Second")]);
    assert_eq!(parts.returns.as_deref(), Some("int\n    Sum"));

    let parts =
        split("Add.\n:param int x: First\n    one\n:type y: str\n:raises KeyError: never\n:return: Sum");
    assert_eq!(arguments(&parts), [("x", "(int) First one"), ("y", "(str)")]);
    assert_eq!((parts.raises, parts.returns), (vec!["KeyError: never".to_string()], Some("Sum".to_string())));
}

#[test]
fn a_numpy_docstring_is_read_with_types_defaults_errors_and_examples() {
    let parts = split(
        "Scale a vector.\n\nParameters\n----------\nx, y : float\n    A coordinate.\nfactor : {1, 2}, optional\n    \
         Default is 2.\n*rest : int\n    More.\n\nRaises\n------\nValueError\n    If it is zero.\nKeyError\n    Never.\n\n\
         Examples\n--------\n>>> scale(1, 2)\n(2, 4)",
    );
    let expect = [
        ("x", "float A coordinate."),
        ("y", "float A coordinate."),
        ("factor", "{1, 2}, optional Default is 2."),
        ("rest", "int More."),
    ];
    assert_eq!(arguments(&parts), expect);
    assert_eq!(parts.raises, ["ValueError: If it is zero.", "KeyError: Never."]);
    assert_eq!(parts.examples, [">>> scale(1, 2)\n(2, 4)"]);
}

#[test]
fn each_error_is_told_alone() {
    let parts = split(
        "Read.\n\nRaises:\n    ValueError: If it is empty\n        or too long\n    io.Error: When it fails",
    );
    assert_eq!(parts.raises, ["ValueError: If it is empty or too long", "io.Error: When it fails"]);
    let parts = split("Read.\n\nRaises:\n    An error in most cases.\n    Always a timeout.");
    assert_eq!(parts.raises, ["An error in most cases.\nAlways a timeout."]);
}

#[test]
fn what_is_not_clearly_a_section_stays() {
    let unchanged = |text: &str| {
        assert_eq!(
            split(text),
            Docstring { body: text.into(), without_arguments: text.into(), ..Docstring::default() }
        )
    };
    unchanged("Args:\n    the usual ones, or none");
    unchanged("Returns the page.\nexample: none\nUsage of this tool: free");
    unchanged("```\nArgs:\n    x: y\n```");
    unchanged("Example:");
    unchanged("We support:\nReturns: 3 kinds");
}

/// Words of lines that are no headings.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

proptest! {
    #[test]
    fn no_word_is_lost(lines in proptest::collection::vec((0usize..3, "(Args:|Returns:|Note: w|Examples:|## Notes|---|```|:param k[0-9]:|:raises k:|- |)", "[a-z0-9 :()`*-]{0,12}"), 0..14)) {
        let text: Vec<String> = lines.iter().map(|(deep, mark, text)| format!("{}{mark} {text}", "    ".repeat(*deep))).collect();
        let parts = split(&text.join("\n"));
        let mut out = format!("{} {} {}", parts.body, parts.returns.as_deref().unwrap_or(""), parts.examples.join(" "));
        out += &format!(" {} {}", parts.notes.join(" "), parts.raises.join(" "));
        parts.arguments.iter().for_each(|(name, about)| out += &format!(" {name} {about}"));
        for (_, _, line) in &lines {
            for word in words(line) {
                prop_assert!(out.contains(word), "{word:?} of {text:?} is not in {parts:?}");
            }
        }
        prop_assert!(split(&parts.body).body.len() <= parts.body.len());
    }

    #[test]
    fn any_text_is_taken(text in "(\\PC|[ \n\t:(`-]){0,200}") {
        split(&text);
    }
}

#[test]
fn only_what_is_said_of_arguments_is_left_out() {
    let text = "Cite a page.\n\nArgs:\n    url: The page\n    claim: What it says\n\nReturns:\n    A number.";
    assert_eq!(split(text).without_arguments, "Cite a page.\n\nReturns:\n    A number.");
}
