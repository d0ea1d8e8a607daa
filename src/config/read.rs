//! Finds and reads the configuration of a catalog.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::serve::public_url_problem;
use super::{
    Config, EVERY_PROFILE, Overlay, Provider, Selectors, Source, Trust, client, preset, preset_names,
};
use crate::finding::{Code, Document, Finding, Limits, Place, Reader, nearest, open, pointer_join};
use crate::tool::Backend;

/// The name of the configuration file.
const FILE_NAME: &str = "toolcrib.toml";

/// A configuration with its folder: all that is needed to load a catalog.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The folder that all paths are relative to.
    pub root: PathBuf,
    /// The configuration; the default one when there is no file.
    pub config: Config,
    /// Overlays of the presets, then those of the file.
    pub overlays: Vec<Overlay>,
    /// Number of overlays that come from presets.
    pub preset_overlays: usize,
    /// The configuration file, kept to locate findings.
    pub document: Option<Document>,
    /// Mistakes in the configuration.
    pub findings: Vec<Finding>,
    /// Definitions in memory, beside those of the sources.
    pub definitions: Option<Document>,
    /// The registry at each address that a source names, or the reason why there is none; an address without either was not
    /// asked.
    pub fetched: BTreeMap<String, Result<Arc<str>, FetchError>>,
    /// The parts that are left out of a configuration that was only found, not named by the operator. Nothing that it names is run.
    pub found: Option<LeftOut>,
}

/// Reason why an address gives no registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address may be answered by others.
    #[error(
        "an answer over http:// can be changed on its way; use https:// without a user, or a server of this machine"
    )]
    Unsafe,
    /// There is no whole answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The answer is no registry that can be used.
    #[error("{0}")]
    NoRegistry(String),
}

/// Parts of a configuration that was only found, and that are not used.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut {
    /// Live servers and addresses of definitions.
    pub sources: bool,
    /// Models.
    pub models: bool,
    /// Programs and servers that run tools, and state that is not a plain file.
    pub backends: bool,
}

impl Workspace {
    /// The same without any file to read definitions from.
    pub fn without_files(mut self) -> Self {
        self.config.sources = vec![Source::default()];
        self
    }

    /// Removes everything that a configuration that was only found must not do: name programs, servers, models,
    /// variables and places to write to. `help` tells the operator how to use it.
    pub fn disarm(&mut self, help: &str) {
        let config = &mut self.config;
        let mut left = LeftOut {
            sources: false,
            models: config.repair.is_some()
                || config.search.llm.is_some()
                || config.search.semantic.as_ref().is_some_and(|semantic| semantic.url.is_some()),
            backends: !config.servers.is_empty()
                || config.state.url.as_ref().is_some_and(|at| !is_plain_file(at))
                || config
                    .sources
                    .iter()
                    .any(|source| source.trust == Trust::Run || source.base_url_from.is_some())
                || self.overlays.iter().any(|overlay| {
                    matches!(
                        overlay.set.backend,
                        Some(Backend::Http(_) | Backend::Mcp { .. } | Backend::Command(_))
                    )
                }),
        };
        for (index, source) in config.sources.iter_mut().enumerate() {
            source.base_url_from = None;
            let field = if source.mcp.take().is_some() {
                "mcp"
            } else if source.path.contains("://") {
                source.path.clear();
                "path"
            } else {
                continue;
            };
            left.sources = true;
            let finding = Finding::new(Code::SourceUnreachable, "this source was not contacted").help(help);
            self.findings.push(finding.at(Place::new(FILE_NAME, format!("/source/{index}/{field}"))));
        }
        self.found = Some(left);
        config.servers.clear();
        config.env_file = None;
        // The arguments stay hidden, and their calls fail.
        let set = self.overlays.iter_mut().flat_map(|overlay| overlay.arguments.values_mut());
        set.for_each(|argument| drop(argument.env.take()));
        config.repair = None;
        config.search.llm = None;
        config.search.semantic.take_if(|semantic| semantic.url.is_some());
        config.state.url.take_if(|at| !is_plain_file(at));
    }
}

/// Whether a place for state is a file below the folder, without addresses or variables.
fn is_plain_file(at: &str) -> bool {
    let is_below = || Path::new(at).components().all(|part| matches!(part, Component::Normal(_)));
    !at.contains("://") && !at.contains("${") && is_below()
}

/// Reads the configuration of `catalog`: a `toolcrib.toml`, a folder that may hold one, the configuration of an MCP
/// client, a single file of definitions, or the address of a registry; these two have the default configuration.
pub fn read(catalog: &Path) -> Workspace {
    if let Some(source) = at_address(catalog) {
        let config = Config { sources: vec![source], ..Config::default() };
        return Workspace { root: ".".into(), config, ..Workspace::default() };
    }
    let (root, file) = if catalog.is_dir() {
        (catalog.to_path_buf(), Some(catalog.join(FILE_NAME)).filter(|file| file.exists()))
    } else {
        let is_config = catalog.file_name().is_some_and(|name| name == FILE_NAME);
        let root = catalog.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (root.to_path_buf(), is_config.then(|| catalog.to_path_buf()))
    };
    let mut workspace = Workspace { root, ..Workspace::default() };
    match file {
        Some(file) => read_file(&file, &mut workspace),
        None if !catalog.is_dir() => {
            if let Some(client) = client::read(catalog, &workspace.root) {
                workspace.findings = client.findings;
                workspace.document = client.document;
                if client.sources.is_empty() {
                    return workspace.without_files();
                }
                workspace.config.sources = client.sources;
                workspace.config.payload.provider = Provider::Mcp;
                return workspace;
            }
            let path = catalog.file_name().unwrap_or_default().to_string_lossy().into_owned();
            workspace.config.sources = vec![Source { path, ..Source::default() }];
        }
        None => {}
    }
    workspace
}

/// The source of a catalog that is the address of a registry.
pub fn at_address(catalog: &Path) -> Option<Source> {
    let source = Source { path: catalog.to_str()?.to_string(), ..Source::default() };
    source.address().is_some().then_some(source)
}

fn read_file(file: &Path, workspace: &mut Workspace) {
    let document = match open(file, FILE_NAME, &Limits::default()) {
        Ok(document) => document,
        Err(unread) => return workspace.findings.push(unread.finding),
    };
    let mut findings = Vec::new();
    let config: Option<Config> =
        Reader::compile().read(document.value.clone(), &Place::new(FILE_NAME, ""), &mut findings);
    for finding in &mut findings {
        finding.code = Code::ConfigInvalid;
    }
    workspace.config = config.unwrap_or_default();
    workspace.document = Some(document);
    workspace.findings = findings;
    check(workspace);
    add_presets(workspace);
}

fn add_presets(workspace: &mut Workspace) {
    for (index, name) in workspace.config.presets.iter().enumerate() {
        match preset(name) {
            Some(overlays) => workspace.overlays.extend(overlays),
            None => {
                let presets: Vec<&str> = preset_names().collect();
                let finding = Finding::new(Code::ConfigInvalid, format!("there is no preset \"{name}\""))
                    .did_you_mean(
                        &nearest(name, preset_names()),
                        format!("presets are: {}", presets.join(", ")),
                    );
                workspace.findings.push(finding.at(Place::new(FILE_NAME, format!("/presets/{index}"))));
            }
        }
    }
    workspace.preset_overlays = workspace.overlays.len();
    workspace.overlays.extend(workspace.config.overlays.iter().cloned());
}

/// Checks the sources of definitions: each has a path or a server, and not both.
fn check_sources(workspace: &mut Workspace) {
    let mut findings = Vec::new();
    let mut invalid = |message: &str, pointer: String| {
        findings.push(Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer)));
    };
    for (index, source) in workspace.config.sources.iter().enumerate() {
        match &source.mcp {
            Some(_) if source.trust == Trust::Run => invalid(
                "tools of a live server are never trusted to name programs; `[exec.trust_hints]` is for its effects",
                format!("/source/{index}/trust"),
            ),
            None if source.address().is_some() && source.trust == Trust::Run => invalid(
                "definitions at an address are never trusted to name programs; write `backend` in an `[[overlay]]`",
                format!("/source/{index}/trust"),
            ),
            None if source.path.is_empty() => {
                invalid("a source has a `path`, or a server under `mcp`", format!("/source/{index}"));
            }
            Some(_) if !source.path.is_empty() => {
                invalid("a source has a `path` or `mcp`, not both", format!("/source/{index}/path"));
            }
            Some(server) => {
                if let Some(problem) = server.problem() {
                    invalid(problem, format!("/source/{index}/mcp"));
                }
            }
            None => {}
        }
    }
    workspace.findings.append(&mut findings);
}

/// Checks the identities with which servers are called.
fn check_server_auth(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    let named = config.servers.iter().map(|(name, server)| (pointer_join("/server", name), server));
    let sources = config.sources.iter().enumerate();
    let live = sources.filter_map(|(at, source)| Some((format!("/source/{at}/mcp"), source.mcp.as_ref()?)));
    for (server, problem) in named.chain(live).map(|(at, server)| (at, server.auth_problem())) {
        let Some((field, message)) = problem else { continue };
        let pointer =
            if field.is_empty() { format!("{server}/auth") } else { format!("{server}/auth/{field}") };
        findings.push(Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer)));
    }
}

/// Checks the models for search. A model without a usable address is dropped.
fn check_search(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    let search = &mut config.search;
    let semantic = search.semantic.as_ref().and_then(|semantic| semantic.problem());
    let llm = search.llm.as_ref().and_then(|llm| llm.problem());
    if semantic.is_some() {
        search.semantic = None;
    }
    if llm.is_some() {
        search.llm = None;
    }
    for (table, problem) in [("/search/semantic", semantic), ("/search/llm", llm)] {
        let Some((field, message)) = problem else { continue };
        let pointer = if field.is_empty() { table.into() } else { format!("{table}/{field}") };
        findings.push(Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer)));
    }
}

/// Checks that the profiles of the server and of its tokens exist.
fn check_served_profiles(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    let of_server = config.serve.profiles.iter().flatten().enumerate();
    let of_server = of_server
        .filter(|(_, name)| *name != EVERY_PROFILE)
        .map(|(place, name)| (name, format!("/serve/profiles/{place}")));
    let of_tokens = config.serve.tokens.iter().enumerate().flat_map(|(token, configured)| {
        let names = configured.profiles.iter().enumerate();
        names.map(move |(place, name)| (name, format!("/serve/token/{token}/profiles/{place}")))
    });
    let of_issuers = config.serve.issuers.iter().enumerate().flat_map(|(issuer, configured)| {
        let grants = configured.grants.iter().enumerate();
        grants.flat_map(move |(grant, configured)| {
            let names = configured.named_profiles();
            let pointer = format!("/serve/issuer/{issuer}/grant/{grant}/profiles");
            names.map(move |(place, name)| (name, format!("{pointer}/{place}")))
        })
    });
    for (name, pointer) in of_server.chain(of_tokens).chain(of_issuers) {
        if config.profiles.contains_key(name) {
            continue;
        }
        let near = nearest(name, config.profiles.keys().map(String::as_str));
        let finding = Finding::new(Code::ConfigInvalid, format!("there is no profile \"{name}\""))
            .did_you_mean(&near, "each profile has a table `[profile.NAME]`");
        findings.push(finding.at(Place::new(FILE_NAME, pointer)));
    }
}

/// Checks the proxy, the issuers of tokens, and the address that their tokens are for.
fn check_issuers(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    let mut invalid = |message: &str, pointer: String| {
        findings.push(Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer)));
    };
    if let Some(problem) = config.serve.public_url.as_deref().and_then(public_url_problem) {
        invalid(problem, "/serve/public_url".into());
    }
    if let Some((field, problem)) = config.serve.proxy.as_ref().and_then(|proxy| proxy.problem()) {
        invalid(problem, format!("/serve/proxy/{field}"));
    }
    let issuers = &config.serve.issuers;
    for (index, issuer) in issuers.iter().enumerate() {
        let pointer = format!("/serve/issuer/{index}");
        if let Some((field, problem)) = issuer.problem() {
            invalid(problem, format!("{pointer}/{field}"));
        }
        let before = &issuers[..index];
        if before.iter().any(|other| other.issuer == issuer.issuer) {
            invalid("another `[[serve.issuer]]` has this name", format!("{pointer}/issuer"));
        }
    }
}

/// Checks beyond the types: selectors and finding codes.
fn check(workspace: &mut Workspace) {
    check_issuers(workspace);
    check_sources(workspace);
    check_server_auth(workspace);
    check_search(workspace);
    check_served_profiles(workspace);
    let config = &workspace.config;
    let mut findings = Vec::new();
    let mut selectors = |selectors: &Selectors, pointer: String| {
        for error in selectors.errors() {
            let help = "selectors are names, globs such as `create_*`, or `category:`, `tag:`, `source:`, `server:`, `effect:`";
            findings.push(
                Finding::new(Code::SelectorInvalid, error).at(Place::new(FILE_NAME, &pointer)).help(help),
            );
        }
    };
    for (index, overlay) in config.overlays.iter().enumerate() {
        selectors(&overlay.tools, format!("/overlay/{index}/match"));
    }
    for (name, profile) in &config.profiles {
        let lists = [
            ("include", &profile.include),
            ("exclude", &profile.exclude),
            ("full", &profile.full),
            ("deferred", &profile.deferred),
        ];
        for (field, list) in lists {
            selectors(list, format!("{}/{field}", pointer_join("/profile", name)));
        }
    }
    for (index, ignore) in config.lint.ignore.iter().enumerate() {
        selectors(&ignore.tools, format!("/lint/ignore/{index}/match"));
    }
    for (index, overlay) in config.overlays.iter().enumerate() {
        for (name, argument) in &overlay.arguments {
            if argument.value.is_some() == argument.env.is_some() {
                let pointer = pointer_join(&format!("/overlay/{index}/arguments"), name);
                let message = "an argument has a `value`, or the name of a variable in `env`";
                findings.push(Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer)));
            }
        }
    }
    let ignored = config
        .lint
        .ignore
        .iter()
        .enumerate()
        .map(|(index, rule)| (&rule.code, format!("/lint/ignore/{index}/code")));
    let severities = config.lint.severity.keys().map(|code| (code, pointer_join("/lint/severity", code)));
    for (code, pointer) in ignored.chain(severities) {
        if Code::parse(code).is_none() {
            let near = nearest(code, Code::ALL.iter().map(|code| code.as_str()));
            let message = format!("there is no finding code \"{code}\"");
            let finding = Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer));
            findings.push(finding.did_you_mean(&near, "docs/findings.md lists all codes"));
        }
    }
    workspace.findings.append(&mut findings);
}
