//! Canonical names, one for each tool: those that several tools share are qualified, and numbered if they are still equal.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;

use super::servers::{ServerNames, is_live};
use crate::audience::{Audience, groups};
use crate::config::Config;
use crate::function_definitions::is_function;
use crate::sources::RawTool;
use toolcrib_definition::finding::{Code, Finding, Severity};
use toolcrib_definition::{clean_line, hidden_characters, slug};

/// Names as one visible line. A tool whose name has nothing visible is called `unnamed`.
pub(crate) fn clean(raw: &mut [RawTool], findings: &mut Vec<Finding>) {
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
pub(crate) fn canonical(
    raw: &[RawTool],
    audiences: &[Audience],
    config: &Config,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let servers = ServerNames::of(config, raw.iter().filter_map(|tool| tool.server.as_deref()));
    let mut names: Vec<String> = raw.iter().map(prefixed).collect();
    for (name, tool) in names.iter_mut().zip(raw).filter(|(_, tool)| is_live(&tool.place)) {
        let own = slug(tool.server.as_deref().unwrap_or(&tool.place.file));
        let owner = match servers.named_by(name) {
            Some(server) if server != own => format!("a tool of `{server}`"),
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

/// The name of a tool behind the name of its server, where its source says so.
fn prefixed(tool: &RawTool) -> String {
    let name = &tool.definition.name;
    match tool.server.as_deref().map(slug) {
        Some(server) if tool.origin.prefix && !server.is_empty() => format!("{server}__{name}"),
        _ => name.clone(),
    }
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
    let finding = finding.help(format!("they are now {}", listed.join(", ")));
    let files: BTreeSet<&str> = group.iter().map(|&index| raw[index].place.file.as_str()).collect();
    // Whoever writes two files chooses the names in both; servers have their own authors.
    let is_own = distinct(&server).is_none() && !group.iter().any(|&index| is_live(&raw[index].place));
    findings.push(if is_own {
        let files = files.iter().take(4).map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" or ");
        let help = format!("rename `{name}` in {files}; until then they are {}", listed.join(", "));
        Finding { severity: Severity::Warning, ..finding }.help(help)
    } else {
        finding
    });
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
