//! The rows: one per argument, its fields nested below it, all within a budget. Where a list is folded, optional parts below
//! a level are named in one line instead of listed, so that a doc stays short. Required ones are listed at any level, since
//! no call is valid without them.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;

use super::list::{Arguments, Facts, Given, Row};
use crate::markdown::{code, inline};
use toolcrib_definition::clean_line;
use toolcrib_definition::grammar::counted;
use toolcrib_definition::markdown::from_html;
use toolcrib_definition::schema::words::{Style, Words};
use toolcrib_definition::schema::{Node, Property};

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
/// Most rows of optional parts, and of required ones, which are left out only where somebody wrote a schema to have them so.
const MAX_ROWS: usize = 150;
const MAX_NEEDED_ROWS: usize = 1_000;
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
    root: &'a Node<'a>,
    words: Words<'a>,
    /// The definitions that rows name, and whether a required place is among these.
    used_types: IndexMap<&'a str, bool>,
    pub(super) listed: Arguments,
    rows_left: usize,
    needed_rows_left: usize,
    levels: usize,
    fold: Fold,
    /// Whether the place at hand is required, and all places around it.
    pub(super) is_needed: bool,
    /// Whether the schema is that of a result, which has no limits, defaults or optional fields for its reader.
    pub(super) is_result: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(root: &'a Node<'a>, fold: Fold) -> Self {
        Self {
            root,
            words: Words::new(MARKDOWN),
            used_types: IndexMap::new(),
            listed: Arguments::default(),
            rows_left: MAX_ROWS,
            needed_rows_left: MAX_NEEDED_ROWS,
            levels: 0,
            fold,
            is_needed: true,
            is_result: false,
        }
    }

    /// The whole list.
    pub(super) fn arguments(mut self) -> Arguments {
        let root = self.root;
        let words = self.type_of(root);
        let is_value = !matches!(words.as_str(), "any" | "object" | "null" | "object | null")
            && !words.starts_with("object of ")
            && !root.lists_properties()
            && root.variants().len() == 0;
        if is_value {
            self.listed.remark = format!("One value: {words}.");
        }
        self.children(root, 0, None);
        self.other_arguments();
        self.listed_types();
        if self.is_empty() {
            self.listed.remark = "None.".into();
        }
        Arguments { folded: self.words.folded, ..self.listed }
    }

    fn is_empty(&self) -> bool {
        self.listed.remark.is_empty() && self.listed.rows.is_empty()
    }

    fn other_arguments(&mut self) {
        let root = self.root;
        let listed = !self.is_empty();
        match root.other_values().filter(|other| !other.is_empty()) {
            Some(_) if listed && !root.lists_properties() => {}
            Some(other) if !listed => {
                let words = self.type_of(&other);
                self.listed.remark = format!("Any names, each with a value of type {words}.");
            }
            _ if !root.allows_anything() => {}
            _ if listed => {
                let facts = Facts { kind: "any".into(), is_required: Some(false), ..Facts::default() };
                let row = Row { label: "any other name".into(), facts: Some(facts), ..Row::default() };
                self.listed.rows.push(row);
            }
            _ => self.listed.remark = "Any names and values.".into(),
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
            let Some(target) = self.root.definition(reference) else { continue };
            let name = format!("**{}**", self.root.type_name(reference));
            self.is_needed = is_needed;
            self.row(&name, "", &target, None, 0);
        }
    }

    /// The type of a place. Definitions that it names will be listed.
    fn type_of(&mut self, node: &Node<'a>) -> String {
        let words = self.words.of(node);
        for reference in self.words.named.drain(..) {
            *self.used_types.entry(reference).or_default() |= self.is_needed;
        }
        words
    }

    /// One row and the rows below it. `is_required` is `None` where the word makes no sense.
    fn row(&mut self, label: &str, name: &str, node: &Node<'a>, is_required: Option<bool>, depth: usize) {
        let around = self.is_needed;
        self.is_needed &= is_required != Some(false);
        let kind = self.type_of(node);
        let limits = if self.is_result { Vec::new() } else { self.words.limits(node) };
        let given = self.default_or_example(node);
        let (given, is_required) = if self.is_result { (None, None) } else { (given, is_required) };
        let mut about = self.about(node, name);
        let may_fold = !self.is_needed && depth + 1 >= self.fold.levels;
        let named = if may_fold { self.named_parts(node) } else { String::new() };
        if !named.is_empty() {
            let end = if about.ends_with(|c: char| c.is_alphanumeric() || c == ')') { "." } else { "" };
            about = format!("{about}{end} {named}").trim().to_string();
        }
        let facts = Facts { kind, is_required, limits, given, is_deprecated: node.is_deprecated };
        self.listed.rows.push(Row { depth, label: label.into(), facts: Some(facts), about });
        if named.is_empty() {
            self.children(node, depth + 1, None);
        }
        self.is_needed = around;
    }

    /// The fields and forms of a place, by their names; empty where it has none.
    pub(super) fn named_parts(&mut self, node: &Node<'a>) -> String {
        const MAX_LEVELS: usize = 3;
        let below = |node: &Node<'a>| node.items().or_else(|| node.other_values());
        let mut inner = below(node);
        for _ in 0..MAX_LEVELS {
            let Some(node) = &inner else { break };
            if node.lists_properties() || node.variants().len() > 0 {
                break;
            }
            inner = below(node);
        }
        let node = match &inner {
            Some(inner) if node.names().next().is_none() => inner,
            _ => node,
        };
        let properties = node.properties();
        let (required, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|property| property.required || self.is_result);
        let forms = self.named_forms(node);
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

    fn named_forms(&mut self, node: &Node<'a>) -> String {
        let forms = node.variants().take(MAX_FORMS);
        let forms: Vec<Node<'a>> = forms.filter(|form| form.names().next().is_some()).collect();
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
    fn about(&mut self, node: &Node<'a>, name: &str) -> String {
        let Some(text) = node.about(name) else { return String::new() };
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

    fn default_or_example(&mut self, node: &Node<'a>) -> Option<Given> {
        if let Some(value) = node.default.filter(|value| !value.is_null()) {
            let plain = value.is_number() || value.is_boolean();
            let text = value.to_string();
            if text.len() > MAX_DEFAULT {
                self.words.folded = true;
                return None;
            }
            return Some(Given::Default(if plain { text } else { code(&text) }));
        }
        if node.values.is_some() || node.constant().is_some() {
            return None;
        }
        let example = node.examples.first()?;
        let is_short = matches!(example, Value::String(_) | Value::Number(_))
            && example.to_string().len() <= MAX_EXAMPLE;
        is_short.then(|| Given::Example(code(&example.to_string())))
    }

    /// Rows below a place: fields, elements with fields, alternatives with fields.
    pub(super) fn children(&mut self, node: &Node<'a>, depth: usize, told: Option<&str>) {
        if !self.words.spend() {
            return;
        }
        self.fields(node, depth, told);
        self.variants(node, depth);
        if let Some(items) = node.items() {
            self.further_in(&items, depth);
        }
        let elements: Vec<_> =
            node.tuple().enumerate().filter(|(_, node)| has_rows(node, MAX_LOOK)).collect();
        let count = elements.len();
        let shown = self.claim(count, depth);
        for (index, element) in elements.iter().take(shown) {
            self.row(&format!("element {}", index + 1), "", element, None, depth);
        }
        self.left_out(count - shown, depth, "element");
        if let Some(values) = node.other_values() {
            if !node.lists_properties() {
                self.further_in(&values, depth);
            } else if !values.is_empty() && self.claim(1, depth) == 1 {
                self.row("any other name", "", &values, Some(false), depth);
            }
        }
    }

    /// Rows below a level that has no row of its own; they are as deep as the level around it.
    fn further_in(&mut self, node: &Node<'a>, depth: usize) {
        if self.levels == MAX_LEVELS {
            self.words.folded = true;
            return;
        }
        self.levels += 1;
        self.children(node, depth, None);
        self.levels -= 1;
    }

    fn fields(&mut self, node: &Node<'a>, depth: usize, told: Option<&str>) {
        let mut properties = node.properties();
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
        let needed = if self.is_needed { required.min(self.needed_rows_left) } else { 0 };
        self.needed_rows_left -= needed;
        let shown = needed + self.claim(count - needed, depth);
        for property in properties.iter().take(shown) {
            let Property { name, required, .. } = *property;
            self.row(&label(name), name, &property.node(), Some(required), depth);
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

    fn variants(&mut self, node: &Node<'a>, depth: usize) {
        let unseen = node.variants().len().saturating_sub(MAX_VARIANTS);
        let variants: Vec<Node<'a>> = node.variants().take(MAX_VARIANTS).collect();
        let needs: Vec<String> =
            variants.iter().filter_map(Node::only_requires).map(|needed| names(&needed)).collect();
        if needs.len() > 1 && self.claim(1, depth) == 1 {
            self.remark(depth, format!("one of these is required: {}", needs.join("; ")), String::new());
        }
        let is_explained = |form: &Node<'a>| {
            form.constant().is_some() && form.meaning().is_none() && form.description.is_some()
        };
        let is_worth_a_row = |form: &Node<'a>| has_rows(form, MAX_LOOK) || is_explained(form);
        let forms: Vec<Node<'a>> = variants.into_iter().filter(is_worth_a_row).collect();
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
    fn form(&mut self, node: &Node<'a>, index: usize) -> (String, Option<&'a str>) {
        if let Some(value) = node.constant() {
            return (self.words.value(value), None);
        }
        let mut properties = node.properties();
        properties.sort_by_key(|property| !property.required);
        for property in &properties {
            let inner = property.node();
            if let Some(value) = inner.constant() {
                let value = self.words.value(value);
                let told = (property.required && inner.description.is_none()).then_some(property.name);
                return (format!("{} {value}", label(property.name)), told);
            }
        }
        let required: Vec<&str> = properties.iter().filter(|p| p.required).map(|p| p.name).collect();
        let text = match node.name() {
            Some(name) => inline(name),
            None if (1..=3).contains(&required.len()) => format!("with {}", names(&required)),
            None => format!("form {}", index + 1),
        };
        (text, None)
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

/// Whether a place has fields, or within as many levels as there is fuel.
fn has_rows(node: &Node<'_>, fuel: usize) -> bool {
    let below = |node: Node<'_>| fuel > 0 && has_rows(&node, fuel - 1);
    node.names().next().is_some()
        || node.items().is_some_and(below)
        || node.other_values().is_some_and(below)
        || node.variants().take(MAX_DEPTH).any(below)
}
