//! Repairs schemas: type names that JSON Schema does not know are replaced by the ones they plainly mean, and
//! references that resolve to nothing are removed. The author's own schema is not touched; the result is the
//! canonical schema.

use std::collections::HashSet;

use indexmap::IndexSet;
use jsonschema::Draft;
use serde_json::{Map, Value, json};

use toolcrib_definition::document::{
    SchemaNames, from_json, percent_decoded, plain_flag, pointer_join, resolve_local,
};
use toolcrib_definition::finding::{nearest, normalized};
use toolcrib_definition::quoted;
use toolcrib_definition::schema::type_words::{TYPES, schema_of_type, standard_type};
use toolcrib_definition::schema::walk::{
    KeywordKind, declares_schema, draft, each_with_pointer_mut, fits, holds, meant, misspelled, type_of,
};

/// The repairs made, each with the JSON Pointer of its place.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Repairs {
    /// Keywords and values that were read differently, each with an explanation.
    pub(crate) words: Vec<(String, String)>,
    /// What was written and is lost, each with a message.
    pub(crate) lost: Vec<(String, String)>,
    /// References that resolve to nothing; their places accept any value.
    pub(crate) broken: Vec<(String, String)>,
    /// References out of the document; never followed.
    pub(crate) remote: Vec<(String, String)>,
}

/// The repaired schema, or `None` when nothing is wrong with it.
pub(crate) fn repair(schema: &Value) -> Option<(Value, Repairs)> {
    let mut repairing = Repairing {
        root: schema,
        is_openapi: false,
        old_draft: draft(schema) < Draft::Draft202012,
        names: SchemaNames::of(schema, &["$id", "id"]),
        repairs: Repairs::default(),
    };
    let mut value = schema.clone();
    repairing.schema(&mut value, &mut String::new());
    (repairing.repairs != Repairs::default()).then_some((value, repairing.repairs))
}

/// Repairs a schema of an OpenAPI document in its place. Its references and OpenAPI's own keywords stay as they are.
pub(crate) fn repair_in_document(schema: &mut Value) -> Repairs {
    let mut repairing = Repairing {
        root: &Value::Null,
        is_openapi: true,
        old_draft: false,
        names: SchemaNames::default(),
        repairs: Repairs::default(),
    };
    repairing.schema(schema, &mut String::new());
    repairing.repairs
}

struct Repairing<'a> {
    root: &'a Value,
    is_openapi: bool,
    old_draft: bool,
    names: SchemaNames,
    repairs: Repairs,
}

impl Repairing<'_> {
    fn schema(&mut self, value: &mut Value, pointer: &mut String) {
        let Value::Object(schema) = value else {
            if !value.is_boolean() {
                let written = std::mem::replace(value, Value::Bool(true));
                self.no_schema(written, value, pointer);
            }
            return;
        };
        self.spellings(schema, pointer);
        self.whole_schema(schema, pointer);
        self.property_names(schema, pointer);
        self.plain_meanings(schema, pointer);
        self.drop_nulls(schema, pointer);
        self.types(schema, pointer);
        self.values(schema, pointer);
        self.required(schema, pointer);
        if !self.is_openapi {
            self.nullable(schema, pointer);
            self.limits(schema, pointer);
            self.tuple(schema, pointer);
            self.reference(schema, pointer);
            self.choice(schema, pointer);
            self.schema_uri(schema, pointer);
        }
        each_with_pointer_mut(schema, pointer, &mut |at, child| self.schema(child, at));
    }

    fn word(&mut self, pointer: &str, what: impl Into<String>) {
        self.repairs.words.push((pointer.to_string(), what.into()));
    }

    /// Reports what was left out: nothing is lost if it said nothing.
    fn left_out(&mut self, place: String, says_nothing: bool, what: impl Into<String>) {
        let Repairs { words, lost, .. } = &mut self.repairs;
        if says_nothing { words } else { lost }.push((place, what.into()));
    }

    /// A text in place of a schema: `"true"`, or a type.
    fn no_schema(&mut self, written: Value, value: &mut Value, pointer: &str) {
        if let Some(flag) = plain_flag(&written) {
            self.word(pointer, format!("\"{flag}\" was read as {flag}"));
            *value = flag.into();
        } else if let Some(schema) = written.as_str().and_then(schema_of_type) {
            self.word(pointer, format!("{written} was read as a schema of this type"));
            *value = schema;
        } else if let Some(schema) =
            written.as_str().and_then(|text| from_json(text).ok()).filter(declares_schema)
        {
            self.word(pointer, "the text of a schema was read as the schema");
            *value = schema;
            self.schema(value, &mut pointer.to_string());
        } else if written != json!([])
            && let Some(properties) = meant("properties", &written, None)
        {
            self.word(pointer, "a list of arguments was read as a schema of an object");
            *value = json!({ "type": "object", "properties": properties });
            self.schema(value, &mut pointer.to_string());
        } else {
            let found = quoted(&written.to_string());
            let message = format!("expected a schema, found {found}; the place accepts anything");
            self.left_out(pointer.to_string(), false, message);
        }
    }

    /// Keywords in another spelling: `type_`, `min_items`, `propertys`.
    fn spellings(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let meant = |(key, value): (&String, &Value)| {
            let keyword = misspelled(key).filter(|keyword| !schema.contains_key(*keyword))?;
            let kind = holds(keyword);
            let is_sure = normalized(key) == normalized(keyword)
                && (kind != KeywordKind::Schema || keyword.contains(char::is_uppercase));
            let is_list = matches!(kind, KeywordKind::Named | KeywordKind::Names | KeywordKind::Values);
            let is_type = keyword == "type" && value.as_str().and_then(schema_of_type).is_some();
            let is_list = is_list || keyword == "description";
            (is_type || fits(kind, keyword, value) && (is_sure || is_list)).then(|| (key.clone(), keyword))
        };
        let meant: Vec<(String, &str)> = schema.iter().filter_map(meant).collect();
        for (written, keyword) in meant {
            if let Some(value) = schema.shift_remove(&written) {
                self.word(&pointer_join(pointer, &written), format!("`{written}` was read as `{keyword}`"));
                schema.insert(keyword.into(), value);
            }
        }
    }

    /// Properties in place of a schema, `{"city": {"type": "string"}}`, or next to `type: object`.
    fn property_names(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let is_keyword = |key: &str, value: &Value| {
            key.starts_with('$') || holds(key) == KeywordKind::List || fits(holds(key), key, value)
        };
        let is_typed = schema.contains_key("type");
        let is_object = schema.get("type").and_then(Value::as_str).and_then(standard_type) == Some("object");
        let is_type = |value: &Value| !is_typed && value.as_str().and_then(schema_of_type).is_some();
        let is_property = |key: &str, value: &Value| {
            let is_schema = declares_schema(value) || is_type(value);
            !is_keyword(key, value) && !key.starts_with("x-") && is_schema
        };
        let is_name = |key: &str, value: &Value| {
            is_property(key, value) || holds(key) == KeywordKind::Text && is_type(value)
        };
        let fits_beside = |(key, value): (&String, &Value)| {
            is_name(key, value) || (is_object && (key == "type" || is_keyword(key, value)))
        };
        let has_some = schema.iter().any(|(key, value)| is_property(key, value));
        if !has_some || schema.contains_key("properties") && is_object || !schema.iter().all(fits_beside) {
            return;
        }
        let (properties, keywords): (Map<_, _>, Map<_, _>) =
            std::mem::take(schema).into_iter().partition(|(key, value)| is_name(key, value));
        *schema = keywords;
        schema.entry("type").or_insert_with(|| "object".into());
        schema.insert("properties".into(), properties.into());
        self.word(pointer, "names of properties in place of a schema were read as its `properties`");
    }

    /// A whole schema below `properties` or `type`, and its type among the properties.
    fn whole_schema(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let is_whole = |inner: &Value| inner["type"] == "object" && inner["properties"].is_object();
        let key = if schema.len() == 1 && schema.contains_key("type") { "type" } else { "properties" };
        if schema.get(key).is_some_and(is_whole)
            && let Some(Value::Object(inner)) = schema.shift_remove(key)
        {
            schema.extend(inner);
            self.word(pointer, format!("the schema below `{key}` was read as the schema itself"));
        }
        let properties = schema.get("properties");
        if !schema.contains_key("type") && properties.is_some_and(|properties| properties["type"] == "object")
        {
            let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
            let kind = properties.and_then(|properties| properties.shift_remove("type"));
            schema.insert("type".into(), kind.unwrap_or_default());
            self.word(pointer, "the `type` among the properties was read as that of the schema");
        }
    }

    /// A value of the wrong kind that can only mean one thing.
    fn plain_meanings(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let properties = schema.get("properties");
        let meant = |(key, value): (&String, &Value)| Some((key.clone(), meant(key, value, properties)?));
        let meant: Vec<(String, Value)> = schema.iter().filter_map(meant).collect();
        for (key, value) in meant {
            self.word(&pointer_join(pointer, &key), format!("`{key}` was read as {value}"));
            schema.insert(key, value);
        }
    }

    /// A keyword set to null, or to a value that no draft gives it, says nothing.
    fn drop_nulls(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let is_wrong = |key: &str, value: &Value| match key {
            "default" | "const" | "example" | "examples" => false,
            "properties" | "patternProperties" | "$defs" | "definitions" => !value.is_object(),
            "enum" | "anyOf" | "oneOf" | "allOf" => value.as_array().is_none_or(Vec::is_empty),
            "minimum" | "maximum" => !value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.as_u64().is_none()
            }
            "pattern" | "format" | "description" | "title" | "$ref" | "$schema" | "$id" => !value.is_string(),
            "uniqueItems" => !value.is_boolean(),
            _ => value.is_null(),
        };
        let wrong: Vec<String> =
            schema.iter().filter(|(key, value)| is_wrong(key, value)).map(|(key, _)| key.clone()).collect();
        for key in wrong {
            let written = schema.shift_remove(&key).unwrap_or_default();
            let says_nothing = written.is_null() || written.as_array().is_some_and(Vec::is_empty);
            let what = format!("`{key}` has no usable value and was left out");
            self.left_out(pointer_join(pointer, &key), says_nothing, what);
        }
    }

    fn types(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let Some(written) = schema.get("type") else { return };
        let words: Vec<&Value> =
            written.as_array().map_or_else(|| vec![written], |words| words.iter().collect());
        let is_fine = |word: &&Value| {
            word.as_str().is_some_and(|word| TYPES.contains(&word) || self.is_openapi && word == "file")
        };
        if !words.is_empty() && words.iter().all(is_fine) {
            return;
        }
        let in_words = |word: &&Value| word.as_str().map_or_else(|| word.to_string(), str::to_string);
        let shown = words.iter().map(in_words).collect::<Vec<_>>().join(" | ");
        let place = pointer_join(pointer, "type");
        if let Some(Value::Object(mut meant)) = schema_of_type(&shown) {
            let read = meant["type"].as_str().map(|only| format!("`{only}`"));
            let read = read.unwrap_or_else(|| "its standard words".into());
            self.word(&place, format!("type `{shown}` was read as {read}"));
            meant.retain(|key, _| key == "type" || !schema.contains_key(key));
            schema.extend(meant);
        } else {
            let says_nothing =
                !words.is_empty() && matches!(shown.to_lowercase().as_str(), "any" | "" | "null");
            let near = nearest(&shown, TYPES).first().map(|near| format!("; did you mean `{near}`?"));
            let what = format!("type `{shown}` was read as \"anything\"{}", near.unwrap_or_default());
            self.left_out(place, says_nothing, what);
            schema.shift_remove("type");
        }
    }

    /// If no value of `enum` has the `type`, no call could be made: the values decide.
    fn values(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        self.listed_values(schema, pointer);
        let only = schema.get("const").map(std::slice::from_ref);
        let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(only);
        let (Some(kind), Some(values)) = (schema.get("type"), listed) else { return };
        let words = kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice);
        let fits = |value: &Value| {
            let of = type_of(value);
            words.iter().any(|word| word == of || (word == "number" && of == "integer"))
        };
        if values.iter().any(|value| !value.is_null() && fits(value)) || values.iter().all(Value::is_null) {
            return;
        }
        if kind == "array" {
            return self.values_of_items(schema, pointer);
        }
        let kinds: IndexSet<&str> = values.iter().map(type_of).collect();
        let kinds: Value = if kinds.len() == 1 { kinds[0].into() } else { kinds.into_iter().collect() };
        let what = format!("type {kind} was read as {kinds}, that of its values");
        self.word(&pointer_join(pointer, "type"), what);
        schema.insert("type".into(), kinds);
    }

    /// Values in a list of lists, with their labels, or in a list below `const`.
    fn listed_values(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        if schema.get("type").and_then(Value::as_str).is_none_or(|kind| matches!(kind, "array" | "object")) {
            return;
        }
        let key = if schema.contains_key("enum") { "enum" } else { "const" };
        let Some(Value::Array(written)) = schema.get(key) else { return };
        let value = |item: &Value| ["value", "const"].iter().find_map(|key| item.get(*key)).cloned();
        let values = match written.as_slice() {
            [Value::Array(inner)] => Some(inner.clone()),
            _ if key == "const" => Some(written.clone()),
            _ => written.iter().map(value).collect(),
        };
        if let Some(values) = values.filter(|values: &Vec<Value>| !values.is_empty()) {
            schema.shift_remove(key);
            schema.insert("enum".into(), values.into());
            self.word(&pointer_join(pointer, key), format!("`{key}` was read as a list of values"));
        }
    }

    /// Values beside the type `array` are those of its items.
    fn values_of_items(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let Some(values) = schema.shift_remove("enum") else { return };
        self.word(&pointer_join(pointer, "enum"), "`enum` was read as that of the items".to_string());
        if let Some(items) = schema.entry("items").or_insert_with(|| json!({})).as_object_mut() {
            items.entry("enum").or_insert(values);
        }
    }

    /// OpenAPI 3.0's `nullable` adds null to the type.
    fn nullable(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        if schema.get("nullable") != Some(&Value::Bool(true)) {
            return;
        }
        if let Some(Value::String(word)) = schema.get("type").cloned()
            && word != "null"
        {
            schema.insert("type".into(), serde_json::json!([word, "null"]));
            schema.shift_remove("nullable");
            if let Some(Value::Array(values)) = schema.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            self.word(&pointer_join(pointer, "nullable"), "`nullable` was read as a type that may be null");
        }
    }

    /// Draft 4's boolean exclusive limits are numbers today.
    fn limits(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let Some(Value::Bool(exclusive)) = schema.get(flag).cloned() else { continue };
            schema.shift_remove(flag);
            if exclusive && let Some(bound) = schema.shift_remove(limit) {
                schema.insert(flag.into(), bound);
            }
            self.word(&pointer_join(pointer, flag), format!("boolean `{flag}` was read as a limit"));
        }
    }

    /// A format is a hint, so that forms of one type which differ in it may all fit.
    fn choice(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let (Some(Value::Array(forms)), None) = (schema.get("oneOf"), schema.get("anyOf")) else { return };
        let target = |form: &Value| resolve_local(form.get("$ref")?.as_str()?, self.root);
        let word = |form: &Value, key: &str| target(form).unwrap_or(form).get(key).cloned();
        let is_twin = |one: &Value, other: &Value| word(one, "type") == word(other, "type");
        let has_twin = |form: &&Value| forms.iter().filter(|other| is_twin(form, other)).count() > 1;
        if forms.iter().filter(has_twin).any(|form| word(form, "format").is_some()) {
            let forms = schema.shift_remove("oneOf").unwrap_or_default();
            schema.insert("anyOf".into(), forms);
            self.word(pointer, "`oneOf` was read as `anyOf`, since formats are hints");
        }
    }

    /// A list of item schemas is `prefixItems` since 2020-12.
    fn tuple(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        if self.old_draft || !schema.get("items").is_some_and(Value::is_array) {
            return;
        }
        if let Some(items) = schema.shift_remove("items") {
            schema.insert("prefixItems".into(), items);
            self.word(&pointer_join(pointer, "items"), "a list in `items` was read as `prefixItems`");
        }
        if let Some(rest) = schema.shift_remove("additionalItems") {
            schema.insert("items".into(), rest);
        }
    }

    /// Takes what a property says of itself, `required: true` or `optional: false`, and returns the names that are required.
    fn required_properties(&mut self, schema: &mut Map<String, Value>, pointer: &str) -> Vec<String> {
        let mut hoisted = Vec::new();
        let listed = schema.get("required").and_then(Value::as_array).cloned();
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return hoisted };
        for (name, property) in properties.iter_mut() {
            let Value::Object(property) = property else { continue };
            let names_itself = |flag: &Value| property.get("properties")?.get(flag.as_str()?).map(drop);
            let says = |(key, flag): (&String, &Value)| {
                let is_flag = key == "required" || misspelled(key) == Some("required");
                let flag = flag_of(flag).filter(|_| names_itself(flag).is_none())?;
                (is_flag || key == "optional").then(|| (key.clone(), flag != (key == "optional")))
            };
            let Some((key, required)) = property.iter().find_map(says) else { continue };
            let place = pointer_join(&pointer_join(pointer, "properties"), name);
            let is_listed = listed.as_ref().map(|names| names.contains(&name.as_str().into()));
            if key == "optional" && !required && is_listed != Some(false) {
                let what = "`optional` is no keyword, and `required` of the object does not say so";
                self.left_out(pointer_join(&place, "optional"), false, what);
            }
            property.shift_remove(&key);
            if required {
                hoisted.push(name.clone());
            }
            if key != "optional" || required {
                self.word(&place, format!("`{key}` on a property was read as its parent's"));
            }
        }
        hoisted
    }

    /// `required: true` on a property belongs into its parent's list.
    fn required(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let hoisted = self.required_properties(schema, pointer);
        match schema.get_mut("required") {
            Some(Value::Array(names)) => {
                let before = names.len();
                names.retain(Value::is_string);
                let named = names.len();
                let mut seen = HashSet::new();
                names.retain(|name| seen.insert(name.as_str().unwrap_or_default().to_string()));
                if names.len() < before {
                    let what = "`required` held entries that are no names, or twice the same";
                    self.left_out(pointer_join(pointer, "required"), named == before, what);
                }
                let new: Vec<Value> =
                    hoisted.into_iter().filter(|name| !seen.contains(name)).map(Value::from).collect();
                names.extend(new);
            }
            Some(written) => {
                let says_nothing = written.is_null() || plain_flag(written) == Some(false);
                schema.insert("required".into(), hoisted.into_iter().map(Value::from).collect());
                let what = "`required` is no list and was left out";
                self.left_out(pointer_join(pointer, "required"), says_nothing, what);
            }
            None if !hoisted.is_empty() => {
                schema.insert("required".into(), hoisted.into_iter().map(Value::from).collect());
            }
            None => {}
        }
    }

    fn reference(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str).map(str::to_string) else { return };
        let place = pointer_join(pointer, "$ref");
        let Some(fragment) = reference.strip_prefix('#') else {
            if self.names.pointer(&reference).is_none() {
                self.repairs.remote.push((place, reference));
            }
            return;
        };
        if fragment.is_empty()
            || self.root.pointer(&percent_decoded(fragment)).is_some()
            || self.names.pointer(&reference).is_some()
        {
            return;
        }
        // `definitions` and `$defs` are often mixed up.
        let swaps =
            [("/$defs/", "/definitions/"), ("/definitions/", "/$defs/"), ("/components/schemas/", "/$defs/")];
        let swapped = |(from, to)| Some(format!("{to}{}", fragment.strip_prefix(from)?));
        let mut candidates = swaps.into_iter().filter_map(swapped);
        match candidates.find(|candidate| self.root.pointer(candidate).is_some()) {
            Some(found) => {
                self.word(&place, format!("`{reference}` was read as `#{found}`"));
                schema.insert("$ref".into(), format!("#{found}").into());
            }
            None => {
                schema.shift_remove("$ref");
                self.repairs.broken.push((place, reference));
            }
        }
    }

    /// An unknown dialect is read as 2020-12.
    fn schema_uri(&mut self, schema: &mut Map<String, Value>, pointer: &str) {
        let known = |uri: &str| {
            uri.contains("json-schema.org/") && (uri.contains("draft-0") || uri.contains("/draft/20"))
        };
        if let Some(uri) = schema.get("$schema").and_then(Value::as_str).filter(|uri| !known(uri)) {
            let what = format!("`$schema` {uri} is not known; the schema was read as draft 2020-12");
            schema.shift_remove("$schema");
            self.word(&pointer_join(pointer, "$schema"), what);
        }
    }
}

/// Whether a property is required, by what it says of itself.
fn flag_of(value: &Value) -> Option<bool> {
    match value.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("yes" | "required" | "mandatory") => Some(true),
        Some("no" | "optional") => Some(false),
        _ => plain_flag(value),
    }
}

#[cfg(test)]
mod tests;
