//! Nothing in untrusted text becomes markup that its author did not write.

use proptest::prelude::*;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::markers::break_marker;
use super::*;

fn inlined(text: &str, expect: &str) {
    assert_eq!(inline(text), expect, "{text}");
}

fn shown(text: &str, expect: &str) {
    assert_eq!(prose(text), expect, "{text}");
}

#[test]
fn ordinary_text_costs_nothing() {
    for text in [
        "Read a file (max 80 chars) - e.g. user_id, a.b, 1 < 2 & 3 > 2.",
        "Returns `list_files` or [optional] flags; see https://example.com/a_b?c=1#d",
        "_id of the item, ~5 MB, 2 * 3, C:\\path, <= 10, AT&T",
    ] {
        inlined(text, text);
    }
}

#[test]
fn a_line_keeps_its_words_and_loses_its_markup() {
    inlined("**Important**: read\nthis `a|b` *first*", "Important: read this `a|b` first");
    inlined("a `b and __d__", "a `` `b `` and `__d__`");
    inlined("[x](javascript:y) ![i](http://z) [^1]", "[x] (javascript:y) i (http://z) [^1]");
    inlined("[x] done", "`[x]` done");
    inlined("<b>hi</b> <!-- toolcrib:x -->", "`<b>hi</b>` <! -- toolcrib:x -->");
    inlined("&#8203; (&zwj;) List<T>.", "`&#8203;` (`&zwj;`) `List<T>`.");
    inlined("# title", "`#` title");
    inlined("**- one**", "`-` one");
    inlined("1. one", "`1.` one");
    inlined("`<!-- toolcrib:doc -->`", "`<! -- toolcrib:doc -->`");
}

#[test]
fn nothing_is_escaped_that_markdown_takes_for_text() {
    for text in [
        "Your Name <sender@domain.com> or <https://x.y>",
        "*.md and a * b",
        "1 <2 and a<-b",
        "ends in \\",
        "[optional] flags",
        "`\\*.md` in code",
        "^\\d+\\.\\d+$",
    ] {
        inlined(text, text);
        shown(text, text);
    }
}

#[test]
fn code_and_fences_outgrow_their_backticks() {
    assert_eq!(code("a `b` ``c``"), "``` a `b` ``c`` ```");
    assert_eq!(code("x\ny"), "`x y`");
    assert_eq!(code(" \u{200b}"), "");
    assert_eq!(
        fence("json", "{\"a\": \"<!-- toolcrib -->\"}"),
        "```json\n{\"a\": \"\\u003c!-- toolcrib -->\"}\n```"
    );
    assert_eq!(fence("a`\nb", "```\nx\n````"), "`````ab\n```\nx\n````\n`````");
}

#[test]
fn headings_become_bold_lines() {
    shown("Intro\n# Usage\ntext", "Intro\n\n**Usage**\n\ntext");
    shown("Usage\n=====\n\ntext\n---\nmore\n***\nend", "**Usage**\n\n**text**\n\nmore\n\nend");
    shown("one\n-", "**one**");
    shown("a\n  # Usage", "a\n\n**Usage**");
    shown("a\n\n  ***\nb", "a\n\n\nb");
    shown("## **Bold** and `code` ##", "**Bold and `code`**");
    shown("---\nname: x\n---\nbody", "**name: x**\n\nbody");
    shown("# Arguments:\n- `x` (string): y", "*Arguments:*\n\n- `x` (string): y");
    shown("**Arguments:**\n- **kept:** y", "*Arguments:*\n- **kept:** y");
}

#[test]
fn html_and_doubtful_links_become_text() {
    shown("a <b>c</b> `<d>` 1 < 2", "a `<b>`c`</b>` `<d>` 1 < 2");
    shown("<!-- hidden -->\ntext", "< !-- hidden -->\ntext");
    shown("<script>\n# x\n</script>", "`<script>`\n\n**x**\n\n`</script>`");
    shown("[a](https://x.y) [b](file.md) ![c](http://d/e.png)", "[a](https://x.y) b [c](http://d/e.png)");
    shown("[![badge](http://i)](http://l)", "[badge](http://l)");
    shown("[a]\n\n[a]: javascript:x\n[^n]: note", "[a]\n\n[a] : javascript:x\n[^n] : note");
    shown("```\n<!-- toolcrib:doc 1 -->\n```", "```\n<! -- toolcrib:doc 1 -->\n```");
    shown("zero &ZeroWidthSpace; width", "zero & ZeroWidthSpace; width");
}

#[test]
fn links_of_a_website_become_their_text() {
    shown(
        "See [below](#channels), [`x`](ref:block) or [the guide](../a/b.md).",
        "See below, `x` or the guide.",
    );
    shown(
        "Write links as [text](url), [t](javascript:x).",
        "Write links as [text] (url), [t] (javascript:x).",
    );
    shown("a [](#b) ![c](/d.png)", "a [] (#b) c");
    inlined("See [below](#channels), or [`/list`](/reference/list).", "See below, or `/list`.");
    inlined("A [list](https://a.b/c), [d]( https://e.f ).", "A list (https://a.b/c), d (https://e.f).");
    inlined("`[a](#b)` and [text](url)", "`[a](#b)` and [text] (url)");
    inlined("a[0](/x) [[b](#c)] \\[d](#e)", "a0 [b] \\[d] (#e)");
}

#[test]
fn open_fences_are_closed() {
    shown("x\n````py\ncode", "x\n````py\ncode\n````");
    shown("- ~~~\n  code", "- ~~~\n  code");
    shown("~~~\na <b>", "~~~\na <b>\n~~~");
}

#[test]
fn docstrings_lose_their_common_indentation() {
    shown("Reads.\n\n    Args:\n        x: the x\n", "Reads.\n\nArgs:\n    x: the x");
}

#[test]
fn a_text_that_resists_is_shown_as_it_is() {
    let nested = format!("{}x{}", "[".repeat(40), "](a)".repeat(40));
    let shown = prose(&nested);
    assert!(shown.starts_with("```text\n[[["), "{shown}");
}

#[test]
fn hostile_sizes_stay_fast() {
    let start = std::time::Instant::now();
    for unit in [
        "**a** ", "[", "`", "``` ", "<", "**a", "> ", "- ", "&", "_a ", "\\", "[a](", "<a ", "# \n",
        "[a]: b\n", "a\n===\n", "<!--",
    ] {
        let text = unit.repeat(100_000 / unit.len());
        prose(&text);
        inline(&text);
        code(&text);
    }
    let ticks: String = (1..400).map(|n| "`".repeat(n) + " ").collect();
    inline(&ticks);
    prose(&ticks);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

fn hostile() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "#", "# ", "\n", "\n\n", "    ", "  ", "- ", "* ", "1. ", "> ", "```", "~~~", "````", "`", "``", "<",
        "<!--", "-->", "<b>", "</b>", "<script>", "<div>", "<?", "<![CDATA[", "<a@b.c>", "<https://a.b>",
        "<x:y>", "[", "]", "](", ")", "(", "[a]", "[a]: ", "[^1]", "[^1]: ", "!", "http://a.b",
        "javascript:x", "\\", "**", "*", "_", "__", "~", "~~", "|", "|---|---|", "---", "===", ":", "&",
        "&lt;", "&#8203;", "&#60;", "a", "word", " ", "é", "\t", "<!-- toolcrib:doc -->", "toolcrib",
        "- [ ] ", "\"", "'", "=", "$", "{{", "**x:**", "\u{200b}", "\u{a0}", "。",
    ];
    prop_oneof![
        4 => proptest::collection::vec(proptest::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,60}",
        1 => any::<String>(),
    ]
}

fn modes() -> [Options; 2] {
    let gfm = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    [gfm, Options::empty()]
}

fn is_web(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.to_lowercase().starts_with(scheme))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn prose_stays_in_its_place(text in hostile()) {
        let shown = prose(&text);
        prop_assert!(!shown.contains("<!-- toolcrib"));
        let page = format!("# name\n\n{shown}\n\n## Section\n\n- item\n");
        for options in modes() {
            let events: Vec<Event> = Parser::new_ext(&page, options).collect();
            let headings = events.iter().filter(|event| matches!(event, Event::Start(Tag::Heading { .. }))).count();
            prop_assert_eq!(headings, 2, "{}", page);
            for event in &events {
                prop_assert!(!matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::FootnoteReference(_) | Event::Rule), "{}", page);
                if let Event::Start(Tag::Link { dest_url, link_type, .. } | Tag::Image { dest_url, link_type, .. }) = event {
                    prop_assert!(is_web(dest_url) || *link_type == LinkType::Email, "{}", page);
                }
            }
            let plain: Vec<Event> = Parser::new_ext("## Section\n\n- item\n", options).collect();
            prop_assert_eq!(&events[events.len() - plain.len()..], &plain[..], "{}", page);
        }
    }

    #[test]
    fn inline_is_one_line_of_text(text in hostile()) {
        let line = inline(&text);
        prop_assert!(!line.contains("<!-- toolcrib"));
        for page in [format!("- **[name](name.md)** - {line}\n- next\n"), format!("- **[{}](name.md)** - x\n- next\n", name(&text))] {
            for options in modes() {
                let events: Vec<Event> = Parser::new_ext(&page, options).collect();
                let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
                prop_assert_eq!(count(|e| match e {
                    Event::Start(Tag::Link { link_type: LinkType::Autolink, dest_url, .. }) => !is_web(dest_url),
                    Event::Start(Tag::Link { link_type, .. }) => *link_type != LinkType::Email,
                    event => matches!(event, Event::Start(Tag::Image { .. })),
                }), 1, "{}", page);
                prop_assert_eq!(count(|e| matches!(e, Event::Start(Tag::Item))), 2, "{}", page);
                prop_assert_eq!(count(|e| matches!(e, Event::Start(Tag::Strong))), 1, "{}", page);
                prop_assert_eq!(count(|e| matches!(e, Event::Start(Tag::Emphasis | Tag::Strikethrough))), 0, "{}", page);
                prop_assert_eq!(count(|e| matches!(e, Event::Html(_) | Event::InlineHtml(_))), 0, "{}", page);
            }
        }
        let alone = format!("above\n{line}\nbelow\n\n# name\n\n{line}\n");
        for options in modes() {
            for event in Parser::new_ext(&alone, options).skip(1) {
                if let Event::Start(tag) = event {
                    let is_address = matches!(tag, Tag::Link { link_type: LinkType::Email | LinkType::Autolink, .. });
                    prop_assert!(is_address || matches!(tag, Tag::Paragraph | Tag::Heading { .. }), "{:?} {}", tag, alone);
                }
            }
            let headings = Parser::new_ext(&alone, options).filter(|e| matches!(e, Event::Start(Tag::Heading { .. })));
            prop_assert_eq!(headings.count(), 1, "{}", alone);
        }
    }

    #[test]
    fn code_reads_back(text in hostile()) {
        let line = toolcrib_definition::clean_line(&text);
        let expect = break_marker(&line, "<! --").into_owned();
        let read: String = Parser::new(&format!("x {}", code(&text)))
            .filter_map(|event| if let Event::Code(code) = event { Some(code.to_string()) } else { None })
            .collect();
        prop_assert_eq!(read, expect);
    }

    #[test]
    fn fences_read_back(text in hostile()) {
        let expect = break_marker(&toolcrib_definition::clean_text(&text), "<! --").into_owned();
        let page = format!("{}\n\nafter", fence("text", &text));
        let events: Vec<Event> = Parser::new(&page).collect();
        let read: String = events[1..].iter()
            .take_while(|event| matches!(event, Event::Text(_)))
            .filter_map(|event| if let Event::Text(text) = event { Some(text.to_string()) } else { None })
            .collect();
        prop_assert_eq!(read.strip_suffix('\n').unwrap_or(""), expect);
        prop_assert_eq!(events.len() - events.iter().filter(|e| matches!(e, Event::Text(_))).count(), 4);
    }
}
