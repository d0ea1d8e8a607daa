//! Docstrings in the forms that real tools have.

use super::*;
use proptest::prelude::*;
use toolcrib_definition::schema::Node;

/// The texts of arguments beside a schema that has the type.
fn arguments(parts: &Docstring) -> Vec<(String, String)> {
    let property = serde_json::json!({ "type": "string" });
    let text = |described: &Described| described.beside(&Node::root(&property));
    parts.arguments.iter().map(|(name, described)| (name.clone(), text(described))).collect()
}

#[track_caller]
fn check(parts: &Docstring, expect: &[(&str, &str)]) {
    let expect: Vec<(String, String)> =
        expect.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    assert_eq!(arguments(parts), expect);
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
    check(&parts, &[("text", "Quoted text from the document (the evidence)"), ("page", "Page number")]);
    assert_eq!(parts.result(false).as_deref(), Some("Citation ID: use [N] in your text."));
    assert_eq!(parts.raises, ["ValueError: when the page is negative"]);
    assert_eq!(parts.examples, ["cite(\"a\")\n\ncite(\"b\", page=2)  # second page"]);
    assert_eq!(parts.notes, ["Use search_library first,\nthen cite the passage."]);
}

#[test]
fn markdown_numpy_and_sphinx_come_apart() {
    let parts = split(
        "Read.\n\n## Parameters\n- **`path`** (str): The file\n- `limit`: Lines\n\n**Returns:**\nThe text.\n\nMore.",
    );
    check(&parts, &[("path", "The file"), ("limit", "Lines")]);
    assert_eq!(parts.result(false).as_deref(), Some("The text."));
    assert_eq!(parts.body, "Read.\n\nMore.");

    let parts = split(
        "Add.\n\nParameters\n----------\nx : int\n    First\ny : int\n    Second\n\nReturns\n-------\nint\n    Sum",
    );
    check(&parts, &[("x", "First"), ("y", "Second")]);
    assert_eq!(parts.result(false).as_deref(), Some("(int) Sum"));

    let parts =
        split("Add.\n:param int x: First\n    one\n:type y: str\n:raises KeyError: never\n:return: Sum");
    check(&parts, &[("x", "First one"), ("y", "")]);
    assert_eq!(parts.raises, ["KeyError: never"]);
    assert_eq!(parts.result(false).as_deref(), Some("Sum"));
}

#[test]
fn a_numpy_docstring_is_read_with_types_defaults_errors_and_examples() {
    let parts = split(
        "Scale a vector.\n\nParameters\n----------\nx, y : float\n    A coordinate.\nfactor : {1, 2}, optional\n    \
         Default is 2.\n*rest : int\n    More.\n\nRaises\n------\nValueError\n    If it is zero.\nKeyError\n    Never.\n\n\
         Examples\n--------\n>>> scale(1, 2)\n(2, 4)",
    );
    let expect = [
        ("x", "A coordinate."),
        ("y", "A coordinate."),
        ("factor", "({1, 2}) Default is 2."),
        ("rest", "More."),
    ];
    check(&parts, &expect);
    assert_eq!(parts.raises, ["ValueError: If it is zero.", "KeyError: Never."]);
    assert_eq!(parts.examples, [">>> scale(1, 2)\n(2, 4)"]);
}

#[test]
fn a_type_is_said_once_in_every_style() {
    let styles = [
        "Args:\n    to (str): Whom\n    n (int, default 5): How many\n    tags (Optional[List[str]]): Tags\n\nReturns:\n    List[str]: Ids",
        "Parameters\n----------\nto : str\n    Whom\nn : int, default 5\n    How many\ntags : list of str, optional\n    Tags\n\nReturns\n-------\nids : List[str]\n    Ids",
        ":param str to: Whom\n:param n: How many\n:type n: int, default 5\n:param list[str] tags: Tags\n:returns: Ids\n:rtype: List[str]",
        "@param to: Whom\n@type to: str\n@param n: How many\n@type n: int, default 5\n@param tags: Tags\n@return: Ids\n@rtype: List[str]",
        "Keyword Args:\n    - `to` (:obj:`str`): Whom\n    - `n`: (int, default 5) How many\n    - `tags` (str | None) - Tags\n\nReturns: List[str]: Ids",
    ];
    for style in styles {
        let parts = split(&format!("Send.\n\n{style}"));
        check(&parts, &[("to", "Whom"), ("n", "(default 5) How many"), ("tags", "Tags")]);
        assert_eq!(parts.result(false).as_deref(), Some("(List[str]) Ids"), "{style}");
        assert_eq!((parts.result(true).as_deref(), parts.body.as_str()), (Some("Ids"), "Send."), "{style}");
    }
}

#[test]
fn what_a_schema_does_not_say_stays_beside_a_type() {
    let check = |kind: &str, property: serde_json::Value, expect: &str| {
        let described = Described { kind: kind.into(), about: "Text".into() };
        assert_eq!(described.beside(&Node::root(&property)), expect, "{kind}");
    };
    let text = || serde_json::json!({ "type": "string" });
    check("ISO 8601", text(), "(ISO 8601) Text");
    check("float, in seconds", text(), "(in seconds) Text");
    check("str, default 'a, b', optional", text(), "(default 'a, b') Text");
    check("{'a', 'b'}", text(), "({'a', 'b'}) Text");
    check("Literal['a', 'b']", serde_json::json!({ "enum": ["a", "b"] }), "Text");
    check("int, default 5", serde_json::json!({ "type": "integer", "default": 5 }), "Text");
    check("datetime", serde_json::json!({ "type": "string", "format": "date-time" }), "Text");
    check("datetime", text(), "(datetime) Text");
    check("str, optional", serde_json::json!({}), "(str, optional) Text");
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
        let mut out = format!("{} {} {} {}", parts.body, parts.returns.kind, parts.returns.about, parts.examples.join(" "));
        out += &format!(" {} {}", parts.notes.join(" "), parts.raises.join(" "));
        parts.arguments.iter().for_each(|(name, Described { kind, about })| out += &format!(" {name} {kind} {about}"));
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
