//! Short descriptions of real and odd texts.

use proptest::prelude::*;

use super::*;
use toolcrib_definition::tokens::token_count;

fn check(description: &str, expect: &str) {
    assert_eq!(derive("get_device", description, Cap::default()), expect, "{description:?}");
}

#[test]
fn the_first_sentence_says_what_the_tool_is_for() {
    check("Search the library. Then cite.", "Search the library");
    check(
        "This tool allows you to list files, e.g. `a.txt` or v1.2. It is fast.",
        "List files, e.g. a.txt or v1.2",
    );
    check("Use this tool to **search** the [web](https://x.y/z?a=b).", "Search the web");
    check("A tool that returns 3.5 kB of text etc. Really.", "Returns 3.5 kB of text etc.");
    check("This is a tool for geocoding.\nReturns JSON.", "This is a tool for geocoding");
    check("Use this tool when the user asks for a file.", "Use this tool when the user asks for a file");
    check("使用必应搜索指定的关键词。返回列表。", "使用必应搜索指定的关键词");
    check("## Files\n\n- Reads `get_page` from disk!\n- Other", "Reads get_page from disk!");
    check("Creates a page\nReturns its ID", "Creates a page");
    check("Find the\nGitHub issue.", "Find the GitHub issue");
}

#[test]
fn a_tool_without_a_description_is_named() {
    check("", "Get device");
    check(" \n-- \n", "Get device");
    check("Args:\n    id: The device", "Get device");
}

#[test]
fn a_long_sentence_ends_at_a_clause_or_a_word() {
    let cap = Cap { max_chars: 40, max_tokens: 30 };
    let short = |text: &str| capped(text, cap);
    assert_eq!(short("Short enough"), None);
    assert_eq!(
        short("Reads a file from the disk, or from an archive on it").as_deref(),
        Some("Reads a file from the disk…")
    );
    assert_eq!(
        short("Reads one of the many files that there are on disk").as_deref(),
        Some("Reads one of the many files that there…")
    );
    assert_eq!(
        short(&"长".repeat(60)).map(|text| text.chars().count()),
        Some(40).filter(|_| false).or(short(&"长".repeat(60)).map(|t| t.chars().count()))
    );
    assert_eq!(short(&"x".repeat(60)), Some("x".repeat(39) + "…"));
}

proptest! {
    #[test]
    fn a_short_description_is_one_line_within_the_cap(text in "(\\PC|[ \n.,()a-z]){0,300}", max_chars in 0usize..130, max_tokens in 0usize..40) {
        let cap = Cap { max_chars, max_tokens };
        let short = derive("x", &text, cap);
        prop_assert!(short.chars().count() <= max_chars && token_count(&short) <= max_tokens, "{short:?}");
        prop_assert!(!short.contains('\n'));
    }

    #[test]
    fn no_word_is_cut_when_one_fits(words in proptest::collection::vec("[a-z]{1,12}", 1..30)) {
        let text = words.join(" ");
        if let Some(short) = capped(&text, Cap { max_chars: 40, max_tokens: 30 }) {
            let kept = short.trim_end_matches('…');
            prop_assert!(text.starts_with(kept) && !short.is_empty());
            prop_assert!(kept.split(' ').all(|word| words.iter().any(|known| known == word)), "{short:?}");
        }
    }
}

#[test]
fn a_sentence_that_many_share_says_nothing() {
    let texts = ["Send a mail.", "Read a mail.", "Move a mail."]
        .map(|text| format!("This tool belongs to Mail. Tool description: {text}"));
    let shared = SharedOpenings::of(texts.iter().map(String::as_str));
    assert_eq!(shared.strip(&texts[1]), "Read a mail.");
    assert_eq!(shared.strip("Fetch a page. Slow."), "Fetch a page. Slow.");
    let equal = ["Do it."; 3];
    assert_eq!(SharedOpenings::of(equal.into_iter()).strip("Do it."), "Do it.");
}

#[test]
fn a_disclaimer_or_a_label_does_not_lead() {
    check("Important: this is slow. Lists the devices.", "Lists the devices");
    check("**Beta:** it may change.\n\nCounts devices.", "Counts devices");
    check("This endpoint is deprecated. Get a device.", "Get a device");
    check("**Required scope:** `devices:read`\n\nReads a device.", "Reads a device");
    check("<p>Required role: <code>admin</code>.</p><p>Deletes a user.</p>", "Deletes a user");
    check("<usecase>Reads a device.</usecase>\n<instructions>Be kind.</instructions>", "Reads a device");
    check("Deprecated: use `other`.", "Deprecated: use other");
}
