//! `toolcrib init`: a small working catalog to start from.

use std::path::PathBuf;

use super::{CommandResult, failed, print_note};
use crate::embedded::embedded_files;

/// The files of a new catalog.
const STARTER: [(&str, &str); 2] = embedded_files! { "starter": "toolcrib.toml", "tools/notes.yaml" };

/// Make a small working catalog to start from: a toolcrib.toml and two tools.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The folder to make.
    #[arg(default_value = ".")]
    folder: PathBuf,
}

impl InitArgs {
    pub(super) fn run(self) -> CommandResult {
        let names = STARTER.map(|(name, _)| name);
        let is_taken = |name: &&str| self.folder.join(name).symlink_metadata().is_ok();
        let taken: Vec<&str> = names.into_iter().filter(is_taken).collect();
        if !taken.is_empty() {
            let message =
                format!("{} has {} already; nothing was written", self.folder.display(), taken.join(", "));
            return Err(failed(message));
        }
        for (name, content) in STARTER {
            let file = self.folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))
                .and_then(|()| std::fs::write(&file, content))
                .map_err(|error| failed(format!("cannot write {}: {error}", file.display())))?;
        }
        let folder = self.folder.display();
        print_note(format!("{folder}: wrote {}", names.join(", ")));
        print_note(format!("next: toolcrib check {folder}; toolcrib render {folder} --out tools"));
        Ok(())
    }
}
