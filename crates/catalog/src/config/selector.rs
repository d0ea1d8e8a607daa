//! Selectors: one small language to pick tools in overlays, profiles and lint rules.
//!
//! `create_*` is a name or a glob of one; `category:Storage`, `tag:auth`, `source:tools/*.yaml`, `server:github` and
//! `effect:read` match other fields. In a glob `*` is any run of characters and `?` one; each `*` is a capture.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::EnumString;

use toolcrib_definition::{CategoryPath, Effect};

/// Fields of a tool that selectors match.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The tool's name in its source.
    pub name: &'a str,
    /// Its canonical name, when that differs.
    pub canonical: &'a str,
    /// Its categories.
    pub categories: &'a [CategoryPath],
    /// Its tags.
    pub tags: &'a [String],
    /// The file it came from.
    pub source: &'a str,
    /// The server it belongs to.
    pub server: Option<&'a str>,
    /// Its effect.
    pub effect: Effect,
}

/// One selector, compiled.
#[derive(Clone, Debug)]
pub struct Selector {
    text: String,
    subject: Subject,
    glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase")]
enum Subject {
    Name,
    Category,
    Tag,
    Source,
    Server,
    Effect,
}

/// The part of a selector that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSelector {
    /// It has no pattern.
    #[error("the selector \"{0}\" selects nothing")]
    Empty(String),
    /// There is no such effect.
    #[error("\"{0}\" is no effect; expected read, write or destructive")]
    Effect(String),
    /// Its glob cannot be compiled.
    #[error("the pattern \"{0}\" is too large")]
    TooLarge(String),
}

impl Selector {
    /// Reads a selector.
    pub fn parse(text: &str) -> Result<Self, InvalidSelector> {
        let about = text.split_once(':').and_then(|(subject, rest)| Some((subject.parse().ok()?, rest)));
        let (subject, pattern) = about.unwrap_or((Subject::Name, text));
        if pattern.is_empty() {
            return Err(InvalidSelector::Empty(text.into()));
        }
        if subject == Subject::Effect && !["read", "write", "destructive"].contains(&pattern) {
            return Err(InvalidSelector::Effect(pattern.into()));
        }
        Ok(Self { text: text.to_string(), subject, glob: Glob::new(pattern)? })
    }

    /// The captures of the globs when the tool is selected.
    pub fn matches(&self, tool: &Facts<'_>) -> Option<Vec<String>> {
        let glob = &self.glob;
        match self.subject {
            Subject::Name => glob.captures(tool.name).or_else(|| glob.captures(tool.canonical)),
            // A category also selects the tools of categories below it.
            Subject::Category => {
                let mut paths = tool.categories.iter().flat_map(CategoryPath::with_parents);
                paths.find_map(|path| glob.captures(path))
            }
            Subject::Tag => tool.tags.iter().find_map(|tag| glob.captures(tag)),
            Subject::Source => glob.captures(tool.source),
            Subject::Server => tool.server.and_then(|server| glob.captures(server)),
            Subject::Effect => glob.captures(tool.effect.as_str()),
        }
    }

    /// Whether a file name is selected; for sources that are globs.
    pub(crate) fn matches_source(&self, file: &str) -> bool {
        self.subject == Subject::Source && self.glob.captures(file).is_some()
    }
}

/// Text with `*` and `?`; without either, plain equality.
#[derive(Clone, Debug)]
enum Glob {
    Exact(String),
    Pattern(Regex),
}

impl Glob {
    fn new(pattern: &str) -> Result<Self, InvalidSelector> {
        if !pattern.contains(['*', '?']) {
            return Ok(Self::Exact(pattern.to_string()));
        }
        let mut source = String::from("^(?s)");
        for c in pattern.chars() {
            match c {
                '*' => source.push_str("(.*)"),
                '?' => source.push('.'),
                c => source.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        source.push('$');
        Regex::new(&source).map(Self::Pattern).map_err(|_| InvalidSelector::TooLarge(pattern.into()))
    }

    fn captures(&self, text: &str) -> Option<Vec<String>> {
        match self {
            Glob::Exact(exact) => (exact == text).then(Vec::new),
            Glob::Pattern(regex) => {
                let captures = regex.captures(text)?;
                Some(captures.iter().skip(1).flatten().map(|capture| capture.as_str().into()).collect())
            }
        }
    }
}

/// A list of selectors, written as one string or several. It selects every tool that one of them selects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "OneOrMany", into = "Vec<String>")]
pub struct Selectors(Vec<Selector>, Vec<String>);

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<OneOrMany> for Selectors {
    fn from(texts: OneOrMany) -> Self {
        let texts = match texts {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        };
        let mut selectors = Self::default();
        for text in texts {
            match Selector::parse(&text) {
                Ok(selector) => selectors.0.push(selector),
                Err(error) => selectors.1.push(error.to_string()),
            }
        }
        selectors
    }
}

impl From<Selectors> for Vec<String> {
    fn from(selectors: Selectors) -> Self {
        selectors.0.into_iter().map(|selector| selector.text).collect()
    }
}

impl Selectors {
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Selectors that could not be read.
    pub fn errors(&self) -> &[String] {
        &self.1
    }

    /// The captures of the first selector that selects the tool.
    pub fn matches(&self, tool: &Facts<'_>) -> Option<Vec<String>> {
        self.0.iter().find_map(|selector| selector.matches(tool))
    }

    /// Whether any selector selects the tool.
    pub fn contains(&self, tool: &Facts<'_>) -> bool {
        self.0.iter().any(|selector| selector.matches(tool).is_some())
    }

    /// The selectors that do not match any of these tools.
    pub fn unused(&self, tools: &[Facts<'_>]) -> Vec<&str> {
        let idle =
            self.0.iter().filter(|selector| !tools.iter().any(|tool| selector.matches(tool).is_some()));
        idle.map(|selector| selector.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, expect: Option<&[&str]>) {
        let categories = [CategoryPath::parse("Ontology/Tasks").unwrap()];
        let facts = Facts {
            name: "list_onto_tasks",
            canonical: "list_onto_tasks",
            categories: &categories,
            tags: &["tree".into()],
            source: "tools/tasks.yaml",
            server: Some("buildos"),
            effect: Effect::Read,
        };
        let got = Selector::parse(selector).unwrap().matches(&facts);
        let expect = expect.map(|captures| captures.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(got, expect, "{selector}");
    }

    #[test]
    fn each_subject_selects() {
        check("list_onto_tasks", Some(&[]));
        check("list_onto_*s", Some(&["task"]));
        check("*_onto_*", Some(&["list", "tasks"]));
        check("list_onto_task?", Some(&[]));
        check("create_*", None);
        check("category:Ontology", Some(&[]));
        check("category:Onto", None);
        check("category:*/Tasks", Some(&["Ontology"]));
        check("tag:tree", Some(&[]));
        check("source:tools/*.yaml", Some(&["tasks"]));
        check("server:buildos", Some(&[]));
        check("effect:read", Some(&[]));
        check("effect:write", None);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Selector::parse("").is_err());
        assert!(Selector::parse("tag:").is_err());
        assert!(Selector::parse("effect:none").is_err());
    }
}
