//! Ops: the stable dotted names of the gateway.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

use super::servers::is_live;
use crate::title::bare;
use crate::tool::{LEFT_OVER, Tool};
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::grammar::{WordClass, singular};
use toolcrib_definition::{Definition, slug, words};

/// The op that an author or an overlay wrote, if it is one.
pub(crate) fn written_op(tool: &Definition, report: &mut impl FnMut(Finding)) -> Option<String> {
    let written = tool.op.as_ref()?;
    if !is_op(written) {
        report(Finding::new(Code::OpInvalid, format!("`{written}` is no op")));
        return None;
    }
    Some(written.clone())
}

/// The groups at the beginning of an op that nobody wrote.
pub(crate) struct OpGroups {
    groups: Vec<String>,
    /// Whether they come from the name, so that the verb comes last: `issues.comments.get`.
    are_derived: bool,
}

impl OpGroups {
    /// The groups of a tool: its server or first category. Those of the tool of a live server are `within` that server.
    pub(crate) fn of(tool: &Tool, is_category_derived: bool, within: &[String]) -> Self {
        let categories =
            tool.labels.categories.first().map(|path| path.segments().map(segment).collect::<Vec<_>>());
        let mut categories = categories.unwrap_or_default();
        if tool.root_category() == LEFT_OVER {
            // Letters only sort the tools that are left over.
            categories.truncate(1);
        }
        let mut are_derived = is_category_derived;
        if is_live(&tool.origin.place) {
            categories = within.iter().map(|title| segment(title)).collect();
            are_derived = !within.is_empty();
        }
        let server = tool
            .origin
            .server
            .as_deref()
            .map(|server| segment(bare(server)))
            .filter(|server| !server.is_empty());
        let groups = match (server, are_derived) {
            (Some(server), true) => {
                let below = categories.into_iter().filter(|category| *category != server);
                std::iter::once(server.clone()).chain(below).collect()
            }
            (Some(server), false) => vec![server],
            (None, _) if categories.is_empty() => vec!["tools".to_string()],
            (None, _) => categories,
        };
        Self { groups, are_derived }
    }

    /// The op of a tool with this name: the groups, then the name without the words that these have already.
    pub(crate) fn op(&self, name: &str) -> String {
        let own = if name.is_ascii() { words(name) } else { words(&name.nfc().collect::<String>()) };
        let action =
            if self.are_derived { action(&self.groups, &own) } else { undoubled(&self.groups, &own) };
        format!("{}.{}", self.groups.join("."), if action.is_empty() { "x".into() } else { action })
    }

    /// The op of a tool whose shorter one another tool has too: its groups and its whole name.
    pub(crate) fn op_with_whole_name(&self, name: &str) -> String {
        format!("{}.{}", self.groups.join("."), segment(name))
    }
}

/// Most words at the beginning of a name that are looked for in its groups.
const MAX_DOUBLED: usize = 8;

/// The words of a name without those at its beginning that the groups have. A verb stays: `research_topic` of the group
/// `research` is no `topic`.
fn undoubled(groups: &[String], name: &[String]) -> String {
    if name.first().is_some_and(|word| is_leading_verb(word)) {
        return name.join("_");
    }
    let said: Vec<&str> = groups.iter().flat_map(|group| group.split('_')).collect();
    let doubled = (1..name.len().min(MAX_DOUBLED + 1)).rev().find(|&count| {
        let beginning = name[..count].iter().map(String::as_str);
        (0..said.len()).any(|start| {
            said[start..].len() >= count && beginning.clone().eq(said[start..start + count].iter().copied())
        })
    });
    name[doubled.unwrap_or(0)..].join("_")
}

/// The words of a name that its groups do not have, a leading verb last.
fn action(groups: &[String], name: &[String]) -> String {
    let said: HashSet<String> = groups.iter().flat_map(|group| group.split('_')).map(singular).collect();
    let rest: Vec<&str> =
        name.iter().filter(|word| !said.contains(&singular(word))).map(String::as_str).collect();
    let is_phrase = |word: &&str| {
        matches!(WordClass::of(word), WordClass::Noun | WordClass::VerbOrNoun | WordClass::Empty)
    };
    let has_verb = |verb: &str, nouns: &[&str]| {
        !nouns.is_empty() && is_leading_verb(verb) && nouns.iter().all(is_phrase)
    };
    match rest[..] {
        [] => name.join("_"),
        [verb, ref nouns @ ..] if has_verb(verb, nouns) => format!("{}.{verb}", nouns.join("_")),
        [ref nouns @ .., verb] if has_verb(verb, nouns) => format!("{}.{verb}", nouns.join("_")),
        _ => rest.join("_"),
    }
}

fn is_leading_verb(word: &str) -> bool {
    matches!(WordClass::of(word), WordClass::Verb | WordClass::VerbOrNoun)
}

/// At least two segments of lower-case letters (of any script), digits, `_` and `-`.
fn is_op(op: &str) -> bool {
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|c| (c.is_alphanumeric() && !c.is_uppercase()) || c == '_' || c == '-')
    };
    op.contains('.') && op.split('.').all(segment) && op.len() <= 128
}

fn segment(text: &str) -> String {
    let slug = slug(text);
    if slug.is_empty() { "x".into() } else { slug }
}

/// The parts of an op: group, entity and action. `onto.search` has no entity.
pub(crate) fn op_parts(op: &str) -> (&str, Option<&str>, &str) {
    let segments: Vec<&str> = op.split('.').collect();
    match segments.as_slice() {
        [group, entity, .., action] => (group, Some(entity), action),
        [group, action] => (group, None, action),
        _ => (op, None, op),
    }
}
