//! Types in a few words: `string`, `integer[]`, `string|null`. References are followed within the schema, a few
//! levels deep.

use serde_json::{Map, Value};

use crate::tool::clean_line;

/// Most levels of a type that are written out, and most references in a chain.
const MAX_DEPTH: usize = 4;
/// Most alternatives that are written out.
const MAX_VARIANTS: usize = 4;

/// A schema with its reference resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    root: &'a Value,
    /// As it is written.
    written: &'a Value,
    /// The target of its reference, or its only alternative beside null.
    meant: &'a Value,
    nullable: bool,
}

impl<'a> Type<'a> {
    /// A part of the schema `root`.
    pub(super) fn of(written: &'a Value, root: &'a Value) -> Self {
        let (mut meant, mut nullable) = (written, false);
        for _ in 0..MAX_DEPTH {
            if let Some(target) = meant.get("$ref").and_then(Value::as_str).and_then(|to| local(to, root)) {
                meant = target;
                continue;
            }
            if let Some([only]) = meant.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
                && meant.get("properties").is_none()
            {
                meant = only;
                continue;
            }
            let variants = variants(meant);
            let mut others = variants.iter().filter(|variant| !is_null(variant));
            match (others.next(), others.next()) {
                (Some(only), None) => {
                    nullable |= variants.len() > 1;
                    meant = only;
                }
                _ => break,
            }
        }
        Self { root, written, meant, nullable }
    }

    /// A keyword of the schema as written, or of its target.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.written.get(keyword).or_else(|| self.meant.get(keyword))
    }

    /// Its description.
    pub(super) fn about(&self) -> Option<&'a str> {
        self.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    /// Its allowed values, where they are listed.
    pub(super) fn values(&self) -> Option<&'a [Value]> {
        self.get("enum").and_then(Value::as_array).map(Vec::as_slice).filter(|values| !values.is_empty())
    }

    /// The type of its elements.
    pub(super) fn items(&self) -> Option<Type<'a>> {
        let items = self.meant.get("items").filter(|items| items.is_object())?;
        Some(Type::of(items, self.root))
    }

    /// The object itself, or the object that its elements are.
    pub(super) fn object(&self) -> Option<Type<'a>> {
        let own = self.meant.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty());
        match own {
            Some(_) => Some(*self),
            None => self.items().filter(|items| items.meant.get("properties").is_some()),
        }
    }

    /// Its fields: name, type, and whether each is required; required ones first.
    pub(super) fn fields(&self) -> Vec<(&'a str, Type<'a>, bool)> {
        let mut fields: Vec<(&str, Type<'_>, bool)> = Vec::new();
        self.gather(true, 0, &mut fields);
        fields.sort_by_key(|(_, _, required)| !required);
        fields
    }

    fn gather(&self, all_hold: bool, depth: usize, fields: &mut Vec<(&'a str, Type<'a>, bool)>) {
        let required = self.meant.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| all_hold && required.is_some_and(|names| names.iter().any(|one| one == name));
        for (name, written) in self.meant.get("properties").and_then(Value::as_object).into_iter().flatten() {
            match fields.iter_mut().find(|(known, ..)| known == name) {
                Some((_, _, required)) => *required |= is_required(name),
                None => fields.push((name, Type::of(written, self.root), is_required(name))),
            }
        }
        // A field of one `allOf` part can be required by another.
        for (name, _, known) in fields.iter_mut() {
            *known |= is_required(name);
        }
        if depth == MAX_DEPTH {
            return;
        }
        let parts = self.meant.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.for_each(|part| Type::of(part, self.root).gather(all_hold, depth + 1, fields));
        variants(self.meant)
            .iter()
            .for_each(|part| Type::of(part, self.root).gather(false, depth + 1, fields));
    }

    /// The type in a few words.
    pub(super) fn words(&self) -> String {
        self.words_at(0)
    }

    fn words_at(&self, depth: usize) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut add = |word: String| {
            if !words.contains(&word) {
                words.push(word);
            }
        };
        match self.meant.get("type") {
            _ if depth > MAX_DEPTH => add("any".into()),
            Some(Value::String(kind)) => add(self.kind(kind, depth)),
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).take(8).for_each(|kind| add(self.kind(kind, depth)));
            }
            _ if !variants(self.meant).is_empty() => {
                let variants = variants(self.meant);
                let words = |variant| Type::of(variant, self.root).words_at(depth + 1);
                variants.iter().take(MAX_VARIANTS).map(words).for_each(&mut add);
                if variants.len() > MAX_VARIANTS {
                    add("…".into());
                }
            }
            _ => add(self.untold(depth)),
        }
        if self.nullable {
            add("null".into());
        }
        words.join("|")
    }

    /// The type of a schema without `type`, by its other keywords.
    fn untold(&self, depth: usize) -> String {
        let first = self.meant.get("const").or_else(|| self.values().and_then(<[Value]>::first));
        match first {
            Some(Value::String(_)) => "string".into(),
            Some(Value::Number(_)) => "number".into(),
            Some(Value::Bool(_)) => "boolean".into(),
            _ if self.meant.get("properties").is_some() => "object".into(),
            _ if self.meant.get("items").is_some() => self.kind("array", depth),
            _ => "any".into(),
        }
    }

    fn kind(&self, kind: &str, depth: usize) -> String {
        match kind {
            "array" => match self.items().map(|items| items.words_at(depth + 1)) {
                Some(of) if of.contains('|') => format!("({of})[]"),
                Some(of) if of != "any" => format!("{of}[]"),
                _ => "array".into(),
            },
            other => clean_line(other).chars().take(40).collect(),
        }
    }

    /// Further limits of a value, in a few words.
    pub(super) fn limits(&self) -> Option<String> {
        let mut limits = Vec::new();
        let text = |keyword: &str| self.get(keyword).and_then(Value::as_str).map(clean_line);
        limits.extend(text("format").filter(|format| format.len() <= 30));
        let span = |least: &str, most: &str, what: &str| {
            let bound = |keyword: &str| {
                let number = self.get(keyword)?.as_number()?;
                number.as_f64().is_some_and(|number| number.abs() < 9e15).then(|| number.to_string())
            };
            match (bound(least), bound(most)) {
                (Some(least), Some(most)) => Some(format!("{least}..{most}{what}")),
                (Some(least), None) => Some(format!(">= {least}{what}")),
                (None, Some(most)) => Some(format!("<= {most}{what}")),
                (None, None) => None,
            }
        };
        limits.extend(span("minimum", "maximum", ""));
        limits.extend(span("exclusiveMinimum", "exclusiveMaximum", ", exclusive"));
        limits.extend(span("minLength", "maxLength", " characters"));
        limits.extend(span("minItems", "maxItems", " items"));
        limits.extend(
            text("pattern").filter(|pattern| pattern.len() <= 60).map(|pattern| format!("matches {pattern}")),
        );
        (!limits.is_empty()).then(|| limits.join(", "))
    }
}

fn variants(schema: &Value) -> &[Value] {
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice);
    list("anyOf").or_else(|| list("oneOf")).unwrap_or_default()
}

fn local<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

fn is_null(schema: &Value) -> bool {
    let says = |part: &Map<String, Value>| {
        part.get("type").is_some_and(|kind| kind == "null") || part.get("const") == Some(&Value::Null)
    };
    schema.as_object().is_some_and(says)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: Value) -> String {
        Type::of(&schema, &schema).words()
    }

    #[test]
    fn types_are_told_in_few_words() {
        assert_eq!(words(json!({"type": "string"})), "string");
        assert_eq!(words(json!({"type": ["integer", "null"]})), "integer|null");
        assert_eq!(words(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "string|null");
        assert_eq!(words(json!({"type": "array", "items": {"type": "object"}})), "object[]");
        assert_eq!(words(json!({"items": {"type": ["string", "number"]}})), "(string|number)[]");
        assert_eq!(words(json!({"enum": ["a", "b"]})), "string");
        assert_eq!(words(json!(true)), "any");
        let endless = json!({"$ref": "#"});
        assert_eq!(words(endless), "any");
        let nested = json!({"type": "array", "items": {"$ref": "#"}});
        assert_eq!(words(nested), "array[][][][]");
    }

    #[test]
    fn parts_of_a_schema_bring_their_fields() {
        let schema = json!({
            "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
            "allOf": [{"properties": {"c": {}}, "required": ["c", "a"]}],
            "oneOf": [{"properties": {"d": {}}, "required": ["d"]}, {"type": "object"}],
        });
        let fields = Type::of(&schema, &schema).fields();
        let told: Vec<_> = fields.iter().map(|(name, _, required)| (*name, *required)).collect();
        assert_eq!(told, [("a", true), ("c", true), ("b", false), ("d", false)]);
    }
}
