//! The names that lead to each tool.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::servers::{ServerNames, is_live};
use crate::function_definitions::is_function;
use crate::tool::Tool;

/// Every name that leads to a tool: canonical names, safe names, ops, aliases, the names that clients list, and the names that tools had before they
/// were qualified, which lead to all tools that had them.
pub(crate) fn lookup<T: Borrow<Tool>>(tools: &[T], servers: &ServerNames) -> HashMap<String, Vec<usize>> {
    let tools = || tools.iter().map(Borrow::borrow).enumerate();
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::with_capacity(tools().len() * 2);
    for (index, tool) in tools() {
        by_name.insert(tool.names.canonical.clone(), vec![index]);
    }
    for (index, tool) in tools() {
        let names = [&tool.names.safe, &tool.names.op].into_iter().chain(&tool.names.aliases);
        for name in names.filter(|name| servers.leads_to(name, tool)) {
            by_name.entry(name.clone()).or_insert_with(|| vec![index]);
        }
    }
    for (index, tool) in tools().filter(|(_, tool)| servers.leads_to(&tool.listed_name(), tool)) {
        by_name.entry(tool.listed_name().into_owned()).or_insert_with(|| vec![index]);
    }
    let mut former: HashMap<&str, Vec<usize>> = HashMap::new();
    // A name that was taken away from the tool of a live server leads nowhere.
    let is_qualified = |tool: &Tool| {
        let name = &tool.names.written;
        let is_taken_away = is_live(&tool.origin.place) && is_function(name) || !servers.leads_to(name, tool);
        *name != tool.names.canonical && !is_taken_away
    };
    for (index, tool) in tools().filter(|(_, tool)| is_qualified(tool)) {
        former.entry(&tool.names.written).or_default().push(index);
    }
    for (name, tools) in former {
        by_name.entry(name.to_string()).or_insert(tools);
    }
    by_name
}
