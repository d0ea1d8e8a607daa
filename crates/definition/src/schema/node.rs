//! One place of a schema, read: its `$ref`, its `allOf` and its one alternative beside null are one node. This is the
//! only reader of keywords for everybody who shows or fills in a schema.

use hashbrown::HashSet;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::limits::Limits;
use crate::document::resolve_local;
use crate::words;

/// Most schemas that are read as one.
const MAX_PARTS: usize = 24;
/// Longest meaning of a constant, and longest title that is shown, in bytes.
const MAX_MEANING: usize = 40;
const MAX_TITLE: usize = 80;

/// Names of definitions, by the references to them.
pub type TypeNames<'s> = IndexMap<&'s str, String>;

/// The whole schema, and how its places are read.
#[derive(Clone, Copy, Debug)]
struct Reading<'s> {
    root: &'s Value,
    /// Definitions with a name; references to them are not followed.
    names: Option<&'s TypeNames<'s>>,
    /// Whether references are followed at all.
    follows: bool,
    /// The branch of each union that is taken; without one, several branches are variants.
    branch: Option<usize>,
}

impl Default for Reading<'_> {
    fn default() -> Self {
        Self { root: &Value::Null, names: None, follows: true, branch: None }
    }
}

/// What the keywords of one place say together. Of equal keywords the nearest is read, or the narrowest limit.
#[derive(Clone, Debug, Default)]
pub struct Node<'s> {
    reading: Reading<'s>,
    parts: Vec<&'s Keywords>,
    /// The number of its keywords.
    keywords: usize,
    /// The reference to a named type, which is not followed.
    pub named: Option<&'s str>,
    /// Whether it has a reference.
    pub is_reference: bool,
    /// The last word of the last reference that was followed.
    reference: Option<&'s str>,
    pub title: Option<&'s str>,
    pub description: Option<&'s str>,
    pub default: Option<&'s Value>,
    /// The value of `const`.
    pub only: Option<&'s Value>,
    /// The values of `enum`.
    pub values: Option<&'s [Value]>,
    /// Examples of the author, those of `example` last.
    pub examples: Vec<&'s Value>,
    pub limits: Limits<'s>,
    pub is_deprecated: bool,
    /// Whether null is allowed beside its type.
    pub is_nullable: bool,
    /// Whether nothing fits.
    pub is_never: bool,
    /// Whether it is `true`.
    is_always: bool,
    /// Whether keywords besides its own properties say which ones it has.
    pub is_composed: bool,
    types: Option<&'s Value>,
    listed: Vec<&'s Map<String, Value>>,
    required: Vec<&'s str>,
    additional: Option<&'s Value>,
    patterns: Option<&'s Map<String, Value>>,
    items: Option<&'s Value>,
    prefix: Option<&'s [Value]>,
    further: Option<&'s Value>,
    variants: Vec<&'s Value>,
}

/// One argument or field. It is read when it is asked for: a schema may have many, each with a reference to much.
#[derive(Clone, Debug)]
pub struct Property<'s> {
    pub name: &'s str,
    /// Whether the object must have it.
    pub required: bool,
    reading: Reading<'s>,
    schemas: Vec<&'s Value>,
}

impl<'s> Property<'s> {
    /// All that is said of it.
    pub fn node(&self) -> Node<'s> {
        Node::read(self.reading, self.schemas.iter().copied())
    }

    /// What its own keywords say, without references, `allOf` and unions.
    pub fn own(&self) -> Node<'s> {
        let mut node = Node { reading: self.reading, ..Node::default() };
        for part in self.schemas.iter().filter_map(|schema| schema.as_object()) {
            node.take(part);
        }
        node
    }
}

/// The keywords of a schema.
type Keywords = Map<String, Value>;

/// The keywords of one schema whose schemas apply in the same place.
#[derive(Default)]
struct InPlace<'s> {
    reference: Option<&'s str>,
    all: &'s [Value],
    any: &'s [Value],
    one: &'s [Value],
}

impl<'s> Node<'s> {
    /// The root of a schema.
    pub fn root(schema: &'s Value) -> Self {
        Self::read(Reading { root: schema, ..Reading::default() }, [schema])
    }

    /// The root of a schema, some of whose definitions are known by a name.
    pub fn with_names(schema: &'s Value, names: &'s TypeNames<'s>) -> Self {
        Self::read(Reading { root: schema, names: Some(names), ..Reading::default() }, [schema])
    }

    /// The root of a schema in which no reference is followed.
    pub fn without_references(schema: &'s Value) -> Self {
        Self::read(Reading { root: schema, follows: false, ..Reading::default() }, [schema])
    }

    /// The root of a schema with one branch of each union, counted round.
    pub fn with_branch(schema: &'s Value, branch: usize) -> Self {
        Self::read(Reading { root: schema, branch: Some(branch), ..Reading::default() }, [schema])
    }

    fn read(reading: Reading<'s>, schemas: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut node = Self { reading, ..Self::default() };
        schemas.into_iter().for_each(|schema| node.gather(schema));
        node
    }

    fn at(&self, schema: &'s Value) -> Self {
        Self::read(self.reading, [schema])
    }

    fn gather(&mut self, schema: &'s Value) {
        let Value::Object(part) = schema else {
            self.is_never |= schema == &Value::Bool(false);
            self.is_always |= schema == &Value::Bool(true);
            return;
        };
        if self.parts.len() >= MAX_PARTS || self.parts.iter().any(|known| std::ptr::eq(*known, part)) {
            return;
        }
        self.parts.push(part);
        let InPlace { reference, all, any, one } = self.take(part);
        self.is_reference |= reference.is_some();
        if self.reading.follows
            && let Some(reference) = reference
        {
            if self.reading.names.is_some_and(|names| names.contains_key(reference)) {
                self.named = Some(reference);
            } else if let Some(target) = resolve_local(reference, self.reading.root) {
                self.reference = Some(last_segment(reference));
                self.gather(target);
            }
        }
        all.iter().for_each(|member| self.gather(member));
        for union in [any, one] {
            let real: Vec<&Value> = union.iter().filter(|variant| !is_null(variant)).collect();
            self.is_nullable |= real.len() < union.len();
            match (real.as_slice(), self.reading.branch) {
                ([], _) => {}
                ([only], _) => self.gather(only),
                (several, Some(branch)) => self.gather(several[branch % several.len()]),
                (_, None) if self.variants.is_empty() => self.variants = real,
                _ => {}
            }
        }
    }

    /// Reads the keywords of one schema, and returns those that bring other schemas to the same place.
    fn take(&mut self, part: &'s Keywords) -> InPlace<'s> {
        let mut in_place = InPlace::default();
        let mut example = None;
        self.keywords += part.len();
        for (keyword, value) in part {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => in_place.reference = Some(reference),
                ("allOf", Value::Array(all)) => in_place.all = all,
                ("anyOf", Value::Array(any)) => in_place.any = any,
                ("oneOf", Value::Array(one)) => in_place.one = one,
                ("title", Value::String(text)) => nearest_text(&mut self.title, text),
                ("description", Value::String(text)) => nearest_text(&mut self.description, text),
                ("type", types) => nearest(&mut self.types, types),
                ("default", value) => nearest(&mut self.default, value),
                ("const", value) => nearest(&mut self.only, value),
                ("enum", Value::Array(values)) => nearest(&mut self.values, values),
                ("examples", Value::Array(all)) if self.examples.is_empty() => self.examples.extend(all),
                ("example", value) => example = Some(value),
                ("deprecated", flag) => self.is_deprecated |= flag == &Value::Bool(true),
                ("nullable", flag) => self.is_nullable |= flag == &Value::Bool(true),
                ("properties", Value::Object(listed)) => self.listed.push(listed),
                ("required", Value::Array(names)) => {
                    self.required.extend(names.iter().filter_map(Value::as_str));
                }
                ("additionalProperties", others) => nearest(&mut self.additional, others),
                ("patternProperties", Value::Object(patterns)) => nearest(&mut self.patterns, patterns),
                ("items", items) => nearest(&mut self.items, items),
                ("prefixItems", Value::Array(prefix)) => nearest(&mut self.prefix, prefix),
                ("additionalItems", further) => nearest(&mut self.further, further),
                _ => self.limits.take(keyword, value),
            }
            self.is_composed |=
                matches!(keyword.as_str(), "allOf" | "anyOf" | "oneOf" | "if" | "dependentSchemas");
        }
        self.examples.extend(example);
        in_place
    }

    /// A definition of the same schema.
    pub fn definition(&self, reference: &str) -> Option<Self> {
        resolve_local(reference, self.reading.root).map(|target| self.at(target))
    }

    /// The name of a definition.
    pub fn type_name(&self, reference: &str) -> &'s str {
        self.reading.names.and_then(|names| names.get(reference)).map_or("any", String::as_str)
    }

    /// Whether it is `true` or `false`, and has no keywords.
    pub fn is_bare(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.keywords == 0
    }

    /// The words of its types, as they are written.
    pub fn type_words(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        let words = match self.types {
            Some(Value::Array(words)) => words,
            one => one.map_or(&[][..], std::slice::from_ref),
        };
        words.iter().filter_map(Value::as_str)
    }

    /// Whether it declares this type, alone or with others.
    pub fn has_type(&self, word: &str) -> bool {
        self.type_words().any(|own| own == word)
    }

    /// Whether it declares types.
    pub fn is_typed(&self) -> bool {
        self.types.is_some()
    }

    /// Whether it lists its properties.
    pub fn lists_properties(&self) -> bool {
        !self.listed.is_empty()
    }

    /// The names of its properties, each once, in the author's order.
    pub fn names(&self) -> impl Iterator<Item = &'s str> {
        let known_before =
            |index: usize, name: &str| self.listed[..index].iter().any(|near| near.contains_key(name));
        let lists = self.listed.iter().enumerate();
        lists
            .flat_map(move |(index, list)| list.keys().filter(move |name| !known_before(index, name)))
            .map(String::as_str)
    }

    /// Whether it lists a property.
    pub fn has_property(&self, name: &str) -> bool {
        self.listed.iter().any(|list| list.contains_key(name))
    }

    fn schemas_of(&self, name: &str) -> Vec<&'s Value> {
        self.listed.iter().filter_map(|list| list.get(name)).collect()
    }

    /// All that is said of a property, if it is listed.
    pub fn property(&self, name: &str) -> Option<Self> {
        let schemas = self.schemas_of(name);
        (!schemas.is_empty()).then(|| Self::read(self.reading, schemas))
    }

    /// Its properties, in the author's order.
    pub fn properties(&self) -> Vec<Property<'s>> {
        let required: HashSet<&str> = self.required.iter().copied().collect();
        let property = |name: &'s str| {
            let schemas = self.schemas_of(name);
            // Before draft 4, a property itself said that it is required.
            let says_so = || schemas.iter().any(|schema| schema.get("required") == Some(&Value::Bool(true)));
            let required = required.contains(name) || says_so();
            Property { name, required, reading: self.reading, schemas }
        };
        self.names().map(property).collect()
    }

    /// The names of required properties.
    pub fn required(&self) -> &[&'s str] {
        &self.required
    }

    /// Its description, or a title that says more than the name.
    pub fn about(&self, name: &str) -> Option<&'s str> {
        let says_more = |title: &&str| title.len() <= MAX_TITLE && words(title) != words(name);
        self.description.or_else(|| self.title.filter(says_more))
    }

    /// Its own name: a title, or the last word of its reference.
    pub fn name(&self) -> Option<&'s str> {
        self.title.or(self.reference).filter(|name| name.len() <= MAX_TITLE)
    }

    /// The schema of properties that are not listed, where one is given.
    pub fn other_values(&self) -> Option<Self> {
        let patterns = || self.patterns?.values().next();
        let others = self.additional.filter(|schema| !schema.is_boolean()).or_else(patterns);
        others.map(|schema| self.at(schema))
    }

    /// Whether it says that any other property is allowed.
    pub fn allows_others(&self) -> bool {
        self.patterns.is_some() || self.additional.is_some_and(|others| others != &Value::Bool(false))
    }

    /// Whether it says that any other property is allowed, of any value.
    pub fn allows_anything(&self) -> bool {
        let is_open =
            |others: &Value| others == &Value::Bool(true) || others.as_object().is_some_and(Map::is_empty);
        self.is_always || self.additional.is_some_and(is_open)
    }

    /// Whether it lists its properties, and does not say that others are allowed.
    pub fn lists_all(&self) -> bool {
        self.lists_properties() && !self.allows_others()
    }

    /// Whether it forbids all other properties.
    pub fn is_closed(&self) -> bool {
        self.additional == Some(&Value::Bool(false))
    }

    /// The type of its values, where it is one: the first that it declares besides null, or the one of its keywords. Empty
    /// where listed values have any type.
    pub fn main_type(&self) -> &'s str {
        let is_object = self.lists_properties() || self.additional.is_some() || !self.required.is_empty();
        let limits = &self.limits;
        match self.type_words().find(|word| *word != "null") {
            Some(word) => word,
            None if self.is_typed() => "null",
            None if self.values.is_some() => "",
            None if is_object || limits.fields.least.is_some() => "object",
            None if self.items.is_some() || self.prefix.is_some() || limits.items.least.is_some() => "array",
            None if limits.is_unique => "array",
            None if limits.is_of_numbers() => "number",
            None => "string",
        }
    }

    /// The schema of array elements, beyond those with their own.
    pub fn items(&self) -> Option<Self> {
        let items = if self.items.is_some_and(Value::is_array) { self.further } else { self.items };
        items.map(|schema| self.at(schema))
    }

    /// The schemas of the first array elements, where each has its own.
    pub fn tuple(&self) -> impl ExactSizeIterator<Item = Self> {
        let listed = || self.items.and_then(Value::as_array).map(Vec::as_slice);
        self.prefix.or_else(listed).unwrap_or_default().iter().map(|schema| self.at(schema))
    }

    /// Alternatives other than null, where there are several.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = Self> {
        self.variants.iter().map(|schema| self.at(schema))
    }

    /// The one value that is allowed.
    pub fn constant(&self) -> Option<&'s Value> {
        let single = || self.values.filter(|values| values.len() == 1)?.first();
        self.only.or_else(single)
    }

    /// The meaning of a constant, where the schema gives it in a few words.
    pub fn meaning(&self) -> Option<&'s str> {
        let constant = self.constant()?.as_str();
        let text = self.description.or(self.title)?;
        (constant != Some(text) && text.len() <= MAX_MEANING).then_some(text)
    }

    /// The names of required properties, where a variant has no other keyword.
    pub fn only_requires(&self) -> Option<Vec<&'s str>> {
        let bare = self.parts.iter().all(|part| part.keys().all(|key| key == "required"));
        let mut names = self.required.clone();
        names.sort_unstable();
        (bare && !names.is_empty()).then_some(names)
    }
}

fn nearest<T>(known: &mut Option<T>, value: T) {
    known.get_or_insert(value);
}

fn nearest_text<'s>(known: &mut Option<&'s str>, text: &'s str) {
    if !text.trim().is_empty() {
        nearest(known, text);
    }
}

/// The name in a reference: its last segment that is no keyword.
pub fn last_segment(reference: &str) -> &str {
    let is_name = |word: &&str| {
        !matches!(*word, "" | "items" | "properties" | "additionalProperties" | "anyOf" | "oneOf" | "allOf")
    };
    let mut words = reference.rsplit(['/', '#']).filter(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    words.find(is_name).unwrap_or("")
}

/// Whether nothing but null fits.
fn is_null(schema: &Value) -> bool {
    let Value::Object(part) = schema else { return false };
    let only_null =
        part.get("enum").and_then(Value::as_array).is_some_and(|values| values.as_slice() == [Value::Null]);
    only_null
        || part.get("const") == Some(&Value::Null)
        || part.get("type").is_some_and(|kind| kind == "null")
}
