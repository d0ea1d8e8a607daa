//! Conditions that stand in texts alone: what the value of one argument requires of the others.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::listed::listed_values;
use super::tokens::{Token, tokens};
use toolcrib_definition::schema::{Node, Property};

/// Most arguments whose texts are read.
const MAX_ARGUMENTS: usize = 256;
/// Most arguments on whose values others may depend, and most values of each.
const MAX_SELECTORS: usize = 8;
const MAX_VALUES: usize = 40;
/// Longest text that is read, in bytes.
const MAX_TEXT: usize = 4_000;

const NEED: [&str; 8] =
    ["required", "requires", "require", "mandatory", "needed", "needs", "need", "necessary"];
/// Those that say it of the argument itself, whose text may also say what else "requires" something.
const NEEDED: [&str; 4] = ["required", "mandatory", "needed", "necessary"];
const GIVEN: [&str; 6] = ["given", "set", "provided", "specified", "present", "supplied"];
const GIVE: [&str; 5] = ["provide", "pass", "give", "specify", "supply"];
const OPTIONAL: [&str; 7] = ["optional", "optionally", "ignored", "unused", "may", "can", "forbidden"];
const EXCEPT: [&str; 7] = ["except", "unless", "excluding", "but", "not", "isn't", "without"];
const NEGATION: [&str; 5] = ["not", "never", "no", "isn't", "aren't"];

/// An argument on whose value others may depend.
struct Selector<'a> {
    name: &'a str,
    values: Vec<&'a str>,
}

impl<'a> Selector<'a> {
    fn value(&self, token: &Token<'_>) -> Option<&'a str> {
        self.values.iter().find(|value| value.eq_ignore_ascii_case(token.text)).copied()
    }
}

/// A condition on one argument: `values` of another require it, or it is for them alone.
struct Condition<'a> {
    argument: &'a str,
    selector: &'a str,
    values: Vec<&'a str>,
    is_need: bool,
}

/// What the texts of a tool say of its arguments.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    conditions: Vec<Condition<'a>>,
    /// The values of an argument whose schema has none.
    listed: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Conditions<'a> {
    pub(super) fn read(root: &Node<'a>, description: &'a str) -> Self {
        let mut read = Self::default();
        let names: IndexSet<&str> = root.names().collect();
        let mut texts: Vec<(&str, &str)> = Vec::new();
        let mut selectors: Vec<Selector<'_>> = Vec::new();
        for property in root.properties().iter().take(MAX_ARGUMENTS) {
            let Property { name, .. } = *property;
            let node = property.node();
            let text = cut(node.description.unwrap_or_default());
            texts.push((name, text));
            let mut values = choices(&node);
            if values.is_empty() && node.type_words().all(|word| word == "string") {
                values = listed_values(name, text, &|value| names.contains(value));
                if values.len() > 1 {
                    read.listed.push((name, values.clone()));
                }
            }
            values.truncate(MAX_VALUES);
            if values.len() > 1 && selectors.len() < MAX_SELECTORS {
                selectors.push(Selector { name, values });
            }
        }
        if selectors.is_empty() {
            return read;
        }
        for (argument, text) in &texts {
            for clause in parts(&tokens(text), Token::begins_clause) {
                read.clause(argument, clause, &selectors);
            }
        }
        for selector in &selectors {
            let own = texts.iter().filter(|(name, _)| *name == selector.name).map(|(_, text)| *text);
            for text in own.chain([cut(description)]) {
                read.subjects(selector, text, &names);
                read.tables(selector, text, &names);
            }
        }
        read
    }

    /// Whether the texts say nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.listed.is_empty()
    }

    /// The first of the values that a text lists.
    pub(super) fn value(&self, argument: &str) -> Option<&'a str> {
        self.listed.iter().find(|(name, _)| *name == argument)?.1.first().copied()
    }

    /// Whether the arguments made so far require another.
    pub(super) fn requires(&self, argument: &str, made: &Map<String, Value>) -> bool {
        self.of(argument, made).any(|(condition, holds)| condition.is_need && holds)
    }

    /// Whether an argument is for other values alone.
    pub(super) fn excludes(&self, argument: &str, made: &Map<String, Value>) -> bool {
        self.of(argument, made).any(|(condition, holds)| !condition.is_need && !holds)
    }

    /// The conditions on an argument, and whether the arguments made so far meet each.
    fn of(&self, argument: &str, made: &Map<String, Value>) -> impl Iterator<Item = (&Condition<'a>, bool)> {
        let on = self.conditions.iter().filter(move |condition| condition.argument == argument);
        on.filter_map(|condition| {
            let value = made.get(condition.selector)?.as_str()?;
            Some((condition, condition.values.contains(&value)))
        })
    }

    fn add(&mut self, argument: &'a str, selector: &Selector<'a>, values: Vec<&'a str>, is_need: bool) {
        if !values.is_empty() && argument != selector.name {
            self.conditions.push(Condition { argument, selector: selector.name, values, is_need });
        }
    }

    /// Reads a clause of an argument's text: "required for 'add' and 'rename'".
    fn clause(&mut self, argument: &'a str, clause: &[Token<'_>], selectors: &[Selector<'a>]) {
        let is_told = clause.iter().any(|token| token.is(&NEEDED) || token.is(&["must", "only"]));
        let names = |selector: &Selector<'_>| clause.iter().any(|token| token.text == selector.name);
        let is_named = is_told && selectors.iter().any(names);
        for selector in selectors.iter().filter(|selector| is_told && (!is_named || names(selector))) {
            let (needs, only) = needs_of(clause, selector);
            self.add(argument, selector, needs, true);
            self.add(argument, selector, only, false);
        }
    }

    /// Reads sentences that begin with a value: "add: needs room and label".
    fn subjects(&mut self, selector: &Selector<'a>, text: &str, names: &IndexSet<&'a str>) {
        for sentence in parts(&tokens(text), Token::begins_sentence) {
            let lead = ["for", "when", "if", "with", "use", "method", "action", "operation", "is"];
            let leads = |token: &&Token<'_>| token.is(&lead) || token.text == selector.name;
            let start = sentence.iter().take_while(leads).count();
            let Some((subject, rest)) = sentence.get(start..).and_then(<[_]>::split_first) else { continue };
            let Some(value) = selector.value(subject) else { continue };
            let is_plain =
                start > 0 || subject.rest.starts_with(':') || rest.first().is_some_and(|next| next.is(&NEED));
            if !subject.is_quoted && !is_plain {
                continue;
            }
            let mut needs = false;
            for (at, token) in rest.iter().enumerate() {
                if let Some(argument) = names.get(token.text) {
                    let mut after = rest[at + 1..].iter().skip_while(|word| word.is(&["is", "are"]));
                    if needs && !after.next().is_some_and(|word| word.is(&["optional"])) {
                        self.add(argument, selector, vec![value], true);
                    }
                } else if token.is(&NEED) || token.is(&GIVE) {
                    needs = true;
                } else if token.is(&OPTIONAL) || token.is(&NEGATION) {
                    needs = false;
                }
            }
        }
    }

    /// Reads tables with a row for each value, or for each argument.
    fn tables(&mut self, selector: &Selector<'a>, text: &str, names: &IndexSet<&'a str>) {
        let mut head: Vec<Vec<Token<'_>>> = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            if !line.starts_with('|') {
                head.clear();
                continue;
            }
            let row: Vec<Vec<Token<'_>>> = line.trim_matches('|').split('|').map(tokens).collect();
            if head.is_empty() {
                head = row;
                continue;
            }
            let Some([subject, ..]) = row.first().map(Vec::as_slice) else { continue };
            let value = selector.value(subject);
            let argument = names.get(subject.text);
            for (cell, head) in row.iter().zip(&head).skip(1) {
                let lists = head.iter().any(|word| {
                    word.is(&NEED) || word.is(&["arguments", "parameters", "params", "fields", "inputs"])
                });
                let is_optional = head.iter().any(|word| word.is(&OPTIONAL));
                if let Some(value) = value
                    && lists
                    && !is_optional
                {
                    for token in cell.iter().take_while(|token| !token.is(&OPTIONAL)) {
                        if let Some(argument) = names.get(token.text) {
                            self.add(argument, selector, vec![value], true);
                        }
                    }
                }
                let Some(argument) = argument else { continue };
                if head.iter().any(|word| word.is(&NEED)) && !is_optional {
                    let needs = [head.as_slice(), cell.as_slice()].concat();
                    self.add(argument, selector, needs_of(&needs, selector).0, true);
                } else if let Some(value) = head.iter().find_map(|word| selector.value(word))
                    && cell.first().is_some_and(|word| word.is(&NEED) || word.is(&["yes"]))
                {
                    self.add(argument, selector, vec![value], true);
                }
            }
        }
    }
}

/// The values that a clause says require its argument, and those that it says the argument is for alone.
fn needs_of<'a>(clause: &[Token<'_>], selector: &Selector<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    #[derive(PartialEq)]
    enum Mode {
        Open,
        Required,
        Only,
        Optional,
        Except,
    }
    let mut mode = Mode::Open;
    // Values before the word that says what they do: "for 'add', this is required".
    let mut before: Vec<&str> = Vec::new();
    let mut needs: Vec<&str> = Vec::new();
    let mut only: Vec<&str> = Vec::new();
    let mut is_required = false;
    let mut said = false;
    let is_quoted = clause.iter().any(|token| token.is_quoted && selector.value(token).is_some());
    for (at, token) in clause.iter().enumerate() {
        let next = clause.get(at + 1);
        let is_must = token.is(&["must"])
            && next.is_some_and(|next| next.is(&["be"]))
            && clause.get(at + 2).is_some_and(|word| word.is(&GIVEN));
        if let Some(value) = selector.value(token)
            && token.is_quoted == is_quoted
        {
            said |= mode == Mode::Required || mode == Mode::Except;
            match mode {
                Mode::Open => before.push(value),
                Mode::Required => needs.push(value),
                Mode::Only => only.push(value),
                Mode::Optional => {}
                Mode::Except => {
                    if needs.is_empty() {
                        needs.clone_from(&selector.values);
                    }
                    needs.retain(|need| *need != value);
                }
            }
        } else if token.is(&NEEDED) || is_must {
            let is_not = at > 0 && clause.get(at - 1).is_some_and(|word| word.is(&NEGATION));
            is_required |= !is_not;
            mode = if is_not { Mode::Optional } else { Mode::Required };
        } else if token.is(&OPTIONAL) {
            mode = Mode::Optional;
        } else if token.is(&["only"]) && mode != Mode::Required {
            mode = Mode::Only;
        } else if token.is(&EXCEPT) && mode == Mode::Required {
            mode = Mode::Except;
        } else if token.is(&["all", "every", "any", "each"]) && mode == Mode::Required {
            let word = |at: usize, words: &[&str]| clause.get(at).is_some_and(|word| word.is(words));
            let is_other = word(at + 1, &["other", "others"]);
            let kinds = [
                "methods", "method", "operations", "operation", "actions", "action", "other", "others",
                "except", "but", "modes", "types", "commands",
            ];
            if word(at + 1, &kinds) {
                let is_named =
                    |value: &&str| clause.iter().any(|token| token.text.eq_ignore_ascii_case(value));
                needs.extend(selector.values.iter().filter(|value| !is_other || !is_named(value)));
                said = true;
            }
        }
    }
    if is_required && !said {
        needs.extend(before.iter().chain(&only));
    } else if mode == Mode::Only && only.is_empty() {
        only = before;
    }
    (needs, only)
}

/// The parts of a text that begin where a token says so.
fn parts<'s, 't>(
    all: &'s [Token<'t>],
    begins: fn(&Token<'t>) -> bool,
) -> impl Iterator<Item = &'s [Token<'t>]> {
    all.chunk_by(move |_, next| !begins(next))
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// The texts that a schema lists as values.
fn choices<'a>(node: &Node<'a>) -> Vec<&'a str> {
    let own = |node: &Node<'a>| node.values.unwrap_or_default().iter().chain(node.only);
    let within = node.variants().take(MAX_VALUES).collect::<Vec<_>>();
    own(node).chain(within.iter().flat_map(own)).filter_map(Value::as_str).collect()
}
