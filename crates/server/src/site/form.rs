//! The form of a tool: fields from its schema, filled with arguments, and the arguments that a sent form holds. What a form
//! cannot say is JSON in a field of its own.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::text::{clipped, inline_html, json_text};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::from_json;

/// Most rows of a form, and its deepest level; for the rest, a person writes JSON.
const MAX_ROWS: usize = 150;
const MAX_DEPTH: usize = 4;
/// Most items of a list of objects, and most values or forms to choose from.
const MAX_ITEMS: usize = 20;
const MAX_CHOICES: usize = 200;
/// Optional arguments up to which they are not folded.
const UNFOLDED: usize = 3;
/// Most characters of a description.
const MAX_ABOUT: usize = 400;
/// Length from which a text has a field of several lines.
const LONG_TEXT: u64 = 200;

/// Words in the names of arguments that take longer texts.
const PROSE: [&str; 7] = ["body", "content", "description", "markdown", "message", "prompt", "text"];

/// What a field takes.
enum Control<'s> {
    Text {
        is_long: bool,
    },
    /// A number, or one of several scalars.
    Scalar,
    Choice(Vec<Value>),
    /// A list of scalars, one a line.
    Lines {
        of_text: bool,
    },
    Items(&'s Value),
    Object(&'s Map<String, Value>),
    /// One of several objects.
    Union(Vec<&'s Value>),
    Json,
}

/// A form with its schema.
pub(super) struct Form<'s> {
    schema: &'s Value,
}

/// A place of the form: the name of its field, the pointer to its value, and how deep it is.
#[derive(Clone)]
struct Place {
    name: String,
    pointer: String,
    depth: usize,
}

impl Place {
    fn below(&self, key: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        let at = |above: &str| format!("{above}/{key}");
        Self { name: at(&self.name), pointer: at(&self.pointer), depth: self.depth + 1 }
    }

    /// The place of one of several forms of a value.
    fn of_form(&self, number: usize) -> Self {
        Self { name: format!("{}#{number}", self.name), ..self.clone() }
    }
}

/// Values and errors with which the rows are filled.
struct Filling<'f> {
    errors: &'f HashMap<&'f str, String>,
    rows: Vec<Value>,
    /// Whether fields are left out.
    is_cut: bool,
}

impl<'s> Form<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        Self { schema }
    }

    fn start() -> Place {
        Place { name: String::new(), pointer: String::new(), depth: 0 }
    }

    /// The rows of the form with these arguments, and errors by pointers.
    pub(super) fn rows(&self, arguments: &Value, errors: &HashMap<&str, String>) -> Vec<Value> {
        let mut filling = Filling { errors, rows: Vec::new(), is_cut: false };
        if let Control::Object(properties) = self.control(self.schema, 0) {
            self.object(self.schema, properties, &Self::start(), Some(arguments), &mut filling);
        }
        if filling.is_cut {
            filling.rows.push(json!({"at": "cut"}));
        }
        filling.rows
    }

    /// The arguments in the fields of a sent form.
    pub(super) fn read(&self, fields: &[(String, String)]) -> Value {
        let sent: BTreeMap<&str, &str> =
            fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let read = self.value(self.schema, &Self::start(), true, &sent);
        read.unwrap_or_else(|| json!({}))
    }

    /// The schema that a local reference means.
    fn resolved(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..8 {
            let target =
                schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
            let Some(target) = target.and_then(|target| self.schema.pointer(target)) else { break };
            schema = target;
        }
        schema
    }

    fn control(&self, schema: &'s Value, depth: usize) -> Control<'s> {
        let schema = self.resolved(schema);
        if depth > MAX_DEPTH {
            return Control::Json;
        }
        let listed = schema.get("enum").and_then(Value::as_array).cloned();
        let listed = listed.or_else(|| schema.get("const").map(|only| vec![only.clone()]));
        let is_single = |value: &Value| !value.is_object() && !value.is_array();
        if let Some(values) =
            listed.filter(|values| values.len() <= MAX_CHOICES && values.iter().all(is_single))
        {
            return Control::Choice(values);
        }
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(only)) => vec![only],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ => Vec::new(),
        };
        let types: Vec<&str> = types.into_iter().filter(|name| *name != "null").collect();
        if let Some(forms) = forms_of(schema) {
            let forms: Vec<&Value> = forms.iter().map(|form| self.resolved(form)).collect();
            let forms: Vec<&Value> =
                forms.into_iter().filter(|form| form.get("type") != Some(&json!("null"))).collect();
            return match forms[..] {
                [only] => self.control(only, depth + 1),
                _ if depth == MAX_DEPTH || forms.len() > MAX_ITEMS => Control::Json,
                _ if forms.iter().all(|form| form.get("properties").is_some()) => Control::Union(forms),
                _ if forms.iter().all(|form| is_scalar(form)) => Control::Scalar,
                _ => Control::Json,
            };
        }
        match types[..] {
            ["string"] => {
                let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
                let is_plain = schema.get("format").is_none() && schema.get("pattern").is_none();
                Control::Text { is_long: is_plain && most >= LONG_TEXT }
            }
            ["boolean"] => Control::Choice(vec![true.into(), false.into()]),
            ["integer" | "number"] => Control::Scalar,
            ["array"] if depth < MAX_DEPTH => {
                match schema.get("items").map(|items| (items, self.control(items, depth + 1))) {
                    Some((_, Control::Text { .. })) => Control::Lines { of_text: true },
                    Some((_, Control::Choice(values))) => {
                        Control::Lines { of_text: values.iter().all(Value::is_string) }
                    }
                    Some((_, Control::Scalar)) => Control::Lines { of_text: false },
                    Some((items, Control::Object(_))) => Control::Items(items),
                    _ => Control::Json,
                }
            }
            ["object"] if depth < MAX_DEPTH => {
                let properties = schema.get("properties").and_then(Value::as_object);
                properties.filter(|properties| !properties.is_empty()).map_or(Control::Json, Control::Object)
            }
            [_, _, ..] if types.iter().all(|name| !matches!(*name, "object" | "array")) => Control::Scalar,
            _ => Control::Json,
        }
    }

    fn is_required(&self, schema: &Value, key: &str) -> bool {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|name| name == key))
    }

    fn object(
        &self,
        schema: &'s Value,
        properties: &'s Map<String, Value>,
        place: &Place,
        value: Option<&Value>,
        to: &mut Filling<'_>,
    ) {
        let schema = self.resolved(schema);
        let (mut first, mut later): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(key, _)| self.is_required(schema, key));
        let is_folded = place.depth == 0 && !first.is_empty() && later.len() > UNFOLDED;
        let start = first.len();
        first.append(&mut later);
        for (number, (key, property)) in first.iter().enumerate() {
            if is_folded && number == start {
                let is_open =
                    first[start..].iter().any(|(key, _)| value.is_some_and(|value| value.get(key).is_some()));
                to.rows.push(json!({"at": "fold", "count": first.len() - start, "is_open": is_open}));
            }
            let value = value.and_then(|value| value.get(*key));
            self.field(property, &place.below(key), (key, self.is_required(schema, key)), value, to);
        }
        if is_folded {
            to.rows.push(json!({"at": "unfold"}));
        }
    }

    fn field(
        &self,
        schema: &'s Value,
        place: &Place,
        (label, is_required): (&str, bool),
        value: Option<&Value>,
        to: &mut Filling<'_>,
    ) {
        if to.rows.len() >= MAX_ROWS {
            to.is_cut = true;
            return;
        }
        let about = schema.get("description").or_else(|| self.resolved(schema).get("description"));
        let about =
            about.and_then(Value::as_str).map(|text| inline_html(&clipped(&clean_line(text), MAX_ABOUT)));
        let mut row = json!({
            "at": "field",
            "id": format!("try{}", to.rows.len()),
            "name": place.name,
            "label": clipped(&clean_line(label), 120),
            "required": is_required,
            "about": about,
            "error": to.errors.get(place.pointer.as_str()).map(|error| inline_html(error)),
        });
        let opened = |row: &Value, to: &mut Filling<'_>| {
            let mut row = row.clone();
            row["at"] = "open".into();
            to.rows.push(row);
        };
        match self.control(schema, place.depth) {
            Control::Object(properties) => {
                opened(&row, to);
                self.object(self.single(schema), properties, place, value, to);
                to.rows.push(json!({"at": "close"}));
            }
            Control::Items(items) => {
                opened(&row, to);
                let known = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                // One more than there are, for the next item.
                for number in 0..=known.len().min(MAX_ITEMS) {
                    let label = format!("{label}, item {}", number + 1);
                    self.field(
                        items,
                        &place.below(&number.to_string()),
                        (&label, false),
                        known.get(number),
                        to,
                    );
                }
                to.rows.push(json!({"at": "close"}));
            }
            Control::Union(forms) => {
                opened(&row, to);
                let titles: Vec<String> =
                    forms.iter().enumerate().map(|(number, form)| title_of(form, number)).collect();
                let chosen =
                    forms.iter().position(|form| value.is_some_and(|value| fits(form, value))).unwrap_or(0);
                let options: Vec<Value> = titles
                    .iter()
                    .enumerate()
                    .map(|(number, title)| json!({"value": number.to_string(), "text": title, "is_chosen": number == chosen}))
                    .collect();
                to.rows.push(json!({"at": "choice", "id": row["id"], "name": format!("{}#", place.name), "options": options}));
                for (number, form) in forms.into_iter().enumerate() {
                    to.rows.push(json!({"at": "open", "label": titles[number], "form": number}));
                    if let Some(properties) = form.get("properties").and_then(Value::as_object) {
                        let value = if number == chosen { value } else { None };
                        self.object(form, properties, &place.of_form(number), value, to);
                    }
                    to.rows.push(json!({"at": "close"}));
                }
                to.rows.push(json!({"at": "close"}));
            }
            Control::Choice(values) => {
                let is_only = is_required && values.len() == 1;
                let option = |known: &Value| json!({"value": known.to_string(), "text": plain(known), "is_chosen": is_only || value == Some(known)});
                row["control"] = "select".into();
                row["options"] = values.iter().map(option).collect();
                to.rows.push(row);
            }
            Control::Text { is_long } => {
                let text = value.and_then(Value::as_str).unwrap_or_default();
                let label = label.to_lowercase();
                let is_prose = || PROSE.iter().any(|word| label.contains(word));
                let is_lines = is_long && (text.contains('\n') || text.len() > 60 || is_prose());
                row["control"] = if is_lines { "lines" } else { "text" }.into();
                row["value"] = value.map(plain).into();
                to.rows.push(row);
            }
            Control::Scalar => {
                row["control"] = "text".into();
                row["value"] = value.map(plain).into();
                to.rows.push(row);
            }
            Control::Lines { .. } => {
                let lines = value
                    .and_then(Value::as_array)
                    .map(|items| items.iter().map(plain).collect::<Vec<_>>().join("\n"));
                row["control"] = "lines".into();
                row["kind"] = "one value a line".into();
                row["value"] = lines.or_else(|| value.map(plain)).into();
                to.rows.push(row);
            }
            Control::Json => {
                row["control"] = "lines".into();
                row["kind"] = "JSON".into();
                row["value"] = value.map(json_text).into();
                to.rows.push(row);
            }
        }
    }

    /// The only form of a value that may also be null.
    fn single(&self, schema: &'s Value) -> &'s Value {
        let schema = self.resolved(schema);
        let forms = forms_of(schema).into_iter().flatten();
        forms.map(|form| self.resolved(form)).find(|form| form.get("properties").is_some()).unwrap_or(schema)
    }

    /// The value at a place; `None` where its fields are empty.
    fn value(
        &self,
        schema: &'s Value,
        place: &Place,
        is_required: bool,
        sent: &BTreeMap<&str, &str>,
    ) -> Option<Value> {
        let mut below = sent.range(place.name.as_str()..);
        if !below.next().is_some_and(|(name, _)| name.starts_with(&place.name)) {
            let is_object = is_required && matches!(self.control(schema, place.depth), Control::Object(_));
            return is_object.then(|| json!({}));
        }
        let text = sent.get(place.name.as_str()).copied().unwrap_or_default();
        let filled = (!text.trim().is_empty()).then_some(text);
        match self.control(schema, place.depth) {
            Control::Text { .. } => filled.map(|text| text.replace("\r\n", "\n").into()),
            Control::Scalar | Control::Json | Control::Choice(_) => filled.map(parsed),
            Control::Lines { of_text } => filled.map(|text| {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.map(|line| if of_text { line.into() } else { parsed(line) }).collect()
            }),
            Control::Object(properties) => {
                self.object_value(self.single(schema), properties, place, is_required, sent)
            }
            Control::Items(items) => {
                let items: Vec<Value> = (0..=MAX_ITEMS)
                    .filter_map(|number| self.value(items, &place.below(&number.to_string()), false, sent))
                    .collect();
                (!items.is_empty()).then(|| items.into())
            }
            Control::Union(forms) => {
                let number: usize = sent.get(format!("{}#", place.name).as_str())?.parse().ok()?;
                let form = forms.get(number)?;
                let properties = form.get("properties").and_then(Value::as_object)?;
                self.object_value(form, properties, &place.of_form(number), is_required, sent)
            }
        }
    }

    fn object_value(
        &self,
        schema: &'s Value,
        properties: &'s Map<String, Value>,
        place: &Place,
        is_required: bool,
        sent: &BTreeMap<&str, &str>,
    ) -> Option<Value> {
        let schema = self.resolved(schema);
        let fields = properties.iter().filter_map(|(key, property)| {
            let value = self.value(property, &place.below(key), self.is_required(schema, key), sent)?;
            Some((key.clone(), value))
        });
        let fields: Map<String, Value> = fields.collect();
        (is_required || !fields.is_empty()).then_some(Value::Object(fields))
    }
}

/// The forms that a value may have.
fn forms_of(schema: &Value) -> Option<&Vec<Value>> {
    if schema.get("properties").is_some() {
        return None;
    }
    ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

/// Returns true if a schema takes one text, number or boolean.
fn is_scalar(schema: &Value) -> bool {
    let scalar = ["string", "integer", "number", "boolean"];
    let is_typed = schema.get("type").and_then(Value::as_str).is_some_and(|name| scalar.contains(&name));
    let first = schema.get("const").or_else(|| schema.get("enum")?.get(0));
    is_typed || first.is_some_and(|value| !value.is_object() && !value.is_array())
}

/// The value that a text means: JSON, or the text itself.
fn parsed(text: &str) -> Value {
    from_json(text.trim()).unwrap_or_else(|_| text.into())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The name of one of several forms: its title, its constant, or its fields.
fn title_of(form: &Value, number: usize) -> String {
    let properties = form.get("properties").and_then(Value::as_object).into_iter().flatten();
    let constants = properties.clone().filter_map(|(_, property)| property.get("const")).map(plain);
    let title = form.get("title").and_then(Value::as_str).map(str::to_string);
    let title = title.or_else(|| constants.into_iter().next());
    let fields = || properties.map(|(name, _)| name.as_str()).take(3).collect::<Vec<_>>().join(", ");
    let title = clipped(&clean_line(&title.unwrap_or_else(fields)), 80);
    if title.is_empty() { format!("Form {}", number + 1) } else { title }
}

/// Returns true if a value has the constants of a form, and its required fields.
fn fits(form: &Value, value: &Value) -> bool {
    let properties = form.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut constants = properties.filter_map(|(name, property)| Some((name, property.get("const")?)));
    let mut required =
        form.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    constants.all(|(name, constant)| value.get(name) == Some(constant))
        && required.all(|name| value.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["name", "target"],
            "$defs": {"Level": {"enum": ["low", "high"]}},
            "properties": {
                "name": {"type": "string"},
                "count": {"type": ["integer", "null"]},
                "level": {"$ref": "#/$defs/Level"},
                "is_open": {"type": "boolean"},
                "labels": {"type": "array", "items": {"type": "string"}},
                "numbers": {"type": "array", "items": {"type": "integer"}},
                "options": {"type": "object", "properties": {"path": {"type": "string"}, "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}}}},
                "fields": {"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string"}, "value": {"type": ["string", "number", "boolean"]}}}},
                "target": {"oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "user"}, "id": {"type": "integer"}}, "required": ["kind", "id"]},
                    {"type": "object", "properties": {"kind": {"const": "team"}, "slug": {"type": "string"}}, "required": ["kind"]}
                ]},
                "free": {}
            }
        })
    }

    /// The fields of a page, as a browser sends them.
    fn sent(rows: &[Value]) -> Vec<(String, String)> {
        let text = |row: &Value| {
            let options = row["options"].as_array().into_iter().flatten();
            let chosen = options
                .into_iter()
                .find(|option| option["is_chosen"] == true)
                .map(|option| option["value"].clone());
            chosen.unwrap_or_else(|| row["value"].clone()).as_str().unwrap_or_default().to_string()
        };
        let named = rows.iter().filter(|row| row["at"] == "field" || row["at"] == "choice");
        named.map(|row| (row["name"].as_str().unwrap().to_string(), text(row))).collect()
    }

    #[test]
    fn a_filled_form_holds_the_arguments_that_filled_it() {
        let schema = schema();
        for arguments in [
            json!({"name": "a", "target": {"kind": "team", "slug": "x"}}),
            json!({"name": "1", "count": 3, "level": "high", "is_open": false, "labels": ["a", "b c"], "numbers": [1, 2],
                "options": {"path": "/a", "deep": {"on": true}}, "target": {"kind": "user", "id": 7},
                "fields": [{"key": "k", "value": 1}, {"key": "true", "value": true}], "free": {"any": [1]}}),
        ] {
            let form = Form::of(&schema);
            let rows = form.rows(&arguments, &HashMap::new());
            assert_eq!(form.read(&sent(&rows)), arguments);
        }
    }

    #[test]
    fn empty_fields_are_left_out_and_wrong_ones_are_kept() {
        let schema = schema();
        let fields =
            [("/name", ""), ("/count", "many"), ("/labels", " \n"), ("/target#", "0"), ("/target#0/id", "x")];
        let fields: Vec<(String, String)> =
            fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        assert_eq!(Form::of(&schema).read(&fields), json!({"count": "many", "target": {"id": "x"}}));
    }

    #[test]
    fn an_error_stands_at_its_field() {
        let schema = schema();
        let arguments = json!({"fields": [{"key": 1}], "target": {"kind": "team"}});
        let errors =
            HashMap::from([("/fields/0/key", "no text".to_string()), ("/target/slug", "missing".into())]);
        let rows = Form::of(&schema).rows(&arguments, &errors);
        let at = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["error"].clone();
        assert_eq!((at("/fields/0/key"), at("/target#1/slug")), (json!("no text"), json!("missing")));
    }

    #[test]
    fn schemas_of_any_depth_have_a_form() {
        let field = |number| (format!("f{number}"), json!({"type": "string"}));
        let many: Map<String, Value> = (0..5_000).map(field).collect();
        let lists = |items| json!({"type": "object", "properties": {"a": {"type": "array", "items": items}}});
        let nested = (0..3).fold(json!({"type": "object", "properties": many}), |items, _| lists(items));
        for schema in [
            json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
            json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}),
            json!({"type": "object", "properties": {"a": {"oneOf": [{"$ref": "#/properties/a"}, {"$ref": "#"}]}}}),
            json!({"$ref": "#"}),
            json!({"type": "object", "properties": many}),
            nested,
        ] {
            let form = Form::of(&schema);
            let rows = form.rows(&json!({"a": 1}), &HashMap::new());
            assert!(rows.len() < MAX_ROWS + 20, "{}", rows.len());
            form.read(&sent(&rows));
        }
        let mut schema = json!({"type": "string"});
        for _ in 0..50 {
            schema = json!({"type": "object", "properties": {"a": schema, "b": {"type": "array", "items": {"oneOf": []}}}});
        }
        let rows = Form::of(&schema).rows(&json!({"a": {"a": {"a": {"a": {"a": 1}}}}}), &HashMap::new());
        assert!(rows.iter().any(|row| row["kind"] == "JSON"), "{rows:?}");
    }
}
