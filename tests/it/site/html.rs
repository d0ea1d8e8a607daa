//! A strict reader of the HTML that we write: every element closed, every attribute quoted, nothing twice.

use std::collections::BTreeSet;

const VOID: [&str; 6] = ["meta", "link", "input", "br", "hr", "wbr"];
/// SVG elements that close themselves.
const DRAWN: [&str; 3] = ["path", "circle", "rect"];

/// An element that was opened: its name and attributes.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
}

/// A page that was read.
#[derive(Default)]
pub struct Document {
    elements: Vec<Element>,
    text: String,
}

impl Document {
    /// Reads a page, or says what is wrong with it.
    pub fn parse(page: &str) -> Result<Self, String> {
        let mut document = Self::default();
        let mut rest = page.strip_prefix("<!doctype html>").ok_or("there is no doctype")?;
        let mut open: Vec<String> = Vec::new();
        while let Some(at) = rest.find('<') {
            let (text, tag) = rest.split_at(at);
            document.text(text)?;
            if let Some(end) = tag.strip_prefix("</") {
                let (name, after) = end.split_once('>').ok_or("an end tag is cut off")?;
                let expect = open.pop().ok_or(format!("</{name}> closes nothing"))?;
                if name != expect {
                    return Err(format!("</{name}> where </{expect}> is due"));
                }
                if matches!(name, "p" | "li" | "h1" | "h2" | "td" | "th" | "div" | "dd" | "a") {
                    document.text.push(' ');
                }
                rest = after;
            } else {
                rest = document.element(&tag[1..], &mut open)?;
            }
        }
        document.text(rest)?;
        document.text = document.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let ids: Vec<&str> = document.values("id").collect();
        let unique: BTreeSet<&&str> = ids.iter().collect();
        if unique.len() != ids.len() {
            return Err(format!("an id is there twice: {ids:?}"));
        }
        if open.is_empty() { Ok(document) } else { Err(format!("{open:?} are not closed")) }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if text.contains('>') {
            return Err(format!("a bare > in {text:?}"));
        }
        let plain = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&#x27;", "'"),
            ("&#x2F;", "/"),
            ("&nbsp;", " "),
            ("&amp;", "&"),
        ];
        let text = plain.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to));
        self.text.push_str(&text);
        Ok(())
    }

    /// Reads from the name of an element on; returns what is behind its tag.
    fn element<'t>(&mut self, tag: &'t str, open: &mut Vec<String>) -> Result<&'t str, String> {
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).ok_or("a tag is cut off")?;
        let (name, mut rest) = tag.split_at(end);
        if name.is_empty() {
            return Err(format!("a bare < before {:?}", &tag.chars().take(40).collect::<String>()));
        }
        let mut attributes: Vec<(String, String)> = Vec::new();
        let closed = loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("/>") {
                rest = after;
                break true;
            }
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break false;
            }
            let end = rest.find(['=', '>', ' ']).ok_or("a tag is cut off")?;
            let (key, after) = rest.split_at(end);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if key.is_empty() || !key.chars().all(is_name) || attributes.iter().any(|(known, _)| known == key)
            {
                return Err(format!("<{name}> has a bad attribute {key:?}"));
            }
            rest = after;
            let mut value = "";
            if let Some(quoted) = after.strip_prefix("=\"") {
                (value, rest) = quoted.split_once('"').ok_or("a value is cut off")?;
            } else if after.starts_with('=') {
                return Err(format!("<{name} {key}> is not quoted"));
            }
            if value.contains('<') {
                return Err(format!("<{name} {key}> has a bare <"));
            }
            attributes.push((key.into(), value.replace("&amp;", "&")));
        };
        let is_whole = VOID.contains(&name) || closed && DRAWN.contains(&name);
        if !is_whole {
            open.push(name.into());
        }
        self.elements.push(Element { name: name.into(), attributes });
        Ok(rest)
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let attributes = self.elements.iter().flat_map(|element| &element.attributes);
        attributes.filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether nothing on the page can act but our own script: no handlers, no styles, no other sources.
    pub fn is_inert(&self) -> Result<(), String> {
        for Element { name, attributes } in &self.elements {
            let of = |key: &str| {
                attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
            };
            if matches!(name.as_str(), "iframe" | "object" | "embed" | "base" | "style" | "img" | "frame") {
                return Err(format!("there is a <{name}>"));
            }
            if let Some((key, _)) = attributes.iter().find(|(key, _)| key.starts_with("on") || key == "style")
            {
                return Err(format!("<{name}> has {key}"));
            }
            let own = |source: &str| source.trim_start_matches("../") == "assets/site.js";
            if name == "script" && !of("src").is_some_and(own) {
                return Err("there is a strange script".into());
            }
            for target in [of("href"), of("src"), of("action")].into_iter().flatten() {
                let scheme = target
                    .split_once(':')
                    .map(|(scheme, _)| scheme)
                    .filter(|scheme| !scheme.contains(['/', '?', '#']));
                if scheme.is_some_and(|scheme| !["http", "https", "mailto"].contains(&scheme))
                    || target.starts_with('/')
                {
                    return Err(format!("<{name}> leads to {target}"));
                }
                if scheme.is_some() && (name != "a" || of("rel") != Some("nofollow noopener noreferrer")) {
                    return Err(format!("<{name}> leads out to {target}"));
                }
            }
        }
        Ok(())
    }

    /// Number of elements with this name.
    pub fn count(&self, name: &str) -> usize {
        self.elements.iter().filter(|element| element.name == name).count()
    }

    /// All targets but those on the page.
    pub fn links(&self) -> Vec<String> {
        let all = ["href", "src", "action"].into_iter().flat_map(|key| self.values(key));
        all.filter(|target| !target.starts_with('#')).map(str::to_string).collect()
    }

    /// The targets on the page.
    pub fn anchors(&self) -> Vec<String> {
        self.values("href").filter_map(|target| target.strip_prefix('#')).map(str::to_string).collect()
    }

    /// Whether an element has this id.
    pub fn has_id(&self, id: &str) -> bool {
        self.values("id").any(|known| known == id)
    }

    /// The visible text, on one line.
    pub fn text_of(&self) -> &str {
        &self.text
    }
}

/// The path that a link on a page leads to; nothing when it leads out.
pub fn resolve(page: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let link = link.split(['#', '?']).next().unwrap_or_default();
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
