//! `toolcrib init`: a small working catalog to start from.

use std::path::PathBuf;

use anyhow::Context;
use rust_embed::RustEmbed;

use super::{CommandError, CommandResult, print_note};

#[derive(RustEmbed)]
#[folder = "starter/"]
struct Starter;

/// Make a small working catalog to start from: a toolcrib.toml and two tools.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The folder to make.
    #[arg(default_value = ".")]
    folder: PathBuf,
}

impl InitArgs {
    pub(super) fn run(self) -> CommandResult {
        let mut names: Vec<_> = Starter::iter().collect();
        names.sort_unstable();
        let taken: Vec<&str> = names
            .iter()
            .filter(|name| self.folder.join(name.as_ref()).symlink_metadata().is_ok())
            .map(AsRef::as_ref)
            .collect();
        if !taken.is_empty() {
            let message =
                format!("{} has {} already; nothing was written", self.folder.display(), taken.join(", "));
            return Err(CommandError::Findings(Some(message)));
        }
        for name in &names {
            let file = self.folder.join(name.as_ref());
            let content = Starter::get(name).map(|file| file.data).unwrap_or_default();
            std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))
                .and_then(|()| std::fs::write(&file, content))
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        let folder = self.folder.display();
        print_note(format!("{folder}: wrote {}", names.join(", ")));
        print_note(format!(
            "next: toolcrib check --catalog {folder}; toolcrib render --catalog {folder} --out tools"
        ));
        Ok(())
    }
}
