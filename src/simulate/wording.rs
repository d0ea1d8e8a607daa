//! The words in which the agent searches. It has an action and an object in mind, in words of its own: a verb that
//! means the same as the tool's, and the nouns of its name.

use crate::catalog::Tool;
use crate::tool::words;

/// Verbs of names, and what a person says for each.
const VERBS: [(&str, &str); 30] = [
    ("add", "put in"),
    ("book", "reserve"),
    ("calculate", "work out"),
    ("cancel", "call off"),
    ("check", "look whether"),
    ("close", "end"),
    ("create", "make"),
    ("delete", "get rid of"),
    ("edit", "change"),
    ("exchange", "swap"),
    ("fetch", "look up"),
    ("find", "look for"),
    ("get", "look up"),
    ("insert", "put in"),
    ("list", "show all"),
    ("merge", "combine"),
    ("modify", "change"),
    ("move", "put elsewhere"),
    ("open", "start"),
    ("post", "publish"),
    ("read", "look at"),
    ("remove", "take out"),
    ("return", "give back"),
    ("run", "start"),
    ("search", "look for"),
    ("send", "write to"),
    ("set", "change"),
    ("transfer", "hand over"),
    ("update", "change"),
    ("write", "put text into"),
];
/// Words of names that a person leaves out.
const LEFT_OUT: &str = "a an api by for from in of on the to tool via with";
/// Most words of a description in a second search.
const WORDS: usize = 10;

/// The words of a first search.
pub(super) fn first(tool: &Tool) -> String {
    let own = tool.name.rsplit(['.', '/', ':']).next().unwrap_or(&tool.name);
    let said =
        words(own.rsplit("__").next().unwrap_or(own)).into_iter().enumerate().filter_map(|(at, word)| {
            let verb =
                VERBS.iter().find(|(verb, _)| at == 0 && *verb == word).map(|(_, said)| said.to_string());
            verb.or_else(|| (!LEFT_OUT.split(' ').any(|left_out| left_out == word)).then_some(word))
        });
    said.collect::<Vec<_>>().join(" ")
}

/// The words of a second search: more of what the tool is for.
pub(super) fn second(tool: &Tool) -> String {
    let said =
        words(&tool.short).into_iter().filter(|word| !LEFT_OUT.split(' ').any(|left_out| left_out == word));
    said.take(WORDS).collect::<Vec<_>>().join(" ")
}
