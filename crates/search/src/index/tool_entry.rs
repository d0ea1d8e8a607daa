//! A tool as an entry: its author's texts, its parameters, and the actions that it selects by an argument.

use indexmap::IndexSet;
use serde_json::Value;

use super::{Field, IndexEntry};
use toolcrib_catalog::Tool;
use toolcrib_definition::schema::Node;

/// Deepest level of parameters, and most parameters of a tool, that are read.
const MAX_DEPTH: usize = 3;
const MAX_PARAMETERS: usize = 200;
/// Most values of an enumeration that are read.
const MAX_VALUES: usize = 40;

/// Names of arguments that select an action, and most values of one.
const SELECTORS: [&str; 7] = ["method", "action", "operation", "command", "op", "mode", "subcommand"];
const MAX_ACTIONS: usize = 40;

impl From<&Tool> for IndexEntry {
    fn from(tool: &Tool) -> Self {
        let Tool { names, labels, texts: told, input, rules, origin, .. } = tool;
        let exact = [&names.canonical, &names.safe, &names.op].into_iter().chain(&names.aliases);
        let exact: IndexSet<&String> = exact.collect();
        let mut texts = vec![(Field::Name, names.written.clone()), (Field::Alias, names.op.clone())];
        let aliases = names.aliases.iter().chain(&names.title);
        texts.extend(aliases.map(|alias| (Field::Alias, alias.clone())));
        texts.push((Field::Short, told.short.clone()));
        texts.push((Field::Long, told.description.clone()));
        texts.extend(told.returns.iter().map(|returns| (Field::Long, returns.clone())));
        texts.extend(labels.tags.iter().map(|tag| (Field::Label, tag.clone())));
        texts.extend(labels.categories.iter().map(|path| (Field::Label, path.to_string())));
        texts.extend(origin.server.iter().map(|server| (Field::Label, server.clone())));
        let titles = told.examples.iter().filter_map(|example| example.title.as_ref());
        let examples = told.notes.iter().chain(titles);
        texts.extend(examples.map(|example| (Field::Example, example.clone())));
        // A reference counts where it is defined, not at each of its uses.
        let root = Node::without_references(input.parameters.schema());
        let mut left = MAX_PARAMETERS;
        parameters(&root, 0, &mut left, &mut texts);
        Self {
            exact: exact.into_iter().cloned().collect(),
            texts,
            effect: Some(rules.effect),
            server: origin.server.clone(),
            categories: labels.categories.iter().map(ToString::to_string).collect(),
            actions: actions(&root),
        }
    }
}

/// The values of arguments that select an action.
fn actions(root: &Node<'_>) -> Vec<String> {
    let selectors = root.names().filter(|name| SELECTORS.contains(&name.to_lowercase().as_str()));
    let values = selectors.filter_map(|name| root.property(name)?.values).flatten();
    values.filter_map(Value::as_str).take(MAX_ACTIONS).map(str::to_string).collect()
}

/// Reads the properties of a place, and those below them.
fn parameters(node: &Node<'_>, depth: usize, left: &mut usize, texts: &mut Vec<(Field, String)>) {
    for property in node.properties() {
        if *left == 0 || depth > MAX_DEPTH {
            return;
        }
        *left -= 1;
        texts.push((Field::Parameter, property.name.to_string()));
        let node = property.node();
        texts.extend(node.description.map(|text| (Field::ParameterText, text.to_string())));
        let values = node.values.unwrap_or_default().iter().filter_map(Value::as_str).take(MAX_VALUES);
        texts.extend(values.map(|value| (Field::ParameterText, value.to_string())));
        parameters(&node, depth + 1, left, texts);
    }
    for below in node.items().into_iter().chain(node.variants()) {
        parameters(&below, depth + 1, left, texts);
    }
}
