//! `toolcrib schema`: the JSON Schemas of toolcrib's formats, for editors.

use super::{CommandResult, print};
use crate::config::schemas_for_editors;

/// Print the JSON Schema of one of toolcrib's formats, for editors that complete and check.
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// The format.
    #[arg(value_enum)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// One tool definition.
    Definition,
    /// toolcrib.toml.
    Config,
}

impl SchemaArgs {
    pub(super) fn run(self) -> CommandResult {
        let schema = match self.format {
            Format::Definition => schemas_for_editors().0,
            Format::Config => schemas_for_editors().1,
        };
        print(&format!("{schema:#}\n"))
    }
}
