//! `toolcrib schema`: the JSON Schemas of toolcrib's formats.

use super::error::CommandResult;
use super::io::Io;
use toolcrib_catalog::config::schemas_for_editors;

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
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let schema = match self.format {
            Format::Definition => schemas_for_editors().0,
            Format::Config => schemas_for_editors().1,
        };
        io.print(&format!("{schema:#}\n"))
    }
}
