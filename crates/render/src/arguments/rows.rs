//! The rows: one per argument, its fields nested below it, all within a budget. Where a list is folded, optional parts below
//! a level are named in one line instead of listed, so that a doc stays short. Required ones are listed at any level, since
//! no call is valid without them.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;

use super::list::{Arguments, Facts, Given, Row};
use crate::markdown::{code, inline};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::resolve_local;
use toolcrib_definition::grammar::counted;
use toolcrib_definition::markdown::from_html;
use toolcrib_definition::schema::words::{Style, Words};
use toolcrib_definition::schema::{Property, SchemaView};

/// Descriptions as markdown.
pub(super) const MARKDOWN: Style = Style { is_brief: false, word: inline, code };

/// Extent of an argument list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Levels of rows; optional parts below are named.
    levels: usize,
    /// Longest description of an optional part, in characters.
    longest: usize,
}

impl Fold {
    /// Nothing is folded for want of tokens.
    pub(super) const NONE: Fold = Fold { levels: usize::MAX, longest: usize::MAX };
    /// Steps from a long list to a short one.
    pub(super) const STEPS: [Fold; 4] = [
        Fold { levels: 3, longest: usize::MAX },
        Fold { levels: 2, longest: usize::MAX },
        Fold { levels: 2, longest: 300 },
        Fold { levels: 1, longest: 300 },
    ];
    /// Steps from the fields of a result with their descriptions to their names.
    pub(super) const RESULT_STEPS: [Fold; 5] = [
        Fold { levels: 3, longest: 120 },
        Fold { levels: 2, longest: 80 },
        Fold { levels: 1, longest: 80 },
        Fold { levels: 2, longest: 0 },
        Fold { levels: 1, longest: 0 },
    ];
}

/// Most names in one line.
const MAX_NAMES: usize = 12;
/// Most alternatives that are looked at for their names.
const MAX_FORMS: usize = 100;
const MAX_ROWS: usize = 150;
const MAX_DEPTH: usize = 5;
const MAX_VARIANTS: usize = 100;
/// Most levels without rows that are followed: elements of elements, values of values.
const MAX_LEVELS: usize = 16;
/// Most levels to look ahead for fields.
const MAX_LOOK: usize = 3;
const MAX_DESCRIPTION: usize = 600;
const MAX_DEFAULT: usize = 80;
const MAX_EXAMPLE: usize = 50;

/// Writes the argument list of one schema.
pub(super) struct Writer<'a> {
    root: &'a Value,
    words: Words<'a>,
    /// The definitions that rows name, and whether a required place is among these.
    used_types: IndexMap<&'a str, bool>,
    pub(super) listed: Arguments,
    rows_left: usize,
    levels: usize,
    fold: Fold,
    /// Whether the place at hand is required, and all places around it.
    pub(super) is_needed: bool,
    /// Whether the schema is that of a result, which has no limits, defaults or optional fields for its reader.
    pub(super) is_result: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(root: &'a Value, types: IndexMap<&'a str, String>, fold: Fold) -> Self {
        Self {
            root,
            words: Words::new(root, MARKDOWN, types),
            used_types: IndexMap::new(),
            listed: Arguments::default(),
            rows_left: MAX_ROWS,
            levels: 0,
            fold,
            is_needed: true,
            is_result: false,
        }
    }

    /// The whole list.
    pub(super) fn arguments(mut self, schema: &'a Value) -> Arguments {
        let view = self.view(schema);
        let words = self.type_of(&view);
        let is_value = !matches!(words.as_str(), "any" | "object" | "null" | "object | null")
            && !words.starts_with("object of ")
            && view.get("properties").is_none()
            && view.variants.is_empty();
        if is_value {
            self.listed.remark = format!("One value: {words}.");
        }
        self.children(&view, 0, None);
        self.other_arguments(schema, &view);
        self.listed_types();
        if self.is_empty() {
            self.listed.remark = "None.".into();
        }
        Arguments { folded: self.words.folded, ..self.listed }
    }

    fn is_empty(&self) -> bool {
        self.listed.remark.is_empty() && self.listed.rows.is_empty()
    }

    fn other_arguments(&mut self, schema: &Value, view: &SchemaView<'a>) {
        let takes_any = schema == &Value::Bool(true)
            || view
                .get("additionalProperties")
                .is_some_and(|other| other != &Value::Bool(false) && is_empty(other));
        let listed = !self.is_empty();
        match view.other_values().filter(|other| !is_empty(other)) {
            Some(_) if listed && view.get("properties").is_none() => {}
            Some(other) if !listed => {
                let other = self.view(other);
                let words = self.type_of(&other);
                self.listed.remark = format!("Any names, each with a value of type {words}.");
            }
            _ if takes_any && listed => {
                let facts = Facts { kind: "any".into(), is_required: Some(false), ..Facts::default() };
                let row = Row { label: "any other name".into(), facts: Some(facts), ..Row::default() };
                self.listed.rows.push(row);
            }
            _ if takes_any => self.listed.remark = "Any names and values.".into(),
            _ => {}
        }
    }

    fn listed_types(&mut self) {
        let mut index = 0;
        while let Some((&reference, &is_needed)) = self.used_types.get_index(index) {
            if index == 0 {
                self.listed.types_from = Some(self.listed.rows.len());
            }
            if self.claim(1, 0) == 0 {
                return self.left_out(self.used_types.len() - index, 0, "type");
            }
            index += 1;
            let Some(target) = resolve_local(reference, self.root) else { continue };
            let name = format!("**{}**", self.words.name(reference));
            self.is_needed = is_needed;
            self.row(&name, "", target, None, 0);
        }
    }

    pub(super) fn view(&self, schema: &'a Value) -> SchemaView<'a> {
        self.words.view(schema)
    }

    /// The type of a place. Definitions that it names will be listed.
    fn type_of(&mut self, view: &SchemaView<'a>) -> String {
        let words = self.words.of_view(view);
        for reference in self.words.named.drain(..) {
            *self.used_types.entry(reference).or_default() |= self.is_needed;
        }
        words
    }

    /// One row and the rows below it. `is_required` is `None` where the word makes no sense.
    fn row(&mut self, label: &str, name: &str, schema: &'a Value, is_required: Option<bool>, depth: usize) {
        let view = self.view(schema);
        let around = self.is_needed;
        self.is_needed &= is_required != Some(false);
        let kind = self.type_of(&view);
        let limits = if self.is_result { Vec::new() } else { self.words.limits(&view) };
        let given = self.default_or_example(&view);
        let (given, is_required) = if self.is_result { (None, None) } else { (given, is_required) };
        let mut about = self.about(&view, name);
        let may_fold = !self.is_needed && depth + 1 >= self.fold.levels;
        let named = if may_fold { self.named_parts(&view) } else { String::new() };
        if !named.is_empty() {
            let end = if about.ends_with(|c: char| c.is_alphanumeric() || c == ')') { "." } else { "" };
            about = format!("{about}{end} {named}").trim().to_string();
        }
        let facts = Facts { kind, is_required, limits, given, is_deprecated: view.is_deprecated() };
        self.listed.rows.push(Row { depth, label: label.into(), facts: Some(facts), about });
        if named.is_empty() {
            self.children(&view, depth + 1, None);
        }
        self.is_needed = around;
    }

    /// The fields and forms of a place, by their names; empty where it has none.
    pub(super) fn named_parts(&mut self, view: &SchemaView<'a>) -> String {
        const MAX_LEVELS: usize = 3;
        let mut inner = view.items().or_else(|| view.other_values()).map(|schema| self.view(schema));
        for _ in 0..MAX_LEVELS {
            let Some(view) = &inner else { break };
            if !view.properties().is_empty() || !view.variants.is_empty() {
                break;
            }
            inner = view.items().or_else(|| view.other_values()).map(|schema| self.view(schema));
        }
        let view = match &inner {
            Some(inner) if view.properties().is_empty() => inner,
            _ => view,
        };
        let properties = view.properties();
        let (required, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|property| property.required || self.is_result);
        let forms = self.named_forms(view);
        let fields = match (required.is_empty(), optional.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("Optional fields: {}.", listed(&optional)),
            (false, true) => format!("Fields: {}.", listed(&required)),
            (false, false) => format!("Fields: {}; optional: {}.", listed(&required), listed(&optional)),
        };
        let parts: Vec<String> = [fields, forms].into_iter().filter(|part| !part.is_empty()).collect();
        self.words.folded |= !parts.is_empty();
        parts.join(" ")
    }

    fn named_forms(&mut self, view: &SchemaView<'a>) -> String {
        let forms: Vec<SchemaView<'a>> =
            view.variants.iter().take(MAX_FORMS).map(|schema| self.view(schema)).collect();
        let forms: Vec<&SchemaView<'a>> = forms.iter().filter(|form| !form.properties().is_empty()).collect();
        let named: Vec<String> =
            forms.iter().take(MAX_NAMES).enumerate().map(|(index, form)| self.form(form, index).0).collect();
        match forms.len() {
            0 | 1 => String::new(),
            count if count > MAX_NAMES => format!("Forms: {}; {} more.", named.join("; "), count - MAX_NAMES),
            _ => format!("Forms: {}.", named.join("; ")),
        }
    }

    /// A row with a remark only.
    fn remark(&mut self, depth: usize, label: String, about: String) {
        self.listed.rows.push(Row { depth, label, facts: None, about });
    }

    /// Description of a place, on one line; empty when the schema has none.
    fn about(&mut self, view: &SchemaView<'a>, name: &str) -> String {
        let Some(text) = view.about(name) else { return String::new() };
        // The schema of a result is the author's.
        let text = if self.is_result { from_html(text) } else { Cow::Borrowed(text) };
        inline(&self.shorten(&text))
    }

    /// Cuts a long text at the end of a sentence, or else of a word.
    fn shorten<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if self.fold.longest == 0 {
            return Cow::Borrowed("");
        }
        let longest = if self.is_needed { MAX_DESCRIPTION } else { MAX_DESCRIPTION.min(self.fold.longest) };
        if text.len() <= longest {
            return Cow::Borrowed(text);
        }
        let line = clean_line(text);
        let Some((end, _)) = line.char_indices().nth(longest) else { return Cow::Owned(line) };
        self.words.folded = true;
        let head = &line[..end];
        // Half a link reads as nothing.
        let head = &head[..head.rfind('[').filter(|&open| !head[open..].contains(']')).unwrap_or(end)];
        let end = head.len();
        let sentence = [". ", "! ", "? ", "。"]
            .iter()
            .filter_map(|stop| Some(head.rfind(stop)? + stop.trim_end().len()))
            .max();
        let word = || head.rfind(' ').unwrap_or(end);
        let end = sentence.filter(|&at| at > end / 2).unwrap_or_else(word);
        Cow::Owned(head[..end].to_string() + " ...")
    }

    fn default_or_example(&mut self, view: &SchemaView<'a>) -> Option<Given> {
        if let Some(value) = view.get("default").filter(|value| !value.is_null()) {
            let plain = value.is_number() || value.is_boolean();
            let text = value.to_string();
            if text.len() > MAX_DEFAULT {
                self.words.folded = true;
                return None;
            }
            return Some(Given::Default(if plain { text } else { code(&text) }));
        }
        if view.get("enum").is_some() || view.constant().is_some() {
            return None;
        }
        let example =
            view.get("examples").and_then(|examples| examples.get(0)).or_else(|| view.get("example"))?;
        let is_short = matches!(example, Value::String(_) | Value::Number(_))
            && example.to_string().len() <= MAX_EXAMPLE;
        is_short.then(|| Given::Example(code(&example.to_string())))
    }

    /// Rows below a place: fields, elements with fields, alternatives with fields.
    pub(super) fn children(&mut self, view: &SchemaView<'a>, depth: usize, told: Option<&str>) {
        if !self.words.spend() || view.is_leaf() {
            return;
        }
        self.fields(view, depth, told);
        self.variants(view, depth);
        if let Some(items) = view.items() {
            let items = self.view(items);
            self.further_in(&items, depth);
        }
        let has_rows = |&(_, schema): &(usize, &'a Value)| self.has_rows(&self.view(schema), MAX_LOOK);
        let elements: Vec<_> = view.tuple().iter().enumerate().filter(has_rows).collect();
        let count = elements.len();
        let shown = self.claim(count, depth);
        for (index, schema) in elements.into_iter().take(shown) {
            self.row(&format!("element {}", index + 1), "", schema, None, depth);
        }
        self.left_out(count - shown, depth, "element");
        if let Some(values) = view.other_values() {
            let inner = self.view(values);
            if view.get("properties").is_none() {
                self.further_in(&inner, depth);
            } else if !is_empty(values) && self.claim(1, depth) == 1 {
                self.row("any other name", "", values, Some(false), depth);
            }
        }
    }

    /// Rows below a level that has no row of its own; they are as deep as the level around it.
    fn further_in(&mut self, view: &SchemaView<'a>, depth: usize) {
        if self.levels == MAX_LEVELS {
            self.words.folded = true;
            return;
        }
        self.levels += 1;
        self.children(view, depth, None);
        self.levels -= 1;
    }

    fn fields(&mut self, view: &SchemaView<'a>, depth: usize, told: Option<&str>) {
        let mut properties = view.properties();
        properties.retain(|property| told != Some(property.name));
        if self.is_result {
            properties.iter_mut().for_each(|property| property.required = false);
        }
        properties.sort_by_key(|property| !property.required);
        let required = properties.iter().filter(|property| property.required).count();
        let folded = if depth >= self.fold.levels && properties.len() > required + 1 {
            properties.split_off(required)
        } else {
            Vec::new()
        };
        let count = properties.len();
        let shown = self.claim(count, depth);
        for Property { name, schema, required } in properties.into_iter().take(shown) {
            self.row(&label(name), name, schema, Some(required), depth);
        }
        self.left_out(count - shown, depth, if depth == 0 { "argument" } else { "field" });
        if !folded.is_empty() {
            self.words.folded = true;
            let what = if self.is_result { "" } else { "optional: " };
            self.remark(
                depth,
                format!("{what}{}", listed(&folded.iter().collect::<Vec<_>>())),
                String::new(),
            );
        }
    }

    fn variants(&mut self, view: &SchemaView<'a>, depth: usize) {
        let unseen = view.variants.len().saturating_sub(MAX_VARIANTS);
        let variants: Vec<SchemaView<'a>> =
            view.variants.iter().take(MAX_VARIANTS).map(|variant| self.view(variant)).collect();
        let needs: Vec<String> =
            variants.iter().filter_map(SchemaView::only_requires).map(|needed| names(&needed)).collect();
        if needs.len() > 1 && self.claim(1, depth) == 1 {
            self.remark(depth, format!("one of these is required: {}", needs.join("; ")), String::new());
        }
        let is_worth_a_row = |inner: &SchemaView<'a>| {
            self.has_rows(inner, MAX_LOOK)
                || (inner.constant().is_some()
                    && inner.meaning().is_none()
                    && inner.text("description").is_some())
        };
        let forms: Vec<SchemaView<'a>> = variants.into_iter().filter(is_worth_a_row).collect();
        if let [only] = forms.as_slice() {
            return self.further_in(only, depth);
        }
        let count = forms.len();
        let shown = self.claim(count, depth);
        for (index, form) in forms.into_iter().take(shown).enumerate() {
            let (label, told) = self.form(&form, index);
            let about = self.about(&form, "");
            self.remark(depth, format!("{} {label}", if index == 0 { "either" } else { "or" }), about);
            self.children(&form, depth + 1, told);
        }
        self.left_out(count - shown + unseen, depth, "form");
    }

    /// Name of one of several alternatives, and the field that this name explains fully.
    fn form(&mut self, view: &SchemaView<'a>, index: usize) -> (String, Option<&'a str>) {
        if let Some(value) = view.constant() {
            return (self.words.value(value), None);
        }
        let mut properties = view.properties();
        properties.sort_by_key(|property| !property.required);
        for property in &properties {
            let inner = self.view(property.schema);
            if let Some(value) = inner.constant() {
                let value = self.words.value(value);
                let told =
                    (property.required && inner.text("description").is_none()).then_some(property.name);
                return (format!("{} {value}", label(property.name)), told);
            }
        }
        let required: Vec<&str> = properties.iter().filter(|p| p.required).map(|p| p.name).collect();
        let text = match view.name() {
            Some(name) => inline(name),
            None if (1..=3).contains(&required.len()) => format!("with {}", names(&required)),
            None => format!("form {}", index + 1),
        };
        (text, None)
    }

    fn has_rows(&self, view: &SchemaView<'a>, fuel: usize) -> bool {
        let below = |schema: &'a Value| fuel > 0 && self.has_rows(&self.view(schema), fuel - 1);
        view.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty())
            || view.items().is_some_and(below)
            || view.other_values().is_some_and(below)
            || view.variants.iter().take(MAX_DEPTH).any(|variant| below(variant))
    }

    /// Takes rows from the budget for a list of them.
    fn claim(&mut self, wanted: usize, depth: usize) -> usize {
        let granted = if depth >= MAX_DEPTH { 0 } else { wanted.min(self.rows_left) };
        self.rows_left -= granted;
        granted
    }

    /// Says how many rows of a list did not fit.
    fn left_out(&mut self, count: usize, depth: usize, what: &str) {
        if count > 0 {
            self.words.folded = true;
            self.remark(depth, format!("... {}", counted(count, &format!("more {what}"))), String::new());
        }
    }
}

/// The name of an argument as a code span.
fn label(name: &str) -> String {
    let label = code(name);
    if label.is_empty() { code("\"\"") } else { label }
}

/// The names of properties, in one line.
fn listed(properties: &[&Property<'_>]) -> String {
    let mut names: Vec<String> =
        properties.iter().take(MAX_NAMES).map(|property| label(property.name)).collect();
    if properties.len() > MAX_NAMES {
        names.push(format!("{} more", properties.len() - MAX_NAMES));
    }
    names.join(", ")
}

fn names(names: &[&str]) -> String {
    names.iter().map(|name| label(name)).collect::<Vec<_>>().join(" and ")
}

fn is_empty(schema: &Value) -> bool {
    schema.is_boolean() || schema.as_object().is_some_and(serde_json::Map::is_empty)
}
