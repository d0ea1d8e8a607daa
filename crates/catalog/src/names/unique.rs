//! Safe names, unique ops, and aliases that lead to one tool, for the tools of each audience as if there were no others.

use std::collections::{HashMap, HashSet};

use crate::audience::{Audience, groups};
use crate::tool::Tool;
use toolcrib_definition::finding::{Code, Finding, Severity};
use toolcrib_definition::safe_names;

/// Safe names, unique ops, and aliases that lead to one tool, for the tools of each audience as if there were no others.
pub(crate) fn assign_unique(tools: &mut [Tool], findings: &mut Vec<Finding>) {
    for members in groups(tools.iter().map(Audience::of_tool)) {
        let names: Vec<&str> = members.iter().map(|&index| tools[index].names.canonical.as_str()).collect();
        for (&index, safe_name) in members.iter().zip(safe_names(&names)) {
            let tool = &mut tools[index];
            let name = &tool.names.canonical;
            if safe_name != *name {
                let message = format!("`{name}` goes by `{safe_name}` in files and at providers");
                let finding = tool.finding(Code::NameUnsafe, message);
                let length = name.chars().count();
                findings.push(if length > MAX_NAME { too_long(finding, length) } else { finding });
            }
            tool.names.safe = safe_name;
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
        members.iter().partition(|&&index| !tools[index].names.is_op_derived);
    let written: HashSet<String> = authored.iter().map(|&index| tools[index].names.op.clone()).collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(members.len());
    for (index, is_authored) in authored.iter().map(|&n| (n, true)).chain(derived.iter().map(|&n| (n, false)))
    {
        let tool = &mut tools[index];
        let wanted = &tool.names.op;
        let mut op = wanted.clone();
        let mut count = 2;
        while (op != *wanted && written.contains(&op)) || !taken.insert(op.clone()) {
            op = format!("{wanted}_{count}");
            count += 1;
        }
        if op != *wanted {
            let message = format!("the op `{wanted}` is taken; `{}` became `{op}`", tool.names.canonical);
            let finding = tool.finding(Code::OpDuplicate, message);
            // Derived ops can be equal by chance; two equal written ops are a mistake.
            let severity = if is_authored { finding.severity } else { Severity::Info };
            findings.push(Finding { severity, ..finding });
        }
        tool.names.op = op;
    }
}

/// Aliases that nothing else of the same audience claims; the first tool that has one keeps it.
fn unique_aliases(tools: &mut [Tool], members: &[usize], findings: &mut Vec<Finding>) {
    let mut holders: HashMap<String, usize> = HashMap::with_capacity(members.len() * 2);
    for &index in members {
        holders.insert(tools[index].names.canonical.clone(), index);
    }
    for &index in members {
        for name in [&tools[index].names.safe, &tools[index].names.op] {
            holders.entry(name.clone()).or_insert(index);
        }
    }
    for &index in members {
        let tool = &mut tools[index];
        let name = &tool.names.canonical;
        let place = &tool.origin.place;
        tool.names.aliases.retain(|alias| match holders.get(alias) {
            None => true,
            Some(&holder) if holder == index => false,
            Some(_) => {
                let message = format!("`{alias}` is another tool's name already");
                findings.push(Finding::new(Code::AliasAmbiguous, message).tool(name).at(place.clone()));
                false
            }
        });
        holders.extend(tool.names.aliases.iter().map(|alias| (alias.clone(), index)));
    }
}
