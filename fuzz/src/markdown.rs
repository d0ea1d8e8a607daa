//! Any text as what a tool says of itself, in its doc and on its page: it stays in its place, opens no section and forges
//! no marker, is the same when it is cleaned again, and brings no script or other HTML of its own.

use std::cell::RefCell;
use std::sync::Arc;

use pulldown_cmark::{Event, Options, Parser, Tag};
use toolcrib::catalog::{Catalog, Checked, Tool};
use toolcrib::render::markdown::prose;
use toolcrib::render::{Around, Doc, Section};
use toolcrib::site::{Site, SiteIndex};

const PLAIN: &str =
    r#"{"name": "t", "description": "Does it.", "parameters": {"type": "object", "properties": {}}}"#;

thread_local! {
    static CHECKED: RefCell<Checked> = {
        let checked = super::open(&[("a.json", PLAIN.as_bytes())]);
        // Lint holds the tools until its findings are there.
        let _ = checked.findings.len();
        checked.into()
    };
    /// The elements of a page of plain text.
    static ELEMENTS: Vec<String> = CHECKED.with_borrow_mut(|checked| {
        say(&mut checked.catalog, "Plain words.");
        elements(&page(&checked.catalog))
    });
}

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    ELEMENTS.with(|_| {});
    CHECKED.with_borrow_mut(|checked| {
        say(&mut checked.catalog, text);
        let doc = Doc::of(&checked.catalog.tools[0], &checked.catalog);
        let whole = doc.render(&super::templates(), "v", Around::FUNCTIONS).expect("a doc");
        assert!(!whole.to_lowercase().contains("<!-- toolcrib"), "a marker in {whole}");
        let section = |section| doc.section(section, &checked.catalog.tools[0]).unwrap_or_default();
        let long = prose(text);
        stays(&long);
        stays(&section(Section::Policy));
        stays(&section(Section::Summary).replacen("# ", "", 1));
        stays(&section(Section::Examples));
        is_inert(&page(&checked.catalog));
        let again = prose(&long);
        assert!(again == long, "{long:?} cleaned again: {again:?}");
    });
}

fn say(catalog: &mut Catalog, text: &str) {
    let tool: &mut Tool = Arc::get_mut(&mut catalog.tools[0]).expect("the only reference");
    tool.texts.short = text.into();
    tool.texts.long = text.into();
    tool.texts.description = text.into();
    tool.texts.notes = vec![text.into(), "another".into()];
    tool.texts.raises = vec![text.into()];
    tool.texts.returns = Some(text.into());
    tool.texts.example_texts = vec![text.into()];
}

/// Between two headings, only those two are headings, and nothing is HTML or leads elsewhere than into the web.
fn stays(markdown: &str) {
    let extensions = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let page = format!("# above\n\n{markdown}\n\n# below\n");
    for options in [extensions, Options::empty()] {
        let (mut depth, mut headings) = (0, Vec::new());
        for (event, range) in Parser::new_ext(&page, options).into_offset_iter() {
            match &event {
                Event::Html(_) | Event::InlineHtml(_) => panic!("HTML: {event:?} in {page}"),
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let target = dest_url.to_ascii_lowercase();
                    let is_web = ["http://", "https://", "mailto:"].iter().any(|web| target.starts_with(web));
                    assert!(is_web, "a link to {target} in {page}");
                }
                Event::Start(Tag::Image { .. }) => panic!("an image in {page}"),
                Event::Start(Tag::Heading { .. }) => headings.push((depth, range.start)),
                _ => {}
            }
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                _ => {}
            }
        }
        assert_eq!(headings, [(0, 0), (0, page.len() - "# below\n".len())], "headings of {page}");
    }
}

fn page(catalog: &Catalog) -> String {
    let profile = catalog.profile(None).expect("the whole catalog");
    let index = SiteIndex::new(catalog, &profile);
    let templates = super::templates();
    let site = Site::new(&index, catalog, &[], &templates);
    site.page("tools/t.html").expect("a page").expect("a page that renders").body
}

/// All elements but those of text are ours, and none has a handler or leads elsewhere than into the web.
fn is_inert(html: &str) {
    const TEXT: [&str; 24] = [
        "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
        "strong", "table", "tbody", "td", "th", "thead", "tr", "ul", "sub", "sup",
    ];
    let is_text = |element: &String| {
        let name = element.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
        let rest =
            element[element.find(name).unwrap_or(0) + name.len()..].trim().trim_end_matches('/').trim();
        let is_link = name == "a"
            && ["http://", "https://", "mailto:"].iter().any(|web| {
                rest.to_ascii_lowercase().starts_with(&format!("href=\"{web}"))
                    && rest.ends_with("\" rel=\"nofollow noopener noreferrer\"")
                    && rest.matches('"').count() == 4
            });
        let is_list = name == "ol"
            && rest
                .strip_prefix("start=\"")
                .and_then(|rest| rest.strip_suffix('"'))
                .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        TEXT.contains(&name)
            && (rest.is_empty() || rest == "rel=\"nofollow noopener noreferrer\"" || is_link || is_list)
    };
    ELEMENTS.with(|ours| {
        for element in elements(html) {
            assert!(ours.contains(&element) || is_text(&element), "<{element}> in {html}");
        }
    });
}

/// The texts between angle brackets; a quoted value may hold one.
fn elements(html: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), html);
    while let Some((_, after)) = rest.split_once('<') {
        let mut quote = None;
        let end = after.char_indices().find(|&(_, c)| {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                _ => {}
            }
            quote.is_none() && c == '>'
        });
        let end = end.map_or(after.len(), |(at, _)| at);
        // The description of a page is the tool's own.
        let element = &after[..end];
        let is_description =
            element.starts_with("meta name=\"description\"") && element.matches('"').count() == 4;
        found.push(if is_description { "meta name=\"description\"".into() } else { element.to_string() });
        rest = &after[end..];
    }
    found
}
