//! Texts of pages: our safe markdown as safe HTML, with only the elements and links that a text needs; names and JSON of
//! bounded length. As a second defence, a sanitiser that does not know markdown checks the HTML.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use toolcrib_definition::{clean_line, clean_text};
use toolcrib_render::escaped;
use toolcrib_render::markdown::inline;

/// Elements that a text may contain.
const ELEMENTS: [&str; 25] = [
    "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul", "sub", "sup", "div",
];

static WALL: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut wall = Builder::empty();
    wall.tags(HashSet::from(ELEMENTS))
        .tag_attributes(HashMap::from([("a", HashSet::from(["href"])), ("ol", HashSet::from(["start"]))]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("nofollow noopener noreferrer"));
    wall
});

/// Blocks of markdown as HTML.
pub(super) fn blocks(markdown: &str) -> String {
    if markdown.trim().is_empty() {
        return String::new();
    }
    WALL.clean(&converted(markdown)).to_string()
}

/// One line of markdown as HTML without a block around it.
pub(super) fn line(markdown: &str) -> String {
    if let Some(html) = without_markup(markdown) {
        return html;
    }
    let html = blocks(markdown);
    let html = html.trim();
    match html.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>")) {
        Some(inner) if !inner.contains("<p>") => inner.to_string(),
        _ => html.to_string(),
    }
}

/// One line of untrusted text as HTML.
pub(crate) fn inline_html(text: &str) -> String {
    line(&inline(text))
}

/// Most lines are plain words, or one name in a code span: escaping is all they need.
fn without_markup(markdown: &str) -> Option<String> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.starts_with([' ', '-', '+', '=', '#', '.', ':'])
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| {
                byte >= 128 || byte.is_ascii_alphanumeric() || b" .,:;()/'-=%$@+?\"".contains(&byte)
            })
    };
    let code = markdown.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    if let Some(text) = code.filter(|text| !text.contains('`') && !text.starts_with(' ') && !text.is_empty())
    {
        return Some(format!("<code>{}</code>", escaped(text)));
    }
    let has_link = markdown.contains("://") || markdown.contains("www.");
    (is_plain(markdown) && !has_link && !markdown.contains("  ")).then(|| escaped(markdown))
}

/// HTML in the text becomes text, images their description; headings stand below ours.
fn converted(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level: lowered(level),
            id: None,
            classes: vec![],
            attrs: vec![],
        })),
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lowered(level)))),
        event => Some(event),
    });
    let mut html = String::with_capacity(markdown.len() * 2);
    push_html(&mut html, events);
    html
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Most bytes of JSON in one place of a page.
const MAX_JSON: usize = 64 << 10;

/// JSON to read and to copy.
pub(crate) fn json_text(value: &Value) -> String {
    let compact = value.to_string();
    let text =
        if compact.len() <= 72 { compact } else { serde_json::to_string_pretty(value).unwrap_or_default() };
    cut(clean_text(&text).into(), MAX_JSON)
}

/// A text of bounded length.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("\n… cut here; registry.json has all of it");
    }
    text
}

/// Most characters of a name in a list.
pub(super) const MAX_NAME: usize = 120;

/// A text of at most this many characters; a longer one ends in an ellipsis.
pub(super) fn clipped(text: &str, most: usize) -> String {
    toolcrib_definition::clipped(text, most).into_owned()
}

/// A name for lists; an invisible one is replaced.
pub(super) fn shown_name(name: &str, otherwise: &str) -> String {
    let name = clean_line(name);
    if name.is_empty() { otherwise.to_string() } else { clipped(&name, MAX_NAME) }
}

/// Most characters of a value in a list.
const MAX_VALUE: usize = 300;

/// A value in a list about the running server, which comes from a caller or a tool.
pub(crate) fn short_line(text: &str) -> String {
    clipped(&clean_line(text), MAX_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_markdown_is_inert() {
        let check = |markdown: &str, expect: &str| assert_eq!(blocks(markdown).trim(), expect, "{markdown}");
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>");
        check("[a](javascript:alert(1))", "<p><a rel=\"nofollow noopener noreferrer\">a</a></p>");
        check("[a](//evil.example)", "<p><a rel=\"nofollow noopener noreferrer\">a</a></p>");
        check("![a](https://evil.example/pixel.png)", "<p>a</p>");
        check("# Big", "<h4>Big</h4>");
        check(
            "[a](https://example.com/?a=1&b=2)",
            "<p><a href=\"https://example.com/?a=1&amp;b=2\" rel=\"nofollow noopener noreferrer\">a</a></p>",
        );
    }

    #[test]
    fn lines_are_the_same_with_and_without_the_parser() {
        for text in ["Plain words, (and more).", "`code`", "a - b", "x = 1", "What's this?", "日本語"] {
            let parsed = blocks(text);
            let parsed = parsed.trim().trim_start_matches("<p>").trim_end_matches("</p>");
            assert_eq!(line(text).replace("&#39;", "'").replace("&quot;", "\""), parsed, "{text}");
        }
    }
}
