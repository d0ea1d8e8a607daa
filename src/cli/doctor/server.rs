//! One live server, started and listed once: the number of its tools, the time, the tokens, and what is wrong with it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::BUILT_IN;
use crate::cli::differences::of_tools;
use toolcrib_catalog::config::{Config, Mode, ServeMode, Server, Source, Workspace};
use toolcrib_catalog::sources::Listings;
use toolcrib_catalog::{self as catalog, Checked};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Code, Finding, nearest};
use toolcrib_front::credentials::{Credentials, SignIn, SignInError, identity};
use toolcrib_front::mcp::{Environment, Examined, ServerProblem};
use toolcrib_providers::report::RequestCost;
use toolcrib_render::Templates;

/// Most characters of a problem.
const MAX_PROBLEM: usize = 400;

/// A server that was examined.
pub(super) struct ServerCheck {
    /// Its name in the configuration, else its address or command.
    pub(super) name: String,
    /// Its tools, by name.
    pub(super) tools: Vec<String>,
    /// The time until all of them were listed.
    pub(super) took: Duration,
    /// Tokens of its tools, bound in full.
    pub(super) tokens: usize,
    /// The problem, and the way out.
    pub(super) problem: Option<Problem>,
    /// Findings that keep a tool out of the catalog.
    pub(super) lost: Vec<String>,
    /// Findings on definitions that were repaired or got another name.
    pub(super) notes: Vec<String>,
    /// What works otherwise than in the client.
    pub(super) differences: Vec<String>,
    /// The identity with which it is called, where it is not the operator.
    pub(super) identity: Option<String>,
    /// The sign-in of the operator, or the reason why it does not count.
    pub(super) sign_in: Result<Option<SignIn>, SignInError>,
}

/// A problem of a server, and the way out.
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) help: String,
}

impl ServerCheck {
    /// The server of a source before it is asked, with a mistake that is known by then, and the differences that are known of
    /// adopted servers.
    pub(super) fn before(
        workspace: &Workspace,
        source: &Source,
        server: &Server,
        differences: &BTreeMap<String, Vec<String>>,
        credentials: &Credentials,
    ) -> Self {
        let name = clean_line(&name_of(source, server));
        let of_entry = source.differences.iter().map(ToString::to_string);
        let adopted = differences.get(&name).into_iter().flatten().cloned();
        let (tools, took, tokens, lost, notes) = Default::default();
        Self {
            tools,
            took,
            tokens,
            lost,
            notes,
            problem: before_start(server, &workspace.root, &name, credentials.environment()),
            differences: of_entry.chain(adopted).map(|difference| clean_line(&difference)).collect(),
            identity: identity(server),
            sign_in: credentials.sign_in_to((&name, server)),
            name,
        }
    }

    /// The server as it has answered.
    pub(super) fn after(self, workspace: &Workspace, index: usize, examined: Examined) -> Self {
        let source = workspace.config.sources.get(index).cloned().unwrap_or_default();
        let server = source.mcp.clone().unwrap_or_default();
        let listing = examined.outcome.as_ref().ok().cloned().unwrap_or_default();
        let listings = Listings { by_source: [(0, listing)].into(), ..Listings::default() };
        let checked = catalog::open_with(alone(workspace, source), &listings);
        let Checked { catalog, findings, .. } = &checked;
        let tools: Vec<String> = catalog.tools.iter().map(|tool| tool.names.canonical.clone()).collect();
        let cost = RequestCost::of(catalog, &Templates::from(BUILT_IN), None, catalog.config.payload);
        let mode = match catalog.config.serve.mode {
            ServeMode::Gateway => Mode::Gateway,
            _ => Mode::Full,
        };
        let mut differences = self.differences;
        let in_tools = of_tools(catalog, &self.name, mode);
        for difference in in_tools.iter().map(|difference| clean_line(&difference.to_string())) {
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
        let is_lost = |code: Code| code.loses_input() && code != Code::SourceUnreachable;
        let lost = findings.errors().filter(|finding| is_lost(finding.code));
        let is_left_out = |finding: &&Finding| finding.code == Code::DefinitionLeftOut;
        let (left_out, notes): (Vec<_>, Vec<_>) = findings.definitions().partition(is_left_out);
        let said = |finding: &Finding| clean_line(&finding.message);
        Self {
            problem: problem_of(examined.outcome.err(), &server, &self.name, tools.is_empty()),
            took: examined.took,
            tokens: cost.map_or(0, |cost| cost.full),
            lost: lost.chain(left_out).map(said).collect(),
            notes: notes.into_iter().map(said).collect(),
            differences,
            tools,
            ..self
        }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.problem.is_none()
    }
}

fn name_of(source: &Source, server: &Server) -> String {
    source.server.clone().unwrap_or_else(|| server.shown())
}

/// The workspace with this source alone.
fn alone(workspace: &Workspace, source: Source) -> Workspace {
    let config = Config { sources: vec![source], ..workspace.config.clone() };
    let overlays = workspace.overlays.clone();
    let root = workspace.root.clone();
    let preset_overlays = overlays.len();
    Workspace { root, config, overlays, preset_overlays, ..Workspace::default() }
}

/// Mistakes that are known before anything is started: a variable that is not set, a program that is not there.
fn before_start(server: &Server, root: &Path, name: &str, environment: &Environment) -> Option<Problem> {
    let values =
        server.command.iter().chain(&server.url).chain(server.env.values()).chain(server.headers.values());
    if let Some(variable) =
        values.flat_map(|value| variables(value)).find(|name| environment.get(name).is_none())
    {
        return Some(Problem {
            what: format!("the environment variable {variable} is not set"),
            help: format!(
                "set {variable}, or write {variable}=... into the file that `env_file` in toolcrib.toml names"
            ),
        });
    }
    let program = server.command.first().filter(|program| !program.contains("${"))?;
    let is_path = program.contains(std::path::is_separator);
    if is_path {
        return (!root.join(program).is_file()).then(|| Problem {
            what: format!("there is no program {}", clean_line(program)),
            help: format!("correct the first item of `command` of the server `{name}`"),
        });
    }
    let path = environment.get("PATH").unwrap_or_default();
    let names = programs(&path);
    let is_there = names.iter().any(|known| known == program || known.strip_suffix(".exe") == Some(program));
    // Other endings run too on Windows, by its own rules.
    (!is_there && !cfg!(windows)).then(|| Problem {
        what: format!("the program `{}` is not found in PATH", clean_line(program)),
        help: match (package_of(program), nearest(program, names.iter().map(String::as_str)).first()) {
            (Some(package), _) => format!("install {package}, or name the program by its whole path"),
            (None, Some(near)) => {
                format!("did you mean `{near}`? Otherwise install it, or name it by its whole path")
            }
            (None, None) => "install it, or name it by its whole path".into(),
        },
    })
}

/// The package that brings a program by which servers are usually started.
fn package_of(program: &str) -> Option<&'static str> {
    match program {
        "npx" | "npm" | "node" => Some("Node.js (nodejs.org)"),
        "uvx" | "uv" => Some("uv (docs.astral.sh/uv)"),
        "docker" => Some("Docker"),
        "bunx" | "bun" => Some("Bun (bun.sh)"),
        "deno" => Some("Deno (deno.com)"),
        "pipx" => Some("pipx"),
        _ => None,
    }
}

/// Names of the programs in the folders of PATH.
fn programs(path: &str) -> Vec<String> {
    let folders = std::env::split_paths(path);
    let entries = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The names in `${NAME}`, without `${caller:NAME}`.
fn variables(value: &str) -> impl Iterator<Item = &str> {
    let parts = value.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    parts.filter(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
    })
}

/// The problem that shows once the server was asked.
fn problem_of(failed: Option<ServerProblem>, server: &Server, name: &str, is_empty: bool) -> Option<Problem> {
    let Some(failed) = failed else {
        return is_empty.then(|| Problem {
            what: "it lists no tools".into(),
            help: "look at its settings: some servers list tools only with the right arguments or variables"
                .into(),
        });
    };
    let what = clean_line(&failed.to_string()).chars().take(MAX_PROBLEM).collect();
    Some(Problem { what, help: help_for(&failed, server, name) })
}

fn help_for(failed: &ServerProblem, server: &Server, name: &str) -> String {
    match (failed, &server.url) {
        (ServerProblem::NoToken(missing), _) => missing.problem.next_step(name),
        (ServerProblem::WantsToken(..), _) => {
            let variable = name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_") + "_TOKEN";
            if server.headers.keys().any(|header| header.eq_ignore_ascii_case("authorization")) {
                return "its token is not accepted: set a new one in the variable of its header `Authorization`".into();
            }
            format!(
                "run `toolcrib login {name}`, or add `headers = {{ Authorization = \"Bearer ${{{variable}}}\" }}` to its `mcp` \
                 table, and set {variable}"
            )
        }
        (ServerProblem::NoAnswer(time), _) => {
            let seconds = time.as_secs().saturating_mul(4);
            format!(
                "it is too slow, or waits for something: try its command by itself, or set `timeout_seconds = {seconds}`"
            )
        }
        (_, Some(_)) => format!("check that {} is right, and that the server runs", server.shown()),
        (ServerProblem::Ended { said, .. }, None) if !said.is_empty() => {
            "its last words are above; try its command by itself".into()
        }
        (_, None) => format!("try its command by itself: {}", server.shown()),
    }
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn placeholders_are_names_of_variables() {
        let found = |text| variables(text).collect::<Vec<_>>();
        assert_eq!(found("Bearer ${A_1} ${caller:X} ${} ${2} ${B"), ["A_1"]);
    }
}
