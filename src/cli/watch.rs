//! `--watch`: runs a command again when its catalog changes, until a signal ends it.

use std::path::PathBuf;

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult};
use super::findings::report_lost;
use super::io::Io;
use super::runtime::runtime;
use super::signals::{StopRequests, end_now};
use toolcrib_catalog::Checked;
use toolcrib_front::watch::{Change, Follow, Options, Stop};

/// The work of a command on each catalog.
pub(super) trait Rerun {
    /// Files and folders whose changes count, beside those of the catalog.
    fn also(&self) -> Vec<PathBuf>;
    /// Whether a result of an earlier catalog exists, which a worse one must not replace.
    fn has_result(&self) -> bool;
    /// Does the work, and prints in one line the outcome and the reason.
    fn rerun(&self, io: &Io, checked: &Checked, why: &str) -> CommandResult;
}

/// Runs a command now and after each change. A change that breaks the catalog is reported, and the last result stays.
pub(super) fn watch(io: &Io, catalog: &CatalogArgs, command: &impl Rerun) -> CommandResult {
    let also = command.also();
    let connections = catalog.connections(io);
    let reading = catalog.reading(io);
    let addresses = catalog.addresses.clone();
    let options = Options { also, addresses, connections, reading, ..Options::default() };
    let follow = Follow::start(catalog.path()?, options);
    stop_on_signal(io, follow.stopper())?;
    for (index, change) in follow.enumerate() {
        change.notices.iter().for_each(|note| io.note(note));
        if index == 0 {
            catalog.report_briefly(io, &change.checked);
        } else {
            report_lost(io, &change.checked);
        }
        let why = why(&change);
        if change.is_worse && command.has_result() {
            io.note(format!("kept all as it is until the catalog can be read again{why}"));
            continue;
        }
        match command.rerun(io, &change.checked, &why) {
            Err(CommandError::Usage(message)) if index == 0 => return Err(CommandError::Usage(message)),
            Err(CommandError::Usage(message) | CommandError::Findings(Some(message))) => io.error(&message),
            Err(CommandError::Findings(None)) | Ok(()) => {}
        }
        if index == 0 {
            io.note("watching for changes; Ctrl-C ends it");
        }
    }
    Ok(())
}

/// The files that changed, as the end of a sentence.
fn why(change: &Change) -> String {
    match change.files.as_slice() {
        [] => String::new(),
        [file] => format!("; {file} changed"),
        [first, second] => format!("; {first} and {second} changed"),
        [first, rest @ ..] => format!("; {first} and {} others changed", rest.len()),
    }
}

/// The first signal ends the watch after the current write, the second at once.
fn stop_on_signal(io: &Io, stop: Stop) -> CommandResult {
    let runtime = runtime()?;
    let requests = runtime.block_on(async { StopRequests::listen(io) });
    std::thread::spawn(move || {
        runtime.block_on(requests.reach(1));
        stop.stop();
        runtime.block_on(requests.reach(2));
        end_now();
    });
    Ok(())
}
