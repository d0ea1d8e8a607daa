//! `toolcrib schema`: the JSON Schemas of toolcrib's formats, for editors.

use super::{CommandResult, print};
use crate::config::Config;
use crate::finding::schema_of;
use crate::tool::Definition;

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
            Format::Definition => schema_of::<Definition>(),
            Format::Config => schema_of::<Config>(),
        };
        print(&format!("{schema:#}\n"))
    }
}
