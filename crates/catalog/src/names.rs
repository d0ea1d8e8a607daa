//! Names between tools: canonical names, safe names, ops and aliases.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use unicode_normalization::UnicodeNormalization;

use super::audience::{Audience, groups};
use super::build::function_names;
use super::{LEFT_OVER, Tool};
use crate::config::Config;
use crate::sources::{LIVE, RawTool};
use toolcrib_definition::finding::{Code, Finding, Place, Severity};
use toolcrib_definition::grammar::{WordClass, singular};
use toolcrib_definition::{Definition, clean_line, hidden_characters, safe_names, slug, words};

/// Names as one visible line. A tool whose name has nothing visible is called `unnamed`.
pub(super) fn clean(raw: &mut [RawTool], findings: &mut Vec<Finding>) {
    for tool in raw.iter_mut() {
        let written = &tool.definition.name;
        let name =
            Some(clean_line(written)).filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".into());
        if !hidden_characters(written).is_empty() {
            let message = format!("hidden characters were removed from the name of `{name}`");
            findings.push(Finding::new(Code::NameCleaned, message).tool(&name).at(tool.place.clone()));
        }
        tool.definition.name = name;
    }
}

/// Canonical names, one for each tool. Tools of a source with `prefix` begin with their server, and so do tools of a live server
/// that would take the name of a function, or one that looks like a tool of another server: calls meant for those would reach it. A name that several tools of one audience share is qualified, for each of
/// them, by its server, else by its file, so that the result does not depend on their order; names that are still
/// equal are numbered.
pub(super) fn canonical(
    raw: &[RawTool],
    audiences: &[Audience],
    config: &Config,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let configured = config.sources.iter().filter_map(|source| source.server.as_deref());
    let servers: HashSet<String> =
        configured.chain(raw.iter().filter_map(|tool| tool.server.as_deref())).map(slug).collect();
    let mut names: Vec<String> = raw.iter().map(prefixed).collect();
    for (name, tool) in names.iter_mut().zip(raw).filter(|(_, tool)| is_live(&tool.place)) {
        let own = slug(tool.server.as_deref().unwrap_or(&tool.place.file));
        let owner = match name.split_once("__") {
            Some((server, _)) if servers.contains(server) && server != own => format!("a tool of `{server}`"),
            _ if is_function(name) => "a function of toolcrib".into(),
            _ => continue,
        };
        let message = format!("`{name}` is the name of {owner}; the tool became `{own}__{name}`");
        *name = format!("{own}__{name}");
        findings.push(Finding::new(Code::NameQualified, message).tool(&*name).at(tool.place.clone()));
    }
    let written = names.clone();
    for members in groups(audiences.iter().cloned()) {
        let mut same: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for &index in &members {
            same.entry(&written[index]).or_default().push(index);
        }
        for (name, group) in same.iter().filter(|(_, group)| group.len() > 1) {
            qualify(name, group, raw, &mut names, findings);
        }
        number(&mut names, &members, raw, findings);
    }
    names
}

fn is_live(place: &Place) -> bool {
    place.file.starts_with(LIVE)
}

/// Whether a function goes by this name, or by the safe name that is made of it.
fn is_function(name: &str) -> bool {
    safe_names(&[name]).iter().any(|safe| function_names().any(|function| function == safe))
}

/// The name of a tool behind the name of its server, where its source says so.
fn prefixed(tool: &RawTool) -> String {
    let name = &tool.definition.name;
    let server = tool.server.as_deref().filter(|_| tool.origin.prefix).map(slug);
    server
        .filter(|server| !server.is_empty())
        .map_or_else(|| name.clone(), |server| format!("{server}__{name}"))
}

fn qualify(name: &str, group: &[usize], raw: &[RawTool], names: &mut [String], findings: &mut Vec<Finding>) {
    let distinct = |of: &dyn Fn(&RawTool) -> Option<String>| {
        let keys: Vec<Option<String>> = group.iter().map(|&index| of(&raw[index])).collect();
        let several = keys.iter().flatten().collect::<HashSet<_>>().len() > 1;
        several.then_some(keys)
    };
    let server = |tool: &RawTool| tool.server.as_deref().map(slug).filter(|slug| !slug.is_empty());
    let stem = |tool: &RawTool| {
        let file = tool.place.file.rsplit('/').next().unwrap_or_default();
        Some(slug(file.split('.').next().unwrap_or_default())).filter(|slug| !slug.is_empty())
    };
    let Some(keys) = distinct(&server).or_else(|| distinct(&stem)) else { return };
    for (&index, key) in group.iter().zip(keys) {
        if let Some(key) = key {
            names[index] = format!("{key}__{name}");
        }
    }
    let message =
        format!("{} tools are called `{name}`; each is qualified by where it comes from", group.len());
    let listed: Vec<String> = group.iter().take(4).map(|&index| format!("`{}`", names[index])).collect();
    let finding =
        Finding::new(Code::NameQualified, message).tool(&names[group[0]]).at(raw[group[0]].place.clone());
    findings.push(finding.help(format!("they are now {}", listed.join(", "))));
}

/// Numbers the second and later tools of a name. A name as it was written comes before one that was made by
/// qualifying.
fn number(names: &mut [String], members: &[usize], raw: &[RawTool], findings: &mut Vec<Finding>) {
    let mut taken: HashSet<String> = members.iter().map(|&index| names[index].clone()).collect();
    let mut seen: HashSet<String> = HashSet::with_capacity(members.len());
    let mut next: HashMap<String, usize> = HashMap::new();
    let (written, made): (Vec<usize>, Vec<usize>) =
        members.iter().partition(|&&index| names[index] == raw[index].definition.name);
    for index in written.into_iter().chain(made) {
        if seen.insert(names[index].clone()) {
            continue;
        }
        let name = names[index].clone();
        let count = next.entry(name.clone()).or_insert(2);
        while !taken.insert(format!("{name}_{count}")) {
            *count += 1;
        }
        names[index] = format!("{name}_{count}");
        seen.insert(names[index].clone());
        let message = format!("there is a tool `{name}` already; this one became `{}`", names[index]);
        let finding =
            Finding::new(Code::NameDuplicate, message).tool(&names[index]).at(raw[index].place.clone());
        findings.push(finding.help("rename one of them, or give their sources different `server` names"));
    }
}

/// Safe names, unique ops, and aliases that lead to one tool, for the tools of each audience as if there were no others.
pub(super) fn assign_unique(tools: &mut [Tool], findings: &mut Vec<Finding>) {
    for members in groups(tools.iter().map(|tool| Audience::of(&tool.definition))) {
        let names: Vec<&str> = members.iter().map(|&index| tools[index].name.as_str()).collect();
        for (&index, safe_name) in members.iter().zip(safe_names(&names)) {
            let tool = &mut tools[index];
            tool.safe_name = safe_name;
            if tool.safe_name != tool.name {
                let message =
                    format!("`{}` goes by `{}` in files and at providers", tool.name, tool.safe_name);
                let finding = tool.finding(Code::NameUnsafe, message);
                let length = tool.name.chars().count();
                findings.push(if length > MAX_NAME { too_long(finding, length) } else { finding });
            }
        }
        unique_ops(tools, &members, findings);
        unique_aliases(tools, &members, findings);
    }
}

/// Most characters of a name that every provider takes.
const MAX_NAME: usize = 64;

/// A finding about a name that models see cut, with a hash in place of its end.
fn too_long(finding: Finding, length: usize) -> Finding {
    let message =
        format!("a name of {length} characters, and providers take {MAX_NAME}: {}", finding.message);
    let finding = Finding { severity: Severity::Warning, message, ..finding };
    finding.help("shorten it, or give the tool a shorter name at its source")
}

/// Ops that an author wrote are assigned before derived ones, and no number takes one of them away.
fn unique_ops(tools: &mut [Tool], members: &[usize], findings: &mut Vec<Finding>) {
    let (authored, derived): (Vec<usize>, Vec<usize>) =
        members.iter().partition(|&&index| tools[index].definition.op.as_ref() == Some(&tools[index].op));
    let written: HashSet<String> = authored.iter().map(|&index| tools[index].op.clone()).collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(members.len());
    for (index, is_authored) in authored.iter().map(|&n| (n, true)).chain(derived.iter().map(|&n| (n, false)))
    {
        let tool = &mut tools[index];
        let wanted = tool.op.clone();
        let mut count = 2;
        while (tool.op != wanted && written.contains(&tool.op)) || !taken.insert(tool.op.clone()) {
            tool.op = format!("{wanted}_{count}");
            count += 1;
        }
        if tool.op != wanted {
            let message = format!("the op `{wanted}` is taken; `{}` became `{}`", tool.name, tool.op);
            let finding = tool.finding(Code::OpDuplicate, message);
            // Derived ops can be equal by chance; two equal written ops are a mistake.
            let severity = if is_authored { finding.severity } else { Severity::Info };
            findings.push(Finding { severity, ..finding });
        }
    }
}

/// Aliases that nothing else of the same audience claims; the first tool that has one keeps it.
fn unique_aliases(tools: &mut [Tool], members: &[usize], findings: &mut Vec<Finding>) {
    let mut holders: HashMap<String, usize> = HashMap::with_capacity(members.len() * 2);
    for &index in members {
        holders.insert(tools[index].name.clone(), index);
    }
    for &index in members {
        for name in [&tools[index].safe_name, &tools[index].op] {
            holders.entry(name.clone()).or_insert(index);
        }
    }
    for &index in members {
        let tool = &mut tools[index];
        let name = &tool.name;
        let place = &tool.place;
        tool.aliases.retain(|alias| match holders.get(alias) {
            None => true,
            Some(&holder) if holder == index => false,
            Some(_) => {
                let message = format!("`{alias}` is another tool's name already");
                findings.push(Finding::new(Code::AliasAmbiguous, message).tool(name).at(place.clone()));
                false
            }
        });
        holders.extend(tool.aliases.iter().map(|alias| (alias.clone(), index)));
    }
}

/// Every name that leads to a tool: canonical names, safe names, ops, aliases, and the names that tools had before they
/// were qualified, which lead to all tools that had them.
pub(super) fn lookup<T: Borrow<Tool>>(tools: &[T]) -> HashMap<String, Vec<usize>> {
    let tools = || tools.iter().map(Borrow::borrow).enumerate();
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::with_capacity(tools().len() * 2);
    for (index, tool) in tools() {
        by_name.insert(tool.name.clone(), vec![index]);
    }
    for (index, tool) in tools() {
        for name in [&tool.safe_name, &tool.op].into_iter().chain(&tool.aliases) {
            by_name.entry(name.clone()).or_insert_with(|| vec![index]);
        }
    }
    let mut former: HashMap<&str, Vec<usize>> = HashMap::new();
    // A name that was taken away from the tool of a live server leads nowhere.
    let is_qualified = |tool: &Tool| {
        let name = &tool.definition.name;
        *name != tool.name && !(is_live(&tool.place) && (name.contains("__") || is_function(name)))
    };
    for (index, tool) in tools().filter(|(_, tool)| is_qualified(tool)) {
        former.entry(&tool.definition.name).or_default().push(index);
    }
    for (name, tools) in former {
        by_name.entry(name.to_string()).or_insert(tools);
    }
    by_name
}

// Ops: the stable dotted names of the gateway.

/// The op that an author or an overlay wrote, if it is one.
pub(super) fn written_op(tool: &Definition, report: &mut impl FnMut(Finding)) -> Option<String> {
    let written = tool.op.as_ref()?;
    if !is_op(written) {
        report(Finding::new(Code::OpInvalid, format!("`{written}` is no op")));
        return None;
    }
    Some(written.clone())
}

/// The op of a tool without a written one: its server or first category, then its name without the words that these
/// have already. In a derived category, the verb comes last: `issues.comments.get`.
pub(super) fn derived_op(tool: &Tool, is_category_derived: bool) -> String {
    let groups = op_groups(tool, is_category_derived);
    let own =
        if tool.name.is_ascii() { words(&tool.name) } else { words(&tool.name.nfc().collect::<String>()) };
    let action = if is_category_derived { action(&groups, &own) } else { undoubled(&groups, &own) };
    format!("{}.{}", groups.join("."), if action.is_empty() { "x".into() } else { action })
}

/// The op of a tool whose shorter one another tool has too: its groups and its whole name.
pub(super) fn op_with_whole_name(tool: &Tool, is_category_derived: bool) -> String {
    format!("{}.{}", op_groups(tool, is_category_derived).join("."), segment(&tool.name))
}

fn op_groups(tool: &Tool, is_category_derived: bool) -> Vec<String> {
    let categories = tool.categories.first().map(|path| path.segments().map(segment).collect::<Vec<_>>());
    let mut categories = categories.unwrap_or_default();
    if tool.root_category() == LEFT_OVER {
        // Letters only sort the tools that are left over.
        categories.truncate(1);
    }
    let server =
        tool.server.as_deref().map(|server| segment(bare(server))).filter(|server| !server.is_empty());
    match (server, is_category_derived) {
        (Some(server), true) => {
            let below = categories.into_iter().filter(|category| *category != server);
            std::iter::once(server.clone()).chain(below).collect()
        }
        (Some(server), false) => vec![server],
        (None, _) if categories.is_empty() => vec!["tools".to_string()],
        (None, _) => categories,
    }
}

/// A title of an API without the words that each such title has: `Netlify's API documentation` is `Netlify`.
pub(crate) fn bare(title: &str) -> &str {
    const FILLERS: [&str; 5] = ["api", "apis", "documentation", "reference", "rest"];
    let shorter = |text: &str| {
        let (word_start, _) = text.char_indices().rev().take_while(|(_, c)| c.is_alphanumeric()).last()?;
        let (rest, word) = text.split_at(word_start);
        // `PetsApi`: the last word begins with a capital.
        let camel = word.char_indices().rev().find(|(_, c)| c.is_uppercase()).filter(|(at, _)| *at > 0);
        let is_filler = |word: &str| FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word));
        let end = match camel.map(|(at, _)| word.split_at(at)).filter(|(_, last)| is_filler(last)) {
            _ if is_filler(word) => rest.len(),
            Some((before, _)) => rest.len() + before.len(),
            None => return None,
        };
        let rest = text[..end].trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | ']'));
        (!rest.is_empty()).then_some(end.min(rest.len()))
    };
    let mut text = title.trim();
    while let Some(end) = shorter(text) {
        text = &text[..end];
    }
    let owned = ["'s", "’s"].iter().find_map(|end| text.strip_suffix(end));
    owned.filter(|owned| !owned.is_empty() && text.len() < title.len()).unwrap_or(text)
}

/// Most words at the beginning of a name that are looked for in its groups.
const MAX_DOUBLED: usize = 8;

/// The words of a name without those at its beginning that the groups have. A verb stays: `research_topic` of the group
/// `research` is no `topic`.
fn undoubled(groups: &[String], name: &[String]) -> String {
    if name.first().is_some_and(|word| is_leading_verb(word)) {
        return name.join("_");
    }
    let said: Vec<&str> = groups.iter().flat_map(|group| group.split('_')).collect();
    let doubled = (1..name.len().min(MAX_DOUBLED + 1)).rev().find(|&count| {
        let beginning = name[..count].iter().map(String::as_str);
        (0..said.len()).any(|start| {
            said[start..].len() >= count && beginning.clone().eq(said[start..start + count].iter().copied())
        })
    });
    name[doubled.unwrap_or(0)..].join("_")
}

/// The words of a name that its groups do not have, a leading verb last.
fn action(groups: &[String], name: &[String]) -> String {
    let said: HashSet<String> = groups.iter().flat_map(|group| group.split('_')).map(singular).collect();
    let rest: Vec<&str> =
        name.iter().filter(|word| !said.contains(&singular(word))).map(String::as_str).collect();
    let is_phrase = |word: &&str| {
        matches!(WordClass::of(word), WordClass::Noun | WordClass::VerbOrNoun | WordClass::Empty)
    };
    let has_verb = |verb: &str, nouns: &[&str]| {
        !nouns.is_empty() && is_leading_verb(verb) && nouns.iter().all(is_phrase)
    };
    match rest[..] {
        [] => name.join("_"),
        [verb, ref nouns @ ..] if has_verb(verb, nouns) => format!("{}.{verb}", nouns.join("_")),
        [ref nouns @ .., verb] if has_verb(verb, nouns) => format!("{}.{verb}", nouns.join("_")),
        _ => rest.join("_"),
    }
}

fn is_leading_verb(word: &str) -> bool {
    matches!(WordClass::of(word), WordClass::Verb | WordClass::VerbOrNoun)
}

/// At least two segments of lower-case letters (of any script), digits, `_` and `-`.
fn is_op(op: &str) -> bool {
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|c| (c.is_alphanumeric() && !c.is_uppercase()) || c == '_' || c == '-')
    };
    op.contains('.') && op.split('.').all(segment) && op.len() <= 128
}

fn segment(text: &str) -> String {
    let slug = slug(text);
    if slug.is_empty() { "x".into() } else { slug }
}

/// The parts of an op: group, entity and action. `onto.search` has no entity.
pub(super) fn op_parts(op: &str) -> (&str, Option<&str>, &str) {
    let segments: Vec<&str> = op.split('.').collect();
    match segments.as_slice() {
        [group, entity, .., action] => (group, Some(entity), action),
        [group, action] => (group, None, action),
        _ => (op, None, op),
    }
}

#[cfg(test)]
#[path = "tests/names.rs"]
mod tests;
