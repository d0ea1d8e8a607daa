//! `toolcrib call`: a function of ours, without a server.

use std::io::Read;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use super::catalog::{CatalogArgs, report_lost};
use super::progress::Spinner;
use super::{Failure, Outcome, print};
use crate::catalog::Catalog;
use crate::functions::{Answer, Context, Edition, Function};

/// Call one of our functions, as an agent would through a server.
///
/// Prints the answer as JSON, the same that `POST /v1/FUNCTION` and an MCP client get. Exit code 1 when the answer is
/// an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib call read_tool_doc '{\"name\": \"create_issue\"}' --catalog examples/github
  toolcrib call read_tool_doc '{\"names\": [\"get_me\"], \"section\": \"arguments\"}' --text --catalog examples/github
  toolcrib call list '{\"path\": [\"Ontology\"]}' --catalog examples/buildos
  toolcrib call expand_tool '{\"tool_id\": \"onto.task.update\"}' --catalog examples/buildos
  echo '{\"name\": \"get_me\"}' | toolcrib call read_tool_doc - --catalog examples/github")]
pub(super) struct Call {
    /// The function.
    #[arg(value_parser = functions())]
    function: &'static Function,
    /// Its arguments: a JSON object, @FILE to read one from a file, or - for stdin.
    #[arg(default_value = "{}", value_name = "JSON | @FILE | -")]
    arguments: String,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// See the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// See what a caller with this role sees, and not everything. Can be given several times; a role that no tool names
    /// shows what callers without one see.
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// Print what a model reads rather than JSON: markdown, where the function answers in it.
    #[arg(long)]
    text: bool,
}

impl Call {
    pub(super) fn run(self) -> Outcome {
        let arguments = self.arguments()?;
        let checked = self.catalog.open()?;
        report_lost(&checked);
        let templates = super::render::templates(&self.catalog, &checked, None)?;
        let roles = (!self.role.is_empty()).then_some(self.role.as_slice());
        let edition = Edition::new(&checked.catalog, self.profile.as_deref(), roles, Arc::new(templates))
            .map_err(Failure::Usage)?;
        let answer = answer(&self.catalog, self.function, &checked.catalog, edition, arguments)?;
        let text = match self.text {
            true => answer.text(),
            false => serde_json::to_string_pretty(answer.body()).unwrap_or_default(),
        };
        print(&format!("{}\n", text.trim_end()))?;
        if answer.is_ok() { Ok(()) } else { Err(Failure::Findings(None)) }
    }

    fn arguments(&self) -> Result<Value, Failure> {
        let (text, from) = match self.arguments.as_str() {
            "-" => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map_err(|error| Failure::Usage(format!("cannot read stdin: {error}")))?;
                (text, "stdin".to_string())
            }
            written => match written.strip_prefix('@') {
                Some(file) => {
                    let text = std::fs::read_to_string(file)
                        .map_err(|error| Failure::Usage(format!("cannot read {file}: {error}")))?;
                    (text, file.to_string())
                }
                None => (written.to_string(), "the arguments".to_string()),
            },
        };
        serde_json::from_str(&text).map_err(|error| {
            Failure::Usage(format!(
                "{from} should be a JSON object such as {{\"name\": \"create_issue\"}}: {error}"
            ))
        })
    }
}

/// Calls a function on an edition of a catalog.
pub(super) fn answer(
    args: &CatalogArgs,
    function: &Function,
    catalog: &Catalog,
    edition: Edition,
    arguments: Value,
) -> Result<Answer, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Findings(Some(format!("cannot start: {error}"))))?;
    let (services, waiting) = super::services::of_command(args, catalog);
    let context = Context { edition: Arc::new(edition), services: Arc::new(services), caller: Arc::default() };
    let answer = runtime.block_on(function.call(&context, arguments));
    waiting.iter().for_each(Spinner::finish);
    Ok(answer)
}

/// Reads the name of a function.
fn functions() -> impl TypedValueParser<Value = &'static Function> {
    let names = Function::all().iter().map(Function::name);
    PossibleValuesParser::new(names).try_map(|name| Function::named(&name).ok_or("unknown function"))
}
