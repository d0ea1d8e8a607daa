//! References: all of them lead to `#/$defs/NAME` or to `#`, and `$defs` holds only their targets, in the order of
//! the first reference. For formats without references they are replaced by their targets; cycles end at the second visit.

use std::collections::{HashMap, VecDeque};

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::root::merge;
use super::{Loosened, add_null, allows, guard, list_null, measure, names_type, take_defs};
use toolcrib_definition::finding::{SchemaNames, percent_decoded};
use toolcrib_definition::schema::type_words::TYPES;
use toolcrib_definition::schema::walk::{
    KeywordKind, below, each, each_mut, each_with_pointer_mut, fits, holds, is_annotation, is_schema,
};
use toolcrib_definition::{clean_text, hidden_characters};

/// Most parts of definitions that are copied out of the middle of a schema, altogether.
const MAX_COPIED: usize = 20_000;
/// Keys of definitions.
pub(super) const DEFS: &str = "#/$defs/";
/// The longest name of a definition.
const MAX_NAME: usize = 64;

/// A copy of a schema in which all references lead to its own definitions.
pub(super) fn gathered(schema: &Value, loose: &mut Loosened) -> Value {
    if !refers(schema) {
        return schema.clone();
    }
    let Some(object) = schema.as_object() else { return schema.clone() };
    let without = |(key, value): (&String, &Value)| (!is_folder(key)).then(|| (key.clone(), value.clone()));
    let mut root = Value::Object(object.iter().filter_map(without).collect());
    let mut gathering = Gathering {
        source: schema,
        schema_names: SchemaNames::of(schema, &["$id", "id"]),
        names: HashMap::new(),
        taken: HashMap::new(),
        queue: VecDeque::new(),
        left: MAX_COPIED,
        loose,
    };
    gathering.schema(&mut root, &mut String::new());
    let mut defs = Map::new();
    while let Some((name, pointer)) = gathering.queue.pop_front() {
        let mut found = schema.pointer(&pointer).cloned().unwrap_or(Value::Bool(true));
        gathering.schema(&mut found, &mut pointer.clone());
        defs.insert(name, found);
    }
    if !defs.is_empty()
        && let Value::Object(root) = &mut root
    {
        root.insert("$defs".into(), Value::Object(defs));
    }
    root
}

/// Removes definitions without references; the others stand in the order of their first reference.
pub(super) fn prune(view: &mut Value) {
    let Some(Value::Object(mut defs)) = view.as_object_mut().and_then(|root| root.shift_remove("$defs"))
    else {
        return;
    };
    let mut queue: VecDeque<String> = VecDeque::new();
    let mut kept = Map::new();
    referred_to(view, &mut |name| queue.push_back(name.to_string()));
    while let Some(name) = queue.pop_front() {
        if let Some(found) = defs.swap_remove(&name) {
            referred_to(&found, &mut |name| queue.push_back(name.to_string()));
            kept.insert(name, found);
        }
    }
    if !kept.is_empty()
        && let Some(root) = view.as_object_mut()
    {
        root.insert("$defs".into(), Value::Object(kept));
    }
}

/// Calls with the names of the definitions that a schema refers to, with repeats, in its order; `""` for the root.
pub(super) fn referred_to<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a str)) {
    let Some(object) = schema.as_object() else { return };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        visit(reference.strip_prefix(DEFS).unwrap_or_default());
    }
    for (key, value) in object.iter().filter(|(key, _)| *key != "$defs") {
        below(key, value).for_each(|child| referred_to(child, visit));
    }
}

fn is_folder(key: &str) -> bool {
    matches!(key, "$defs" | "definitions")
}

fn is_reference(key: &str) -> bool {
    matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
}

/// Whether there is a reference or a definition anywhere.
fn refers(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    object.keys().any(|key| is_reference(key) || is_folder(key)) || each(object).any(refers)
}

struct Gathering<'a> {
    source: &'a Value,
    schema_names: SchemaNames,
    /// The name of each definition by its place.
    names: HashMap<String, String>,
    /// Number of requests for each clean name.
    taken: HashMap<String, usize>,
    queue: VecDeque<(String, String)>,
    left: usize,
    loose: &'a mut Loosened,
}

impl Gathering<'_> {
    fn schema(&mut self, value: &mut Value, place: &mut String) {
        let Some(object) = value.as_object_mut() else { return };
        let before = self.loose.times();
        object.retain(|key, _| !is_folder(key));
        for dynamic in ["$dynamicRef", "$recursiveRef"] {
            if object.shift_remove(dynamic).is_some() {
                self.loose.record(format!("`{dynamic}`"));
            }
        }
        if let Some(reference) = object.get("$ref") {
            let found = reference.as_str().and_then(|reference| self.resolve(reference, place));
            match found {
                Some(target) => {
                    object.insert("$ref".into(), target.into());
                }
                None => {
                    object.shift_remove("$ref");
                    self.loose.record("a `$ref` that cannot be followed");
                }
            }
        }
        each_with_pointer_mut(object, place, &mut |place, child| self.schema(child, place));
        if self.loose.times() > before {
            guard(object, self.loose);
        }
    }

    /// The new form of a reference.
    fn resolve(&mut self, reference: &str, place: &str) -> Option<String> {
        let pointer = self.pointer(reference, place)?;
        // The root becomes a plain object; if it was more, references to it lead to a copy.
        if pointer.is_empty() && self.source.get("type").is_some_and(|word| word == "object") {
            return Some("#".into());
        }
        if let Some(name) = self.names.get(&pointer) {
            return Some(format!("{DEFS}{name}"));
        }
        let found = self.source.pointer(&pointer).filter(|found| is_schema(found))?;
        let folder = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"));
        if folder.is_none_or(|name| name.contains('/')) {
            self.left = self.left.checked_sub(measure(found).0)?;
        }
        let name = self.name(pointer.rsplit('/').next().unwrap_or_default());
        self.names.insert(pointer.clone(), name.clone());
        self.queue.push_back((name.clone(), pointer));
        Some(format!("{DEFS}{name}"))
    }

    fn pointer(&self, reference: &str, place: &str) -> Option<String> {
        if let Some(pointer) = self.schema_names.pointer(reference) {
            return Some(pointer.to_string());
        }
        let fragment = percent_decoded(reference.strip_prefix('#')?);
        let inside = format!("{}{fragment}", self.schema_names.base(place));
        let is_there = |pointer: &String| self.source.pointer(pointer).is_some();
        Some(inside).filter(is_there).or_else(|| Some(fragment.into_owned()).filter(is_there))
    }

    /// A name of plain characters that no other definition has.
    fn name(&mut self, written: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let clean: String =
            written.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect();
        let clean = if clean.is_empty() { "_".to_string() } else { clean };
        let mut name = clean.clone();
        while self.taken.contains_key(&name) {
            let times = self.taken.entry(clean.clone()).or_default();
            *times += 1;
            name = format!("{clean}_{}", *times + 1);
        }
        self.taken.insert(name.clone(), 0);
        name
    }
}

/// Most parts that definitions may add to a schema in the place of references.
const MAX_PARTS: usize = 20_000;

/// The definitions that take the place of references: none within itself, and not more parts than a schema may get.
pub(super) struct Opening<'a> {
    defs: &'a Map<String, Value>,
    /// The definitions around a place, outermost first.
    pub(super) open: Vec<String>,
    left: usize,
}

impl<'a> Opening<'a> {
    pub(super) fn of(defs: &'a Map<String, Value>) -> Self {
        Self { defs, open: Vec::new(), left: MAX_PARTS }
    }

    /// The definition that a reference leads to, which is open from now on.
    pub(super) fn enter(&mut self, reference: &str) -> Option<&'a Value> {
        let name = reference.strip_prefix(DEFS)?;
        if self.open.iter().any(|open| open == name) {
            return None;
        }
        let target = self.defs.get(name)?;
        self.left = self.left.checked_sub(measure(target).0)?;
        self.open.push(name.to_string());
        Some(target)
    }
}

/// Deepest nesting that references may lead to; serde_json and others read 128 levels.
const MAX_DEPTH: usize = 100;

/// Replaces all references of a schema whose references all lead to its own definitions.
pub(super) fn inline(schema: &mut Value, loose: &mut Loosened) {
    let Some(root) = schema.as_object_mut() else { return };
    let defs = take_defs(root);
    Inlining { defs: &defs, open: Vec::new(), left: MAX_PARTS, loose }.schema(schema, 0);
}

/// Replaces a root that is a reference, in every format: the root must say that it is an object.
pub(super) fn open_root(schema: &mut Value, loose: &mut Loosened) {
    let mut seen: Vec<String> = Vec::new();
    while let Some(root) = schema.as_object_mut() {
        let Some(Value::String(reference)) = root.shift_remove("$ref") else { return };
        let defs = root.shift_remove("$defs");
        let name = reference.strip_prefix(DEFS).unwrap_or_default().to_string();
        if !seen.contains(&name)
            && let Some(Value::Object(target)) = defs.as_ref().and_then(|defs| defs.get(&name)).cloned()
        {
            merge(root, target, loose);
        }
        seen.push(name);
        if let Some(defs) = defs {
            root.insert("$defs".into(), defs);
        }
    }
}

struct Inlining<'a> {
    defs: &'a Map<String, Value>,
    /// The definitions that are being opened, outermost first.
    open: Vec<String>,
    left: usize,
    loose: &'a mut Loosened,
}

impl Inlining<'_> {
    fn schema(&mut self, value: &mut Value, depth: usize) {
        let Some(object) = value.as_object_mut() else { return };
        let before = self.loose.times();
        let outside = self.open.len();
        while let Some(Value::String(reference)) = object.shift_remove("$ref") {
            let name = reference.strip_prefix(DEFS).unwrap_or_default();
            let Some(target) = self.defs.get(name) else {
                // The root itself, which contains this place.
                self.loose.record("a reference to the whole schema ends as any object");
                object.entry("type").or_insert("object".into());
                break;
            };
            if !self.may_open(name, target, depth) {
                cut(object, target);
                break;
            }
            self.open.push(name.to_string());
            match target.clone() {
                Value::Object(target) => merge(object, target, self.loose),
                Value::Bool(false) => {
                    object.insert("not".into(), json!({}));
                }
                _ => {}
            }
        }
        each_mut(object, &mut |child| self.schema(child, depth + 2));
        self.open.truncate(outside);
        if self.loose.times() > before {
            guard(object, self.loose);
        }
    }

    fn may_open(&mut self, name: &str, target: &Value, depth: usize) -> bool {
        if self.open.iter().any(|open| open == name) {
            self.loose.record(format!("`{name}` contains itself, and is open at the second visit"));
            return false;
        }
        let (parts, levels) = if self.left == 0 { (1, 0) } else { measure(target) };
        if parts > self.left || depth + levels > MAX_DEPTH {
            self.left = if parts > self.left { 0 } else { self.left };
            self.loose.record("references that would make it too large or too deep are open");
            return false;
        }
        self.left -= parts;
        true
    }
}

/// The remainder of a definition that is not inlined: its type.
fn cut(object: &mut Map<String, Value>, target: &Value) {
    let Some(written) = target.get("type") else { return };
    if names_type(written, "array") {
        object.entry("items").or_insert(json!({}));
    }
    object.entry("type").or_insert(written.clone());
}

// Converts a schema of any draft to JSON Schema 2020-12. Unknown keywords and hidden characters in texts are
// removed.

/// Whether a draft knows a keyword; an unknown keyword refuses nothing.
fn knows(draft: Draft, keyword: &str) -> bool {
    let since = match keyword {
        "const" | "contains" | "propertyNames" | "examples" => Draft::Draft6,
        "if" | "then" | "else" => Draft::Draft7,
        "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "minContains"
        | "maxContains" => Draft::Draft201909,
        "prefixItems" => Draft::Draft202012,
        _ => Draft::Draft4,
    };
    draft >= since
}

/// Settings of the conversion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The draft that the author wrote in.
    pub(super) draft: Draft,
    /// Whether any keyword stays: MCP gives some `x-` ones a meaning (docs/reference/formats.md, MCP). Otherwise an array gets
    /// `items`: OpenAI refuses one without (docs/reference/formats.md, OpenAI Chat Completions).
    pub(super) takes_any: bool,
}

impl Dialect {
    /// Converts a schema and everything below it.
    pub(super) fn convert(self, schema: &mut Value, loose: &mut Loosened) {
        let Value::Object(object) = schema else {
            if !schema.is_boolean() {
                *schema = Value::Bool(true);
            }
            return;
        };
        let before = loose.times();
        if self.draft < Draft::Draft202012 {
            self.modernise(object);
        }
        clean(object);
        let mut all_fit = true;
        let mut has_schemas = false;
        for (key, value) in object.iter() {
            let holds = holds(key);
            all_fit &= fits(holds, key, value);
            has_schemas |= matches!(holds, KeywordKind::Schema | KeywordKind::Named | KeywordKind::List);
        }
        if !all_fit {
            self.correct(object, loose);
        }
        if !self.takes_any && !object.contains_key("items") && is_array(object) {
            object.insert("items".into(), json!({}));
        }
        if has_schemas || !all_fit {
            each_mut(object, &mut |child| self.convert(child, loose));
        }
        if loose.times() > before {
            guard(object, loose);
        }
    }

    /// Keywords that an old draft reads differently.
    fn modernise(self, object: &mut Map<String, Value>) {
        if self.draft <= Draft::Draft7 && object.contains_key("$ref") {
            object.retain(|key, _| matches!(key.as_str(), "$ref" | "$defs") || is_annotation(key));
        }
        object.retain(|key, _| knows(self.draft, key));
        if self.draft <= Draft::Draft7
            && let Some(Value::Object(dependencies)) = object.shift_remove("dependencies")
        {
            let (names, schemas): (Map<_, _>, Map<_, _>) =
                dependencies.into_iter().partition(|(_, needed)| needed.is_array());
            for (keyword, part) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
                if !part.is_empty() {
                    object.insert(keyword.into(), Value::Object(part));
                }
            }
        }
    }

    fn correct(self, object: &mut Map<String, Value>, loose: &mut Loosened) {
        nullable(object, loose);
        limits(object);
        tuple(object);
        for (key, value) in object.iter_mut() {
            repair(holds(key), value);
        }
        object.retain(|key, value| {
            let holds = holds(key);
            fits(holds, key, value)
                || holds == KeywordKind::Unknown && self.takes_any && key.starts_with("x-")
        });
    }
}

/// Removes hidden characters from the texts of a schema, and changes nothing else.
pub(super) fn clean_texts(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    clean(object);
    each_mut(object, &mut clean_texts);
}

/// Texts are untrusted: no hidden character in them reaches a model. Values stay as they are, since the canonical
/// schema compares with them.
fn clean(object: &mut Map<String, Value>) {
    object.shift_remove("$comment");
    for keyword in ["description", "title"] {
        if let Some(Value::String(text)) = object.get_mut(keyword)
            && !hidden_characters(text).is_empty()
        {
            *text = clean_text(text).into_owned();
        }
    }
}

fn is_array(object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(|written| names_type(written, "array"))
}

/// In OpenAPI 3.0 a flag says that a value may be null.
fn nullable(object: &mut Map<String, Value>, loose: &mut Loosened) {
    if object.shift_remove("nullable") != Some(Value::Bool(true)) {
        return;
    }
    loose.count();
    let nothing = json!({ "type": "null" });
    if object.contains_key("type") {
        if !allows(object, "null") {
            add_null(object);
            list_null(object);
        }
    } else if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.push(nothing);
    } else if ["$ref", "allOf", "oneOf", "enum", "const"].iter().any(|key| object.contains_key(*key)) {
        let (said, rest): (Map<_, _>, Map<_, _>) =
            std::mem::take(object).into_iter().partition(|(key, _)| is_annotation(key) || key == "$defs");
        *object = said;
        object.insert("anyOf".into(), json!([rest, nothing]));
    }
}

/// Draft 4 has flags beside a limit.
fn limits(object: &mut Map<String, Value>) {
    for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if object.get(flag) == Some(&Value::Bool(true))
            && let Some(bound) = object.shift_remove(limit)
        {
            object.insert(flag.into(), bound);
        }
    }
}

/// A list in `items` is `prefixItems` since 2020-12.
fn tuple(object: &mut Map<String, Value>) {
    let rest = object.shift_remove("additionalItems");
    if !object.get("items").is_some_and(Value::is_array) {
        return;
    }
    if let Some(items) = object.shift_remove("items") {
        object.insert("prefixItems".into(), items);
    }
    if let Some(rest) = rest {
        object.insert("items".into(), rest);
    }
}

/// Keeps the usable part of a value that does not fit its keyword.
fn repair(holds: KeywordKind, value: &mut Value) {
    match (holds, value) {
        (KeywordKind::Named, Value::Object(named)) => named.values_mut().for_each(any_unless_schema),
        (KeywordKind::List, Value::Array(list)) => list.iter_mut().for_each(any_unless_schema),
        (KeywordKind::Names, value @ Value::Array(_)) => only_names(value),
        (KeywordKind::NameLists, Value::Object(named)) => named.values_mut().for_each(only_names),
        (KeywordKind::Type, Value::Array(words)) => {
            let is_word = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
            if words.iter().all(is_word) {
                let mut seen = Vec::new();
                words.retain(|word| {
                    !seen.contains(word) && {
                        seen.push(word.clone());
                        seen.len() <= TYPES.len()
                    }
                });
            }
        }
        _ => {}
    }
}

fn any_unless_schema(value: &mut Value) {
    if !is_schema(value) {
        *value = Value::Bool(true);
    }
}

fn only_names(value: &mut Value) {
    let Value::Array(names) = value else { return };
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| name.as_str().is_some_and(|name| seen.insert(name.to_string())));
}
