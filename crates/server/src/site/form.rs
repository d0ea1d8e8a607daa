//! The form of a tool: fields from its schema, filled with arguments, and the arguments that a sent form holds. What a form
//! cannot say is JSON in a field of its own.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::text::{clipped, inline_html, json_text};
use toolcrib_definition::document::{from_json, pointer_join};
use toolcrib_definition::schema::{Node, Property};
use toolcrib_definition::{clean_line, is_hidden};

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
/// Most characters of a value to choose from.
const MAX_CHOICE: usize = 120;
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
    /// A list of objects.
    Items(Box<Node<'s>>),
    Object,
    /// One of several objects.
    Union(Vec<Node<'s>>),
    Json,
}

impl<'s> Control<'s> {
    /// The control of a place so many levels deep.
    fn of(node: &Node<'s>, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::Json;
        }
        let listed = node.values.or(node.only.map(std::slice::from_ref)).unwrap_or_default();
        if (1..=MAX_CHOICES).contains(&listed.len()) && listed.iter().all(is_single) {
            return Self::Choice(listed.to_vec());
        }
        if node.variants().len() > 0 && !node.lists_properties() {
            return Self::of_variants(node, depth);
        }
        let types: Vec<&str> = node.type_words().filter(|word| *word != "null").collect();
        match types[..] {
            ["string"] => {
                let limits = &node.limits;
                let is_plain = limits.format.is_none() && limits.pattern.is_none();
                Self::Text { is_long: is_plain && limits.length.most.is_none_or(|most| most >= LONG_TEXT) }
            }
            ["boolean"] => Self::Choice(vec![true.into(), false.into()]),
            ["integer" | "number"] => Self::Scalar,
            ["array"] if depth < MAX_DEPTH => {
                node.items().map_or(Self::Json, |items| Self::of_items(items, depth + 1))
            }
            [] | ["object"] if depth < MAX_DEPTH && node.names().next().is_some() => Self::Object,
            [_, _, ..] if types.iter().all(|word| !matches!(*word, "object" | "array")) => Self::Scalar,
            _ => Self::Json,
        }
    }

    fn of_items(items: Node<'s>, depth: usize) -> Self {
        match Self::of(&items, depth) {
            Self::Text { .. } => Self::Lines { of_text: true },
            Self::Choice(values) => Self::Lines { of_text: values.iter().all(Value::is_string) },
            Self::Scalar => Self::Lines { of_text: false },
            Self::Object => Self::Items(Box::new(items)),
            _ => Self::Json,
        }
    }

    fn of_variants(node: &Node<'s>, depth: usize) -> Self {
        if depth == MAX_DEPTH || node.variants().len() > MAX_ITEMS {
            return Self::Json;
        }
        let forms: Vec<Node<'s>> = node.variants().collect();
        if forms.iter().all(Node::lists_properties) {
            Self::Union(forms)
        } else if forms.iter().all(is_scalar) {
            Self::Scalar
        } else {
            Self::Json
        }
    }
}

/// A place of the form: the name of its field, the pointer to its value, and how deep it is.
#[derive(Clone, Default)]
struct Place {
    name: String,
    pointer: String,
    depth: usize,
}

impl Place {
    fn below(&self, key: &str) -> Self {
        let at = |above: &str| pointer_join(above, key);
        Self { name: at(&self.name), pointer: at(&self.pointer), depth: self.depth + 1 }
    }

    /// The place of one of several forms of a value.
    fn of_form(&self, number: usize) -> Self {
        Self { name: format!("{}#{number}", self.name), ..self.clone() }
    }
}

/// One field: what it takes, where, its label, and the value that fills it.
struct Field<'f> {
    /// Reads its node.
    node: &'f dyn Fn() -> Node<'f>,
    place: Place,
    label: &'f str,
    is_required: bool,
    value: Option<&'f Value>,
}

/// The rows of a form with these arguments, and errors by pointers.
pub(super) fn rows(root: &Node<'_>, arguments: &Value, errors: &HashMap<&str, String>) -> Vec<Value> {
    let mut rows = Rows { errors, rows: Vec::new(), is_cut: false };
    if let Control::Object = Control::of(root, 0) {
        rows.object(root, &Place::default(), Some(arguments));
    }
    if rows.is_cut {
        rows.rows.push(json!({"at": "cut"}));
    }
    rows.rows
}

/// The rows so far.
struct Rows<'f> {
    errors: &'f HashMap<&'f str, String>,
    rows: Vec<Value>,
    /// Whether fields are left out.
    is_cut: bool,
}

impl Rows<'_> {
    /// The fields of an object, required ones first; many optional arguments are folded.
    fn object(&mut self, node: &Node<'_>, place: &Place, value: Option<&Value>) {
        let (required, optional): (Vec<_>, Vec<_>) =
            node.properties().into_iter().partition(|property| property.required);
        let of = |name: &str| value.and_then(|value| value.get(name));
        let is_folded = place.depth == 0 && !required.is_empty() && optional.len() > UNFOLDED;
        let is_open = optional.iter().any(|property| of(property.name).is_some());
        let fold = is_folded.then(|| json!({"at": "fold", "count": optional.len(), "is_open": is_open}));
        let fields = |rows: &mut Self, properties: &[Property<'_>]| {
            for property in properties {
                let Property { name: label, required: is_required, .. } = *property;
                let place = place.below(label);
                rows.field(&Field { node: &|| property.node(), place, label, is_required, value: of(label) });
            }
        };
        fields(self, &required);
        self.rows.extend(fold);
        fields(self, &optional);
        self.rows.extend(is_folded.then(|| json!({"at": "unfold"})));
    }

    fn field(&mut self, field: &Field<'_>) {
        if self.rows.len() >= MAX_ROWS {
            self.is_cut = true;
            return;
        }
        let node = (field.node)();
        let mut row = self.row(field, node.description);
        match Control::of(&node, field.place.depth) {
            Control::Object => self.group(row, |rows| rows.object(&node, &field.place, field.value)),
            Control::Items(items) => self.group(row, |rows| rows.items(&items, field)),
            Control::Union(forms) => {
                let id = row["id"].clone();
                self.group(row, |rows| rows.forms(&forms, field, &id));
            }
            control => {
                fill(&mut row, control, field);
                self.rows.push(row);
            }
        }
    }

    /// What every field has.
    fn row(&self, field: &Field<'_>, description: Option<&str>) -> Value {
        let about = description.map(|text| inline_html(&clipped(&clean_line(text), MAX_ABOUT)));
        json!({
            "at": "field",
            "id": format!("try{}", self.rows.len()),
            "name": field.place.name,
            "label": clipped(&clean_line(field.label), 120),
            "required": field.is_required,
            "about": about,
            "error": self.errors.get(field.place.pointer.as_str()).map(|error| inline_html(error)),
        })
    }

    /// Rows within a field that has others.
    fn group(&mut self, mut row: Value, within: impl FnOnce(&mut Self)) {
        row["at"] = "open".into();
        self.rows.push(row);
        within(self);
        self.rows.push(json!({"at": "close"}));
    }

    fn items(&mut self, items: &Node<'_>, list: &Field<'_>) {
        let known = list.value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // One more than there are, for the next item.
        for number in 0..=known.len().min(MAX_ITEMS) {
            let label = &format!("{}, item {}", list.label, number + 1);
            let place = list.place.below(&number.to_string());
            self.field(&Field {
                node: &|| items.clone(),
                place,
                label,
                is_required: false,
                value: known.get(number),
            });
        }
    }

    fn forms(&mut self, forms: &[Node<'_>], field: &Field<'_>, id: &Value) {
        let fits_value = |form: &Node<'_>| field.value.is_some_and(|value| fits(form, value));
        let chosen = forms.iter().position(fits_value).unwrap_or(0);
        let titles: Vec<String> =
            forms.iter().enumerate().map(|(number, form)| title_of(form, number)).collect();
        let option = |(number, title): (usize, &String)| json!({"value": number.to_string(), "text": title, "is_chosen": number == chosen});
        let options: Vec<Value> = titles.iter().enumerate().map(option).collect();
        let name = format!("{}#", field.place.name);
        self.rows.push(json!({"at": "choice", "id": id, "name": name, "options": options}));
        for (number, form) in forms.iter().enumerate() {
            let value = if number == chosen { field.value } else { None };
            let row = json!({"label": titles[number], "form": number});
            self.group(row, |rows| rows.object(form, &field.place.of_form(number), value));
        }
    }
}

/// A value as JSON in which hidden characters are escaped.
fn in_plain_json(value: &Value) -> String {
    let mut json = String::new();
    for letter in value.to_string().chars() {
        if is_hidden(letter) {
            json.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            json.push(letter);
        }
    }
    json
}

/// Completes the row of a field that has no others within it.
fn fill(row: &mut Value, control: Control<'_>, field: &Field<'_>) {
    let value = field.value;
    let (name, kind, text) = match control {
        Control::Choice(values) => {
            let is_only = field.is_required && values.len() == 1;
            let option = |known: &Value| json!({"value": in_plain_json(known), "text": clipped(&clean_line(&plain(known)), MAX_CHOICE), "is_chosen": is_only || value == Some(known)});
            row["control"] = "select".into();
            row["options"] = values.iter().map(option).collect();
            return;
        }
        Control::Text { is_long } => {
            let text = value.and_then(Value::as_str).unwrap_or_default();
            let label = field.label.to_lowercase();
            let is_prose = || PROSE.iter().any(|word| label.contains(word));
            let is_lines = is_long && (text.contains('\n') || text.len() > 60 || is_prose());
            (if is_lines { "lines" } else { "text" }, None, value.map(plain))
        }
        Control::Scalar => ("text", None, value.map(plain)),
        Control::Lines { .. } => {
            let lines = |items: &Vec<Value>| items.iter().map(plain).collect::<Vec<_>>().join("\n");
            let text = value.map(|value| value.as_array().map_or_else(|| plain(value), lines));
            ("lines", Some("one value a line"), text)
        }
        _ => ("lines", Some("JSON"), value.map(json_text)),
    };
    row["control"] = name.into();
    row["kind"] = kind.into();
    row["value"] = text.into();
}

/// The arguments in the fields of a sent form.
pub(super) fn read(root: &Node<'_>, fields: &[(String, String)]) -> Value {
    let sent = Sent(fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect());
    sent.value(root, &Place::default(), true).unwrap_or_else(|| json!({}))
}

/// The texts of a sent form, by the names of their fields.
struct Sent<'f>(BTreeMap<&'f str, &'f str>);

impl Sent<'_> {
    /// The value at a place; `None` where its fields are empty.
    fn value(&self, node: &Node<'_>, place: &Place, is_required: bool) -> Option<Value> {
        let control = Control::of(node, place.depth);
        let mut below = self.0.range(place.name.as_str()..);
        if !below.next().is_some_and(|(name, _)| name.starts_with(&place.name)) {
            return (is_required && matches!(control, Control::Object)).then(|| json!({}));
        }
        let text = self.0.get(place.name.as_str()).copied().unwrap_or_default();
        let filled = (!text.trim().is_empty()).then_some(text);
        match control {
            Control::Text { .. } => filled.map(|text| text.replace("\r\n", "\n").into()),
            Control::Scalar | Control::Json | Control::Choice(_) => filled.map(parsed),
            Control::Lines { of_text } => filled.map(|text| {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.map(|line| if of_text { line.into() } else { parsed(line) }).collect()
            }),
            Control::Object => self.object(node, place, is_required),
            Control::Items(items) => {
                let items: Vec<Value> = (0..=MAX_ITEMS)
                    .filter_map(|number| self.value(&items, &place.below(&number.to_string()), false))
                    .collect();
                (!items.is_empty()).then(|| items.into())
            }
            Control::Union(forms) => {
                let number: usize = self.0.get(format!("{}#", place.name).as_str())?.parse().ok()?;
                self.object(forms.get(number)?, &place.of_form(number), is_required)
            }
        }
    }

    fn object(&self, node: &Node<'_>, place: &Place, is_required: bool) -> Option<Value> {
        let field = |property: Property<'_>| {
            let value = self.value(&property.node(), &place.below(property.name), property.required)?;
            Some((property.name.to_string(), value))
        };
        let fields: Map<String, Value> = node.properties().into_iter().filter_map(field).collect();
        (is_required || !fields.is_empty()).then_some(Value::Object(fields))
    }
}

/// Returns true if a schema takes one text, number or boolean.
fn is_scalar(node: &Node<'_>) -> bool {
    let mut words = node.type_words();
    let is_typed =
        matches!((words.next(), words.next()), (Some("string" | "integer" | "number" | "boolean"), None));
    let first = node.only.or_else(|| node.values?.first());
    is_typed || first.is_some_and(is_single)
}

fn is_single(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// The value that a text means: JSON, or the text itself.
fn parsed(text: &str) -> Value {
    from_json(text.trim()).unwrap_or_else(|_| text.into())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The name of one of several forms: its title, its constant, or its fields.
fn title_of(form: &Node<'_>, number: usize) -> String {
    let constant =
        || form.properties().iter().take(MAX_CHOICES).find_map(|property| property.node().only).map(plain);
    let fields = || form.names().take(3).collect::<Vec<_>>().join(", ");
    let title = form.title.map(str::to_string).or_else(constant).unwrap_or_else(fields);
    let title = clipped(&clean_line(&title), 80);
    if title.is_empty() { format!("Form {}", number + 1) } else { title }
}

/// Returns true if a value has the constants of a form, and its required fields.
fn fits(form: &Node<'_>, value: &Value) -> bool {
    let properties = form.properties();
    let mut constants = properties
        .iter()
        .take(MAX_CHOICES)
        .filter_map(|property| Some((property.name, property.node().only?)));
    constants.all(|(name, constant)| value.get(name) == Some(constant))
        && form.required().iter().all(|name| value.get(name).is_some())
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
            let root = Node::root(&schema);
            let rows = rows(&root, &arguments, &HashMap::new());
            assert_eq!(read(&root, &sent(&rows)), arguments);
        }
    }

    #[test]
    fn choices_show_no_hidden_character_and_are_sent_unchanged() {
        let values = json!(["a\u{202e}b", "\u{1b}[2J", "\u{e0041}", "plain é"]);
        let schema = json!({"type": "object", "properties": {"a": {"enum": values}}});
        for value in values.as_array().unwrap() {
            let arguments = json!({"a": value});
            let root = Node::root(&schema);
            let rows = rows(&root, &arguments, &HashMap::new());
            let options = rows.iter().flat_map(|row| row["options"].as_array().into_iter().flatten());
            for text in options.flat_map(|option| [&option["value"], &option["text"]]) {
                assert!(!text.as_str().unwrap().contains(is_hidden), "{text}");
            }
            assert_eq!(read(&root, &sent(&rows)), arguments);
        }
    }

    #[test]
    fn empty_fields_are_left_out_and_wrong_ones_are_kept() {
        let schema = schema();
        let fields =
            [("/name", ""), ("/count", "many"), ("/labels", " \n"), ("/target#", "0"), ("/target#0/id", "x")];
        let fields: Vec<(String, String)> =
            fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        assert_eq!(read(&Node::root(&schema), &fields), json!({"count": "many", "target": {"id": "x"}}));
    }

    #[test]
    fn an_error_stands_at_its_field() {
        let schema = schema();
        let arguments = json!({"fields": [{"key": 1}], "target": {"kind": "team"}});
        let errors =
            HashMap::from([("/fields/0/key", "no text".to_string()), ("/target/slug", "missing".into())]);
        let rows = rows(&Node::root(&schema), &arguments, &errors);
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
            let root = Node::root(&schema);
            let rows = rows(&root, &json!({"a": 1}), &HashMap::new());
            assert!(rows.len() < MAX_ROWS + 20, "{}", rows.len());
            read(&root, &sent(&rows));
        }
        let mut schema = json!({"type": "string"});
        for _ in 0..50 {
            schema = json!({"type": "object", "properties": {"a": schema, "b": {"type": "array", "items": {"oneOf": []}}}});
        }
        let rows = rows(&Node::root(&schema), &json!({"a": {"a": {"a": {"a": {"a": 1}}}}}), &HashMap::new());
        assert!(rows.iter().any(|row| row["kind"] == "JSON"), "{rows:?}");
    }
}
