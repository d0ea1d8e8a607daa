//! `toolcrib completions`: completions for a shell.

use super::error::CommandResult;
use super::io::Io;

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
    pub(super) fn run(self, io: &Io, mut command_line: clap::Command) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line, "toolcrib", &mut script);
        io.print(&String::from_utf8_lossy(&script))
    }
}
