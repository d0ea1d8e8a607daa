//! Tools that no call has used, and their price.

use std::collections::HashMap;

use serde::Serialize;

use crate::catalog::Profile;
use crate::report::grouped;
use crate::tool::clean_line;

/// Most tools that one line names.
const SHOWN: usize = 12;

/// The price of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct Price {
    pub name: String,
    /// Tokens of its definition, bound in full.
    pub tokens: usize,
}

/// The tools of a profile that were not called, the largest first.
pub(super) fn never_called(
    profile: &Profile<'_>,
    definitions: &HashMap<String, usize>,
    is_called: impl Fn(&str) -> bool,
) -> Vec<Price> {
    let names = profile.tools.iter().map(|entry| &entry.tool.name).filter(|name| !is_called(name));
    let price = |name: &String| Price {
        name: name.clone(),
        tokens: definitions.get(name).copied().unwrap_or_default(),
    };
    let mut prices: Vec<Price> = names.map(price).collect();
    prices.sort_by(|a, b| (b.tokens, &a.name).cmp(&(a.tokens, &b.name)));
    prices
}

/// These tools in one line, for people.
pub(super) fn line(prices: &[Price]) -> String {
    let all: usize = prices.iter().map(|tool| tool.tokens).sum();
    let named = prices.iter().map(|tool| format!("{} ({})", clean_line(&tool.name), grouped(tool.tokens)));
    match prices.len() {
        0 => String::new(),
        count => format!(
            "\nnever called: {} tools, {} tokens in each request where they are bound in full: {}\n",
            grouped(count),
            grouped(all),
            listed(named)
        ),
    }
}

/// The first of some texts, and the number of others.
pub(super) fn listed(texts: impl ExactSizeIterator<Item = String>) -> String {
    let more = texts.len().saturating_sub(SHOWN);
    let shown = texts.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown}, and {} more", grouped(more)) } else { shown }
}
