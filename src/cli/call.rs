//! `toolcrib call`: one function of toolcrib, without a server.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::findings::report_lost;
use super::io::Io;
use super::progress::Spinner;
use super::runtime::runtime;
use super::services::for_command;
use super::signals::{StopRequests, end_now};
use super::state::StateArgs;
use super::word::word;
use toolcrib_catalog::Catalog;
use toolcrib_catalog::arguments::has_property;
use toolcrib_catalog::results::shape_of;
use toolcrib_definition::Effect;
use toolcrib_definition::clean_line;
use toolcrib_definition::document::from_json;
use toolcrib_definition::finding::nearest;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::{Answer, CatalogView, Function, FunctionContext, Services};
use toolcrib_gateway::state::{Session, WaitBudget};

/// Call one function of toolcrib, as an agent would through a server.
///
/// Prints the answer as JSON, the same that `POST /v1/FUNCTION` and an MCP client get. Exit code 1 when the answer is
/// an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib call read_tool_doc '{\"name\": \"create_issue\"}' examples/github
  toolcrib call read_tool_doc '{\"names\": [\"get_me\"], \"section\": \"arguments\"}' --text examples/github
  toolcrib call list '{\"path\": [\"Ontology\"]}' examples/buildos
  toolcrib call expand_tool '{\"tool_id\": \"onto.task.update\"}' examples/buildos
  toolcrib call tool_exec '{\"op\": \"onto.task.get\", \"args\": {\"task_id\": \"7\"}}' --session s-42 --state state.db
  echo '{\"name\": \"get_me\"}' | toolcrib call read_tool_doc - examples/github")]
pub(super) struct CallArgs {
    /// The function.
    #[arg(value_parser = FunctionName)]
    function: &'static Function,
    /// Its arguments: a JSON object, @FILE to read one from a file, or - for stdin.
    #[arg(default_value = "{}", value_name = "JSON | @FILE | -")]
    arguments: String,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// See the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// See the tools that a caller with this role may see, and no others.
    ///
    /// Can be given several times; a role that no tool names shows the tools that callers without a role see.
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    #[command(flatten)]
    state: StateArgs,
    /// The session that the call belongs to, for `toolcrib trace`.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The strongest effect that the call may have, instead of `[exec] allow`: read, write or destructive.
    #[arg(long, value_name = "EFFECT", value_parser = word::<Effect>(), hide_possible_values = true)]
    allow: Option<Effect>,
    /// A header of the caller, for servers whose headers contain ${caller:NAME}. Can be given several times.
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Print the text that a model reads, in markdown where the function has one, rather than JSON.
    #[arg(long)]
    text: bool,
    /// Return only this part of the result, as JMESPath, such as `tasks[].id`.
    #[arg(long, value_name = "JMESPATH")]
    select: Option<String>,
    /// Write the whole result into this file, and print its size and shape in its place.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Write pictures and other data of the result into this folder.
    ///
    /// Without it only their types and sizes are printed.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
}

impl CallArgs {
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
        let arguments = self.selecting(self.arguments(io)?)?;
        let caller = self.caller()?;
        let mut checked = self.catalog.open(io)?;
        report_lost(io, &checked);
        if self.function.runs_tools() {
            self.catalog.note_backends(io);
        }
        if let Some(allow) = self.allow {
            // The option can allow more than the configuration, or less: then it is the caller's own limit.
            let exec = &mut Arc::make_mut(&mut checked.catalog.config).exec;
            exec.allow = Some(exec.allow().max(allow));
        }
        let roles = (!self.role.is_empty()).then_some(self.role.as_slice());
        let view = self.catalog.view(io, &checked, self.profile.as_deref(), roles)?;
        let state = self.state.open(io, &self.catalog, &checked.catalog.config.state)?;
        if self.session.is_some() && state.health().is_volatile {
            io.note(
                "this session is lost after the call: name a file with --state FILE, or with `url` below `[state]`",
            );
        }
        let (services, waiting) = for_command(io, &self.catalog, &checked.catalog);
        let services = Services { state, ..services };
        let Asked { mut answer, whole } =
            asked(io, self.function, view, services, caller, arguments, self.out.is_some())?;
        if let Some(folder) = &self.output {
            write_data(&mut answer, folder)?;
        }
        waiting.iter().for_each(Spinner::finish);
        let text = if let (Some(file), Some(whole)) = (&self.out, whole) {
            write_whole(file, whole)?
        } else if self.text {
            answer.text()
        } else {
            serde_json::to_string_pretty(&answer.body()).unwrap_or_default()
        };
        io.print(&format!("{}\n", text.trim_end()))?;
        if answer.is_ok() { Ok(()) } else { Err(CommandError::Findings(None)) }
    }

    fn caller(&self) -> Result<Caller, CommandError> {
        let mut headers = HeaderMap::new();
        for header in &self.header {
            let read = header.split_once(':').and_then(|(name, value)| {
                Some((HeaderName::try_from(name.trim()).ok()?, HeaderValue::try_from(value.trim()).ok()?))
            });
            let (name, value) =
                read.ok_or_else(|| CommandError::Usage("a header is written as `Name: value`".into()))?;
            headers.append(name, value);
        }
        let session = self.session.as_deref().map(Session::named).transpose();
        let session = session.map_err(|error| CommandError::Usage(error.to_string()))?;
        let allow = self.allow.unwrap_or(Effect::Destructive);
        Ok(Caller { session, headers, allow, ..Caller::default() })
    }

    /// The arguments with `--select`.
    fn selecting(&self, mut arguments: Value) -> Result<Value, CommandError> {
        let Some(select) = &self.select else { return Ok(arguments) };
        let takes_it = self.function.definition().is_some_and(|tool| has_property(tool, "select"));
        match arguments.as_object_mut() {
            Some(fields) if takes_it => fields.insert("select".into(), select.as_str().into()),
            _ => return Err(CommandError::Usage("--select is for tool_exec and read_result".into())),
        };
        Ok(arguments)
    }

    fn arguments(&self, io: &Io) -> Result<Value, CommandError> {
        let unread =
            |from: &str, error: std::io::Error| CommandError::Usage(format!("cannot read {from}: {error}"));
        let (text, from) = match (self.arguments.as_str(), self.arguments.strip_prefix('@')) {
            ("-", _) => {
                let text = std::io::read_to_string(&mut *io.stdin());
                (text.map_err(|error| unread("stdin", error))?, "stdin")
            }
            (_, Some(file)) => (std::fs::read_to_string(file).map_err(|error| unread(file, error))?, file),
            (written, None) => (written.to_string(), "the arguments"),
        };
        from_json(&text).map_err(|error| {
            CommandError::Usage(format!(
                "{from} should be a JSON object such as {{\"name\": \"create_issue\"}}: {error}"
            ))
        })
    }
}

/// Calls a function on a catalog view of a catalog.
pub(super) fn answer(
    io: &Io,
    args: &CatalogArgs,
    function: &'static Function,
    catalog: &Catalog,
    view: CatalogView,
    arguments: Value,
) -> Result<Answer, CommandError> {
    let (services, waiting) = for_command(io, args, catalog);
    let asked = asked(io, function, view, services, Caller::default(), arguments, false);
    waiting.iter().for_each(Spinner::finish);
    Ok(asked?.answer)
}

/// Writes the result of an answer into a file; the answer with the size and shape of the file.
fn write_whole(file: &Path, mut whole: Map<String, Value>) -> Result<String, CommandError> {
    if let Some(result) = whole.get_mut("result") {
        let text = match &*result {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default() + "\n",
        };
        std::fs::write(file, &text)
            .map_err(|error| failed(format!("cannot write to {}: {error}", file.display())))?;
        *result = json!({ "file": file.to_string_lossy(), "bytes": text.len(), "shape": shape_of(result) });
    }
    Ok(serde_json::to_string_pretty(&whole).unwrap_or_default())
}

/// Writes the data of an answer into files, which it then names.
fn write_data(answer: &mut Answer, folder: &Path) -> Result<(), CommandError> {
    for (call, described, data) in answer.data() {
        let Some(bytes) = data.bytes() else { continue };
        let file = write_new(folder, &format!("result-{call}-{}", described.block), &bytes)
            .map_err(|error| failed(format!("cannot write to {}: {error}", folder.display())))?;
        described.file = Some(file.to_string_lossy().into());
    }
    Ok(())
}

/// Writes data into a file with this name, or with a number after it where there is one already.
fn write_new(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let counted = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{name}{counted}"));
        match std::fs::File::create_new(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// An answer, and all of it where that is wanted.
struct Asked {
    answer: Answer,
    whole: Option<Map<String, Value>>,
}

fn asked(
    io: &Io,
    function: &'static Function,
    view: CatalogView,
    services: Services,
    caller: Caller,
    arguments: Value,
    wants_whole: bool,
) -> Result<Asked, CommandError> {
    let runtime = runtime()?;
    let mut context = FunctionContext::of(Arc::new(view));
    (context.services, context.caller) = (Arc::new(services), Arc::new(caller));
    let budget = WaitBudget::default();
    let calling = budget.clone().with(function.call(&context, arguments));
    let answer = runtime.block_on(async {
        let requests = StopRequests::listen(io);
        tokio::select! {
            answer = calling => Some(answer),
            () = requests.reach(1) => None,
        }
    });
    // The process ends here, so the trace is written first.
    if let Err(error) = runtime.block_on(budget.with(context.services.state.flush())) {
        io.note(format!("the call is missing from the trace: {error}"));
    }
    runtime.block_on(context.services.backends.close());
    let Some(answer) = answer else {
        drop(runtime);
        end_now()
    };
    let whole = wants_whole.then(|| runtime.block_on(answer.whole(&context))).transpose();
    let whole = whole.map_err(|error| failed(error.message))?;
    // Ends what still runs.
    drop(runtime);
    Ok(Asked { answer, whole })
}

/// Reads the name of a function, in any spelling; help and errors list the plain ones.
#[derive(Clone, Debug)]
struct FunctionName;

impl TypedValueParser for FunctionName {
    type Value = &'static Function;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let name = value.to_string_lossy();
        if let Some(known) = Function::spelled(&name) {
            return Ok(known);
        }
        let names = || Function::all().iter().map(Function::name);
        if nearest(&name, names()).is_empty() {
            let shown = clean_line(&name);
            let all: Vec<&str> = names().collect();
            let message = format!(
                "there is no function `{shown}`; call a tool by `toolcrib call tool_exec '{{\"op\": \"{shown}\", \"args\": {{}}}}'`\n  functions: {}\n",
                all.join(", ")
            );
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message));
        }
        let refused = PossibleValuesParser::new(names()).parse_ref(command, arg, value).err();
        Err(refused.unwrap_or_else(|| clap::Error::new(ErrorKind::InvalidValue)))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Function::all().iter().map(|function| PossibleValue::new(function.name()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_front::mcp::Environment;
    use toolcrib_gateway::exec::backend::Backends;

    #[test]
    fn a_call_that_panics_has_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let tools = r#"[{"name": "x", "description": "Panics.", "effect": "read", "parameters": {"type": "object"},
            "backend": {"type": "http", "server": "web", "method": "GET", "path": "/"}}]"#;
        let config = "[server.web]\nurl = \"http://127.0.0.1:9\"\nheaders = { x = \"${BREAK}\" }\n";
        std::fs::write(folder.path().join("tools.json"), tools).unwrap();
        std::fs::write(folder.path().join("toolcrib.toml"), config).unwrap();
        let checked = toolcrib_catalog::open(toolcrib_catalog::config::read(folder.path()));
        let io = Io::new("toolcrib".into(), std::io::empty(), std::io::sink(), std::io::sink(), |_| None);
        for _ in 0..200 {
            let templates = Arc::new(toolcrib_render::Templates::from(crate::BUILT_IN));
            let view = CatalogView::new(&checked.catalog, None, None, templates).unwrap();
            let environment = Environment::new(|_| panic!("on purpose"));
            let services =
                Services { backends: Backends::new(folder.path(), environment), ..Services::default() };
            let function = Function::named("tool_exec").unwrap();
            let call = json!({ "op": "x", "args": {} });
            let asked = asked(&io, function, view, services, Caller::default(), call, false).ok().unwrap();
            assert_eq!(asked.answer.body()["error"]["code"], "INTERNAL");
        }
    }
}
