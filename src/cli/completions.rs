//! `toolcrib completions`: shell completions.

use super::{CommandResult, help, print};

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib completions bash > ~/.local/share/bash-completion/completions/toolcrib"
)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

impl CompletionsArgs {
    pub(super) fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command_line(), "toolcrib", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
