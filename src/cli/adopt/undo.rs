//! The way back: restores the client's file, or puts its servers back into a file that was edited since.

use std::path::Path;

use serde_json::json;

use super::client_text::{ClientText, OWN};
use super::file::{ATTEMPTS, being_edited, read, write_file};
use super::record::{Folder, Record, hash};
use super::target::Target;
use crate::cli::error::{CommandError, CommandResult, failed};
use crate::cli::io::Io;
use toolcrib_definition::grammar::counted;

/// Undoes an adoption.
pub(super) fn undo(io: &Io, target: &Target, is_dry: bool, is_json: bool) -> CommandResult {
    let Target { folder, file, .. } = target;
    let Some(record) = folder.record() else {
        return Err(failed(format!("{} is not adopted; there is nothing to undo", target.title)));
    };
    if record.file != *file {
        return Err(failed(format!(
            "{} is not adopted; {} is, and `toolcrib adopt {} --undo` moves its servers back",
            file.display(),
            record.file.display(),
            target.called
        )));
    }
    let mut is_kept = false;
    if is_dry {
        before(folder, file, &record, &read(file)?)?;
    } else {
        if let Some(around) = file.parent() {
            std::fs::create_dir_all(around).map_err(failed)?;
        }
        let put_back = || {
            let now = read(file)?;
            write_file(file, &before(folder, file, &record, &now)?, &now)
        };
        let tried = (0..ATTEMPTS).map(|_| put_back()).find(|written| !matches!(written, Ok(false)));
        tried.unwrap_or_else(|| Err(being_edited(file)))?;
        is_kept = folder
            .clear(&record)
            .map_err(|error| failed(format!("cannot remove {}: {error}", folder.path.display())))?;
    }
    if is_json {
        let report = json!({
            "client": target.called, "file": file, "restored": record.moved, "dry_run": is_dry,
            "kept": is_kept.then(|| folder.configuration()),
        });
        return io.print(&format!("{report:#}\n"));
    }
    let verb = if is_dry { "would put back" } else { "put back" };
    io.print(&format!(
        "{}: {verb} {} into {}: {}\n",
        target.title,
        counted(record.moved.len(), "server"),
        file.display(),
        record.moved.join(", ")
    ))?;
    if is_kept {
        io.note(format!(
            "{} was edited or has servers that were not put back: it is kept, with its secrets in {}",
            folder.configuration().display(),
            folder.secrets().display()
        ));
    }
    if !is_dry && folder.state().exists() {
        io.note(format!("the record of calls is kept: {}", folder.state().display()));
    }
    Ok(())
}

/// The text of the client's file without the adoption.
fn before(folder: &Folder, file: &Path, record: &Record, now: &str) -> Result<String, CommandError> {
    let backup = folder.backup();
    let before = std::fs::read_to_string(&backup);
    let text = ClientText::new(file, now.to_string(), &record.map);
    // A killed run may have put the servers back already.
    let is_back = |name: &String| {
        let older = before.as_ref().map(|before| text.with_text(before.clone()).entry(name));
        text.entry(name).is_some_and(|entry| older.map_or(true, |older| older.as_ref() == Some(&entry)))
    };
    if text.entry(OWN).is_none() && record.moved.iter().all(is_back) {
        return Ok(now.to_string());
    }
    let before = before.map_err(|error| failed(format!("{} cannot be read: {error}", backup.display())))?;
    if now.is_empty() || now == before || hash(now) == record.written {
        return Ok(before);
    }
    restored(&text, folder, &record.moved)
}

/// The text with the moved servers in place of toolcrib, or after the others; everything else is unchanged.
pub(super) fn restored(now: &ClientText, folder: &Folder, moved: &[String]) -> Result<String, CommandError> {
    let backup = folder.backup();
    let fail = |problem: &str| {
        failed(format!("{problem}; both versions are kept, the older one in {}", backup.display()))
    };
    let older = now.with_text(std::fs::read_to_string(&backup).map_err(failed)?);
    let names = now.names().ok_or_else(|| fail("the client's file cannot be read"))?;
    if let Some(name) = moved.iter().find(|name| names.contains(name)) {
        return Err(fail(&format!("the client's file has a server `{name}` again")));
    }
    now.without_own(&older, moved).ok_or_else(|| fail("the servers cannot be put back"))
}
