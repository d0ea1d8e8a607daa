//! The way back: the client's file as it was, or its servers put back into a file that was edited since.

use std::fs;

use serde_json::json;

use super::Target;
use super::client_text::ClientText;
use super::moved::{Folder, Record, hash};
use crate::cli::catalog::counted;
use crate::cli::{CommandResult, failed, print, print_note};
use crate::render::folder::write_whole;

/// Undoes an adoption.
pub(super) fn run(target: &Target, is_dry: bool, is_json: bool) -> CommandResult {
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
    let text = before(folder, file, &record).map_err(failed)?;
    let mut is_kept = false;
    if !is_dry {
        write_whole(file, text.as_bytes())
            .map_err(|error| failed(format!("cannot write {}: {error}", file.display())))?;
        is_kept = folder
            .clear(&record)
            .map_err(|error| failed(format!("cannot remove {}: {error}", folder.path.display())))?;
    }
    if is_json {
        let report = json!({
            "client": target.called, "file": file, "restored": record.moved, "dry_run": is_dry,
            "kept": is_kept.then(|| folder.configuration()),
        });
        return print(&format!("{report:#}\n"));
    }
    let verb = if is_dry { "would put back" } else { "put back" };
    print(&format!(
        "{}: {verb} {} into {}: {}\n",
        target.title,
        counted(record.moved.len(), "server"),
        file.display(),
        record.moved.join(", ")
    ))?;
    if is_kept {
        print_note(format!(
            "{} was edited or has servers that were not put back: it is kept, with its secrets in {}",
            folder.configuration().display(),
            folder.secrets().display()
        ));
    }
    Ok(())
}

/// The text of the client's file without the adoption.
fn before(folder: &Folder, file: &std::path::Path, record: &Record) -> Result<String, String> {
    let backup = fs::read_to_string(folder.backup())
        .map_err(|error| format!("{} cannot be read: {error}", folder.backup().display()))?;
    match fs::read_to_string(file) {
        Ok(now) if now != backup && hash(&now) != record.written => {
            restored(&ClientText::new(file, now, &record.map), folder, &record.moved)
        }
        Ok(_) => Ok(backup),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(backup),
        Err(error) => Err(format!("{} cannot be read: {error}", file.display())),
    }
}

/// A text with the servers that have moved in place of toolcrib, or after the others, and everything else as it is.
pub(super) fn restored(now: &ClientText, folder: &Folder, moved: &[String]) -> Result<String, String> {
    let both = || format!("both versions are kept, the older one in {}", folder.backup().display());
    let older = fs::read_to_string(folder.backup()).map_err(|error| error.to_string())?;
    let older = now.with_text(older);
    let names = now.names().ok_or_else(|| format!("the client's file cannot be read; {}", both()))?;
    if let Some(name) = moved.iter().find(|name| names.contains(name)) {
        return Err(format!("the client's file has a server `{name}` again; {}", both()));
    }
    now.without_own(&older, moved).ok_or_else(|| format!("the servers cannot be put back; {}", both()))
}
