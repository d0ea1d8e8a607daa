//! What an adoption prints.

use std::collections::BTreeSet;

use serde_json::json;

use super::moved::allowed_lines;
use super::plan::{Plan, reasons};
use super::record::Folder;
use super::servers::LeftServer;
use super::target::{Target, undo_command};
use crate::cli::error::CommandResult;
use crate::cli::io::Io;
use toolcrib_catalog::config::Difference;
use toolcrib_definition::clean_line;
use toolcrib_definition::grammar::counted;

/// Prints that the servers of a client have moved earlier.
pub(super) fn report_nothing(io: &Io, target: &Target, is_json: bool) -> CommandResult {
    let folder = target.folder.catalog().display();
    if is_json {
        let report = json!({"client": target.called, "file": target.file, "folder": target.folder.catalog(), "moved": []});
        return io.print(&format!("{report:#}\n"));
    }
    io.note(format!("{}: its servers are behind toolcrib already, in {folder}", target.title));
    Ok(())
}

/// Prints the changes of an adoption.
pub(super) fn report(io: &Io, target: &Target, plan: &Plan, is_dry: bool, is_json: bool) -> CommandResult {
    let Target { folder, file, .. } = target;
    let said = |(server, difference): &(String, Difference)| {
        clean_line(&format!("the server `{server}`: {difference}"))
    };
    if is_json {
        let reason = |left: &LeftServer| json!({"server": left.name, "reason": left.reason.to_string()});
        let left: Vec<_> = plan.left.iter().map(reason).collect();
        let report = json!({
            "client": target.called, "file": file, "folder": folder.catalog(), "configuration": folder.configuration(),
            "moved": plan.moved, "left": left, "differences": plan.differences.iter().map(said).collect::<Vec<_>>(), "secrets": plan.secrets.names().collect::<Vec<_>>(),
            "backup": folder.backup(), "dry_run": is_dry, "mode": plan.mode(), "request": plan.cost.tools,
            "allowed": allowed_lines().collect::<Vec<_>>().join("\n"),
        });
        return io.print(&format!("{report:#}\n"));
    }
    let verb = if is_dry { "would move" } else { "moved" };
    let mut lines = vec![plan.cost.line()];
    if !plan.moved.is_empty() {
        lines.push(format!(
            "{}: {verb} {} from {} to {}: {}",
            target.title,
            counted(plan.moved.len(), "server"),
            file.display(),
            folder.configuration().display(),
            plan.moved.iter().map(|name| clean_line(name)).collect::<Vec<_>>().join(", ")
        ));
    }
    if !plan.left.is_empty() {
        lines.push(format!("left in the client's file: {}", reasons(&plan.left)));
    }
    lines.extend(
        plan.differences.iter().map(|difference| format!("otherwise than before: {}", said(difference))),
    );
    let variables: BTreeSet<&str> = plan
        .differences
        .iter()
        .filter_map(|(_, difference)| match difference {
            Difference::Input { variable, .. } if !plan.secrets.names().any(|name| name == variable) => {
                Some(variable.as_str())
            }
            _ => None,
        })
        .collect();
    if !variables.is_empty() {
        let names = variables.into_iter().collect::<Vec<_>>().join(", ");
        lines.push(format!("to set, as NAME=value in {}: {names}", folder.secrets().display()));
    }
    if !plan.secrets.is_empty() {
        let names: Vec<&str> = plan.secrets.names().collect();
        lines.push(format!("secrets, in {}: {}", folder.secrets().display(), names.join(", ")));
    }
    lines.push(format!("the client's file as it was: {}", folder.backup().display()));
    lines.extend(plan.mode().map(|mode| {
        let until = if mode == "auto" { "each start decides" } else { "it stays" };
        format!("[serve] mode = \"{mode}\", in {}; {until}", folder.configuration().display())
    }));
    lines.extend(target.project.is_some().then(|| for_team(folder)));
    lines.extend(allowed_lines().map(str::to_string));
    io.print(&(lines.join("\n") + "\n"))?;
    if is_dry {
        let started = counted(plan.cost.asked, "server");
        io.note(format!(
            "nothing was changed; {started} started, to count the tools; run it without --dry-run"
        ))
    } else {
        io.note(format!(
            "next: `toolcrib doctor {}` starts each server and says what is wrong; restart {}; `{}` moves everything back",
            if target.is_of_project { folder.catalog().to_string_lossy() } else { target.called.as_str().into() },
            if target.is_of_project { "the client" } else { &target.title },
            undo_command(target)
        ))
    }
    Ok(())
}

/// What a team has to commit, and to have.
fn for_team(folder: &Folder) -> String {
    format!(
        "for your team, to commit: the client's file, {} and the .gitignore in {}; all need `toolcrib` in their PATH",
        folder.configuration().display(),
        folder.path.display()
    )
}
