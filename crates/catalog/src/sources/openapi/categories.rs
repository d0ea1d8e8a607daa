//! Categories of operations, by their tags and the tags that the document declares.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::importer::Operation;
use crate::config::Category;
use crate::title::bare;
use toolcrib_definition::grammar::singular;
use toolcrib_definition::{CategoryPath, words};

/// Most parents of a tag.
const MAX_PARENTS: usize = 8;

/// Fewest tools of a category that a dotted tag names.
const MIN: usize = 3;

/// Gives each operation the path of its tag, and returns the categories of all tags that the document declares.
pub(super) fn assign_categories(operations: &mut [Operation], root: &Value) -> Vec<Category> {
    let tags = DocumentTags::of(root, operations);
    let mut paths: BTreeMap<String, CategoryPath> = BTreeMap::new();
    for tag in operations.iter().filter_map(tag_of).chain(tags.declared.keys().map(String::as_str)) {
        if !paths.contains_key(tag)
            && let Some(path) = tags.path(tag)
        {
            paths.insert(tag.to_string(), path);
        }
    }
    let dotted: HashSet<&str> = paths.keys().filter(|tag| tags.is_dotted(tag)).map(String::as_str).collect();
    let mut is_dotted = Vec::with_capacity(operations.len());
    for operation in operations.iter_mut() {
        let path = tag_of(operation).and_then(|tag| Some((dotted.contains(tag), paths.get(tag)?.clone())));
        is_dotted.push(path.as_ref().is_some_and(|(is_dotted, _)| *is_dotted));
        if let Some((_, path)) = path {
            operation.definition.category = vec![path];
        }
    }
    let mut of_dotted: Vec<&mut Operation> =
        operations.iter_mut().zip(is_dotted).filter_map(|(operation, is)| is.then_some(operation)).collect();
    join_parents(&mut of_dotted);
    let described = paths.into_iter().filter_map(|(tag, path)| {
        let summary = tags.declared.get(&tag)?.description.map(str::to_string);
        Some(Category { path: path.as_str().to_string(), summary, ..Category::default() })
    });
    described.collect()
}

fn tag_of(operation: &Operation) -> Option<&str> {
    operation.definition.category.first().map(CategoryPath::as_str)
}

/// The tags that a document declares, and the beginnings that several dotted tags have.
struct DocumentTags<'d> {
    declared: HashMap<String, Declared<'d>>,
    namespaces: HashSet<String>,
    /// The beginning that all tags have.
    prefix: String,
}

struct Declared<'d> {
    /// OpenAPI 3.2.
    parent: Option<String>,
    description: Option<&'d str>,
}

impl<'d> DocumentTags<'d> {
    fn of(root: &'d Value, operations: &[Operation]) -> Self {
        let name = |tag: &str| CategoryPath::from_segments([tag]).map(|path| path.as_str().to_string());
        let declared = root.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(|tag| {
            let text = |field: &str| tag.get(field).and_then(Value::as_str);
            let declared =
                Declared { parent: text("parent").and_then(name), description: text("description") };
            Some((name(text("name")?)?, declared))
        });
        let used: BTreeSet<&str> = operations.iter().filter_map(tag_of).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for tag in used.iter().filter(|tag| is_identifier(tag)) {
            *counts.entry(tag.split('.').next().unwrap_or(tag)).or_default() += 1;
        }
        let shared =
            counts.into_iter().filter(|(_, count)| *count > 1).map(|(namespace, _)| namespace.to_string());
        let prefix = common_prefix(&used).to_string();
        Self { declared: declared.collect(), namespaces: shared.collect(), prefix }
    }

    /// Whether a tag such as `admin.apps` is a path: another tag begins with `admin` too.
    fn is_dotted(&self, tag: &str) -> bool {
        let namespace = tag.split_once('.').map(|(namespace, _)| namespace);
        is_identifier(tag) && namespace.is_some_and(|namespace| self.namespaces.contains(namespace))
    }

    fn path(&self, tag: &str) -> Option<CategoryPath> {
        let parent = |tag: &&str| self.declared.get(*tag)?.parent.as_deref();
        let mut path = vec![tag];
        while let Some(parent) = path.last().and_then(parent) {
            if path.len() > MAX_PARENTS || path.contains(&parent) {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        match path[..] {
            [tag] if self.is_dotted(tag) => CategoryPath::from_segments(tag.split('.')),
            _ => {
                let own = |tag| bare(str::strip_prefix(tag, self.prefix.as_str()).unwrap_or(tag));
                CategoryPath::from_segments(path.into_iter().map(own))
            }
        }
    }
}

/// Fewest tags whose common beginning tells none from another.
const MIN_TAGS: usize = 3;

/// The words that all tags begin with: `Api20100401` of `Api20100401Call` and `Api20100401Conference`.
fn common_prefix<'t>(tags: &BTreeSet<&'t str>) -> &'t str {
    let (Some(first), Some(last)) = (tags.first(), tags.last()) else { return "" };
    if tags.len() < MIN_TAGS {
        return "";
    }
    let is_end = |end: usize| {
        let before = first[..end].chars().next_back();
        let after = |tag: &str| tag[end..].chars().next();
        let is_mark = matches!(before, Some(' ' | '_' | '-' | ':'));
        let is_camel = before.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        tags.iter().all(|tag| {
            after(tag)
                .is_some_and(|c| if is_mark { c.is_alphanumeric() } else { is_camel && c.is_uppercase() })
        })
    };
    // The first and the last in order differ the most.
    let equal = first.char_indices().zip(last.chars()).take_while(|((_, one), other)| one == other);
    let ends: Vec<usize> = equal.map(|((at, c), _)| at + c.len_utf8()).collect();
    ends.into_iter().rev().find(|&end| end > 1 && is_end(end)).map_or("", |end| &first[..end])
}

fn is_identifier(tag: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic())
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    tag.split('.').all(is_word)
}

/// Moves the tools of a small category to its parent, where their names still say what is in it.
fn join_parents(operations: &mut [&mut Operation]) {
    let depth = |operation: &Operation| tag_of(operation).map_or(0, |path| path.split('/').count());
    let deepest = operations.iter().map(|operation| depth(operation)).max().unwrap_or_default();
    for level in (2..=deepest).rev() {
        let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, operation) in operations.iter().enumerate() {
            let segments = operation.definition.category.iter().flat_map(CategoryPath::segments).take(level);
            let segments: Vec<&str> = segments.collect();
            if segments.len() == level {
                members.entry(segments.join("/")).or_default().push(index);
            }
        }
        for (path, members) in members.into_iter().filter(|(_, members)| members.len() < MIN) {
            let Some((parent, segment)) = path.rsplit_once('/') else { continue };
            let said: Vec<String> = words(segment).iter().map(|word| singular(word)).collect();
            let says = |&index: &usize| {
                let name = words(&operations[index].definition.name);
                let name: Vec<String> = name.iter().map(|word| singular(word)).collect();
                said.iter().all(|word| name.contains(word))
            };
            if members.iter().all(says) {
                for index in members {
                    operations[index].definition.category = CategoryPath::parse(parent).into_iter().collect();
                }
            }
        }
    }
}
