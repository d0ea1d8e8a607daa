//! Conditions that stand in texts alone: what the value of one argument requires of the others.

use std::cell::{Cell, LazyCell};
use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::listed::listed_values;
use super::tokens::{Token, tokens};
use toolcrib_definition::schema::{Node, Property};
use toolcrib_definition::words;

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

    /// The values of several words that a clause paraphrases: `create_view` as "creating a view".
    fn paraphrased(&self, clause: &[Token<'_>]) -> Vec<&'a str> {
        let is_said = |value: &&&str| {
            let words = words(value);
            let (Some(verb), Some(thing)) = (words.first(), words.get(1..).and_then(<[_]>::last)) else {
                return words.first().is_some_and(|verb| clause.iter().any(|token| is_gerund(token, verb)));
            };
            clause.iter().enumerate().any(|(at, token)| {
                let mut after = clause[at + 1..].iter().skip_while(|word| word.is(&ARTICLES));
                (is_gerund(token, verb) || token.is(&[verb]))
                    && after.next().is_some_and(|word| word.is(&[thing]))
            })
        };
        self.values.iter().filter(is_said).copied().collect()
    }
}

const ARTICLES: [&str; 8] = ["a", "an", "the", "this", "its", "new", "existing", "one"];

/// Whether a word is a verb with the ending `-ing`.
fn is_gerund(token: &Token<'_>, verb: &str) -> bool {
    let word = token.text.to_ascii_lowercase();
    let is_of_verb = |stem| stem == verb || verb.strip_suffix('e') == Some(stem);
    !token.is_quoted && word.strip_suffix("ing").is_some_and(is_of_verb)
}

/// A condition on one argument.
struct Condition<'a> {
    argument: &'a str,
    rule: Rule<'a>,
}

enum Rule<'a> {
    /// These values of another argument require it.
    Need { selector: &'a str, values: Vec<&'a str> },
    /// It is for these values of another argument alone.
    Only { selector: &'a str, values: Vec<&'a str> },
    /// It is required where all of these are missing.
    Without(Vec<&'a str>),
    /// It is required where one of these is given.
    With(Vec<&'a str>),
}

impl Rule<'_> {
    fn requires(&self, made: &Map<String, Value>) -> bool {
        let is_made = |name: &&str| made.contains_key(*name);
        match self {
            Self::Need { selector, values } => has_value(made, selector, values) == Some(true),
            Self::Only { .. } => false,
            Self::Without(others) => !others.iter().any(is_made),
            Self::With(others) => others.iter().any(is_made),
        }
    }
}

/// Whether an argument that is given has one of these values.
fn has_value(made: &Map<String, Value>, selector: &str, values: &[&str]) -> Option<bool> {
    match made.get(selector)? {
        Value::String(value) => Some(values.contains(&value.as_str())),
        Value::Bool(flag) => Some(values.contains(&if *flag { "true" } else { "false" })),
        _ => None,
    }
}

/// What the texts of a tool say of its arguments.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    conditions: Vec<Condition<'a>>,
    /// The names of all arguments.
    pub(super) names: IndexSet<&'a str>,
    /// Whether texts are read at all.
    pub(super) is_read: bool,
    /// Whether one of them changed a call.
    pub(super) has_said: Cell<bool>,
}

impl<'a> Conditions<'a> {
    pub(super) fn read(root: &Node<'a>, description: &'a str) -> Self {
        let mut read = Self { is_read: true, names: root.names().collect(), ..Self::default() };
        let mut texts: Vec<(&str, &str, Vec<Token<'_>>)> = Vec::new();
        let mut selectors: Vec<Selector<'_>> = Vec::new();
        let mut switches: Vec<Selector<'_>> = Vec::new();
        for property in root.properties().iter().take(MAX_ARGUMENTS) {
            let Property { name, .. } = *property;
            let node = property.node();
            let text = cut(node.description.unwrap_or_default());
            let tokens = tokens(text);
            let mut values = choices(&node);
            if values.is_empty() && node.type_words().all(|word| word == "string") {
                values = listed_values(name, &tokens, &|value| read.names.contains(value));
            }
            values.truncate(MAX_VALUES);
            texts.push((name, text, tokens));
            if values.len() > 1 && selectors.len() < MAX_SELECTORS {
                selectors.push(Selector { name, values });
            } else if node.main_type() == "boolean" {
                switches.push(Selector { name, values: vec!["true", "false"] });
            }
        }
        let names = read.names.clone();
        let spelled = || names.iter().map(|name| (words(name).concat(), *name)).collect();
        let spelled: LazyCell<HashMap<String, &str>, _> = LazyCell::new(spelled);
        for (argument, _, tokens) in &texts {
            for clause in parts(tokens, Token::begins_clause) {
                if !read.clause(argument, clause, &selectors, &switches) && says_needed(clause) {
                    read.others(argument, clause, &spelled);
                }
            }
        }
        for selector in &selectors {
            let own = texts.iter().filter(|(name, ..)| *name == selector.name).map(|(_, text, _)| *text);
            for text in own.chain([cut(description)]) {
                read.subjects(selector, text);
                read.tables(selector, text);
            }
        }
        read
    }

    /// Whether the arguments made so far require another.
    pub(super) fn requires(&self, argument: &str, made: &Map<String, Value>) -> bool {
        let is_required = self.of(argument).any(|rule| rule.requires(made));
        self.has_said.set(self.has_said.get() || is_required);
        is_required
    }

    /// Whether an argument is for other values alone.
    pub(super) fn excludes(&self, argument: &str, made: &Map<String, Value>) -> bool {
        self.of(argument).any(|rule| {
            matches!(rule, Rule::Only { selector, values } if has_value(made, selector, values) == Some(false))
        })
    }

    /// The rules on an argument.
    fn of(&self, argument: &str) -> impl Iterator<Item = &Rule<'a>> {
        let on = self.conditions.iter().filter(move |condition| condition.argument == argument);
        on.map(|condition| &condition.rule)
    }

    fn need(&mut self, argument: &'a str, selector: &Selector<'a>, values: Vec<&'a str>) {
        if !values.is_empty() && argument != selector.name {
            self.conditions
                .push(Condition { argument, rule: Rule::Need { selector: selector.name, values } });
        }
    }

    /// Reads a clause of an argument's text: "required for 'add' and 'rename'". Returns whether it has such a condition.
    fn clause(
        &mut self,
        argument: &'a str,
        clause: &[Token<'_>],
        selectors: &[Selector<'a>],
        switches: &[Selector<'a>],
    ) -> bool {
        if !clause.iter().any(|token| token.is(&NEEDED) || token.is(&["must", "only"])) {
            return false;
        }
        let before = self.conditions.len();
        let is_named = |selector: &&Selector<'_>| clause.iter().any(|token| token.text == selector.name);
        let named: Vec<&Selector<'_>> = selectors.iter().chain(switches).filter(is_named).collect();
        for selector in if named.is_empty() { selectors.iter().collect() } else { named } {
            let (mut needs, only) = needs_of(clause, selector);
            if needs.is_empty() && only.is_empty() && says_needed(clause) {
                needs = selector.paraphrased(clause);
            }
            self.need(argument, selector, needs);
            if !only.is_empty() && argument != selector.name {
                let rule = Rule::Only { selector: selector.name, values: only };
                self.conditions.push(Condition { argument, rule });
            }
        }
        self.conditions.len() > before
    }

    /// Reads a clause that says something is needed, and names other arguments: "required unless `id` is given", "either this or `id` must be set".
    fn others(&mut self, argument: &'a str, clause: &[Token<'_>], spelled: &HashMap<String, &'a str>) {
        let name = |token: &Token<'_>| spelled.get(&words(token.text).concat()).copied();
        let says = |words: &[&str]| clause.iter().position(|token| token.is(words));
        let after = |at: usize| -> Vec<&'a str> {
            let named = clause[at..].iter().filter(|token| !token.is(&GIVEN)).filter_map(name);
            named.filter(|other| *other != argument).collect()
        };
        let condition = says(&["if", "when"]);
        let is_negated = |at: usize| clause[at..].iter().take_while(|token| !token.is(&GIVEN)).any(is_not);
        let rule = match (says(&["unless"]), says(&["either", "one"]), condition, says(&["together"])) {
            (Some(at), ..) => Rule::Without(after(at)),
            (_, Some(at), ..) => Rule::Without(after(at)),
            (_, _, Some(at), _) if is_negated(at) => Rule::Without(after(at)),
            (_, _, Some(at), _) | (.., Some(at)) => Rule::With(after(at)),
            _ => return,
        };
        if let Rule::Without(names) | Rule::With(names) = &rule
            && !names.is_empty()
        {
            self.conditions.push(Condition { argument, rule });
        }
    }

    /// Reads sentences that begin with a value: "add: needs room and label".
    fn subjects(&mut self, selector: &Selector<'a>, text: &str) {
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
                if let Some(argument) = self.names.get(token.text).copied() {
                    let mut after = rest[at + 1..].iter().skip_while(|word| word.is(&["is", "are"]));
                    if needs && !after.next().is_some_and(|word| word.is(&["optional"])) {
                        self.need(argument, selector, vec![value]);
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
    fn tables(&mut self, selector: &Selector<'a>, text: &str) {
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
            let argument = self.names.get(subject.text).copied();
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
                        if let Some(argument) = self.names.get(token.text).copied() {
                            self.need(argument, selector, vec![value]);
                        }
                    }
                }
                let Some(argument) = argument else { continue };
                if head.iter().any(|word| word.is(&NEED)) && !is_optional {
                    let needs = [head.as_slice(), cell.as_slice()].concat();
                    self.need(argument, selector, needs_of(&needs, selector).0);
                } else if let Some(value) = head.iter().find_map(|word| selector.value(word))
                    && cell.first().is_some_and(|word| word.is(&NEED) || word.is(&["yes"]))
                {
                    self.need(argument, selector, vec![value]);
                }
            }
        }
    }
}

fn is_not(token: &Token<'_>) -> bool {
    token.is(&NEGATION) || token.text.to_ascii_lowercase().ends_with("n't")
}

/// Whether a clause says that something is required, or must be given.
fn says_needed(clause: &[Token<'_>]) -> bool {
    clause.iter().enumerate().any(|(at, token)| {
        let is_not = at > 0 && is_not(&clause[at - 1]);
        let is_must = token.is(&["must"]) && clause[at + 1..].iter().take(2).any(|word| word.is(&GIVEN));
        (token.is(&NEEDED) || is_must) && !is_not
    })
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
