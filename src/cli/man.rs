//! `toolcrib man`: manual pages.

use std::path::PathBuf;

use super::{CommandResult, failed, help, print_note};

/// Write the manual pages, one for each command, into a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Try it:\n  toolcrib man ~/.local/share/man/man1 && man toolcrib-seed")]
pub(super) struct ManArgs {
    /// The folder, which is made where there is none.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl ManArgs {
    pub(super) fn run(self) -> CommandResult {
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(help::command_line(), &self.folder));
        let shown = self.folder.display();
        written.map_err(|error| failed(format!("cannot write manual pages to {shown}: {error}")))?;
        print_note(format!("manual pages in {shown}"));
        Ok(())
    }
}
