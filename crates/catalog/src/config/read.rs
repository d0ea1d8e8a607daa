//! Finds and reads the configuration of a catalog.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ToolFilter;
use super::serve::public_url_problem;
use super::{
    ApprovalNotice, Config, EVERY_PROFILE, Lint, Overlay, Provider, SearchModel, SearchSemantic, Selectors,
    ServeProxy, Server, Source, Telemetry, Trust, client, preset, preset_names,
};
use toolcrib_definition::finding::{Code, Document, Finding, Place, Reader, nearest, open, pointer_join};
use toolcrib_definition::ground::is_within;
use toolcrib_definition::{Backend, clean_line};

/// The name of the configuration file.
const FILE_NAME: &str = "toolcrib.toml";
/// Help for a catalog that was found and not named.
pub const NAME_IT: &str = "name it as the catalog, such as `.`";

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
    /// Definitions in memory, in addition to those of the sources.
    pub definitions: Option<Document>,
    /// The registry at each address that a source names, or why it could not be fetched. Addresses without an
    /// entry were not fetched.
    pub fetched: BTreeMap<String, Result<Arc<str>, FetchError>>,
    /// The parts left out of a configuration that was found, not named by the operator. Nothing that it names runs.
    pub found: Option<LeftOut>,
    /// Whether nobody named the folder, so that nothing outside of it is read.
    pub is_confined: bool,
}

/// Reason why an address gives no registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Others could answer at this address.
    #[error(
        "an answer over http:// can be changed in transit; use https:// without a user name, or a server on this machine"
    )]
    Unsafe,
    /// There is no complete answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The answer is not a usable registry.
    #[error("{0}")]
    NoRegistry(String),
}

/// The unused parts of a configuration that was found, not named by the operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut {
    /// Live servers and addresses of definitions.
    pub sources: bool,
    /// Models.
    pub models: bool,
    /// Templates of pages.
    pub templates: bool,
    /// Programs and servers that run tools, and state that is no file of the folder.
    pub backends: bool,
}

impl Workspace {
    /// The same workspace, without definition files.
    pub fn without_files(mut self) -> Self {
        self.config.sources = vec![Source::default()];
        self
    }

    /// Whether a file may be read: one outside of the folder only if somebody named the catalog.
    pub fn may_read(&self, path: &Path) -> bool {
        !self.is_confined || is_within(&self.root, path)
    }

    /// Removes what a configuration may only have if the operator named it: programs, servers, models, variables, templates,
    /// and paths out of its folder.
    fn disarm(&mut self) {
        let Self { root, config, overlays, findings, .. } = self;
        let is_inside = |path: &str| is_within(root, &root.join(path));
        let is_own_state = |at: &mut String| {
            let mut files = ["", "-journal", "-shm", "-wal"].iter().map(|end| format!("{at}{end}"));
            !at.contains("://") && !at.contains("${") && files.all(|file| is_inside(&file))
        };
        let is_trusted = |source: &Source| source.trust == Trust::Run || source.base_url_from.is_some();
        let runs = |overlay: &Overlay| {
            let backend = &overlay.set.backend;
            matches!(backend, Some(Backend::Http(_) | Backend::Mcp { .. } | Backend::Command(_)))
        };
        let mut left = LeftOut {
            sources: false,
            models: config.repair.take().is_some()
                | config.search.llm.take().is_some()
                | config.search.semantic.take().is_some(),
            templates: config.render.templates.take().is_some(),
            backends: !std::mem::take(&mut config.servers).is_empty()
                | std::mem::take(&mut config.approval).webhook.is_some()
                | config.state.url.take_if(|at| !is_own_state(at)).is_some()
                | config.sources.iter().any(is_trusted)
                | overlays.iter().any(runs),
        };
        for (index, source) in config.sources.iter_mut().enumerate() {
            source.base_url_from = None;
            let is_live = source.mcp.take().is_some();
            let finding = if is_live || source.path.contains("://") {
                left.sources = true;
                Finding::new(Code::SourceUnreachable, "this source was not contacted").help(NAME_IT)
            } else if !is_inside(&source.path) {
                leads_out(Code::FileUnreadable, &source.path)
            } else {
                continue;
            };
            source.path.clear();
            let field = if is_live { "mcp" } else { "path" };
            findings.push(finding.at(Place::new(FILE_NAME, format!("/source/{index}/{field}"))));
        }
        let queries = &mut config.eval.queries;
        let is_outside = |(_, path): &(usize, &PathBuf)| !is_inside(&path.to_string_lossy());
        for (index, path) in queries.iter().enumerate().filter(is_outside) {
            let finding = leads_out(Code::LabelInvalid, &path.to_string_lossy());
            findings.push(finding.at(Place::new(FILE_NAME, format!("/eval/queries/{index}"))));
        }
        queries.retain(|path| is_inside(&path.to_string_lossy()));
        for issuer in &mut config.serve.issuers {
            issuer.jwks.take_if(|jwks| !is_inside(jwks));
        }
        config.env_file = None;
        config.telemetry = Telemetry::default();
        // The arguments stay hidden, and their calls fail.
        let set = overlays.iter_mut().flat_map(|overlay| overlay.arguments.values_mut());
        set.for_each(|argument| drop(argument.env.take()));
        self.found = Some(left);
    }
}

/// A finding about a path out of a folder that nobody named.
pub(crate) fn leads_out(code: Code, path: &str) -> Finding {
    let message = format!("`{}` leads out of the folder, which was found and not named", clean_line(path));
    Finding::new(code, message).help(NAME_IT)
}

/// Reads the configuration of a folder that nobody named, without what only an operator's word allows.
pub fn read_found(folder: &Path) -> Workspace {
    let mut workspace = if is_within(folder, &folder.join(FILE_NAME)) {
        read(folder)
    } else {
        let findings = vec![leads_out(Code::FileUnreadable, FILE_NAME).at(Place::new(FILE_NAME, ""))];
        Workspace { root: folder.into(), findings, ..Workspace::default() }.without_files()
    };
    workspace.is_confined = true;
    if workspace.document.is_some() {
        workspace.disarm();
    }
    workspace
}

/// Reads the configuration of `catalog`: a `toolcrib.toml`, a folder that may hold one, the configuration of an MCP
/// client, a single file of definitions, or the address of a registry. The last two get the default configuration.
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
                workspace.config.serve.split_exec = true;
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
    let document = match open(file, FILE_NAME) {
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
    workspace.config.file = std::path::absolute(file).ok();
    for source in &mut workspace.config.sources {
        source.filter = ToolFilter::of_list(&source.tools);
    }
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
                let near = nearest(name, preset_names());
                let finding = invalid(format!("/presets/{index}"), format!("there is no preset \"{name}\""));
                let help = format!("presets are: {}", presets.join(", "));
                workspace.findings.push(finding.did_you_mean(&near, help));
            }
        }
    }
    workspace.preset_overlays = workspace.overlays.len();
    workspace.overlays.extend(workspace.config.overlays.iter().cloned());
}

/// A finding about the setting at a pointer.
fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer))
}

/// A finding about a field of a table, or about the table itself if the field is empty.
fn invalid_field(table: &str, (field, message): (impl AsRef<str>, impl Into<String>)) -> Finding {
    match field.as_ref() {
        "" => invalid(table, message),
        field => invalid(format!("{table}/{field}"), message),
    }
}

/// Checks what types cannot express. A search model without a usable address is dropped.
fn check(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    check_serve(config, findings);
    findings.extend(config.sources.iter().enumerate().filter_map(source_mistake));
    let named = config.servers.iter().map(|(name, server)| (pointer_join("/server", name), server));
    let sources = config.sources.iter().enumerate();
    let live = sources.filter_map(|(at, source)| Some((format!("/source/{at}/mcp"), source.mcp.as_ref()?)));
    let of_auth =
        |(at, server): (String, &Server)| Some(invalid_field(&format!("{at}/auth"), server.auth_problem()?));
    findings.extend(named.chain(live).filter_map(of_auth));
    let search = &mut config.search;
    if let Some(problem) = search.semantic.as_ref().and_then(SearchSemantic::problem) {
        search.semantic = None;
        findings.push(invalid_field("/search/semantic", problem));
    }
    if let Some(problem) = search.llm.as_ref().and_then(SearchModel::problem) {
        search.llm = None;
        findings.push(invalid_field("/search/llm", problem));
    }
    if let Some(problem) = config.approval.problem() {
        config.approval = ApprovalNotice::default();
        findings.push(invalid_field("/approval", problem));
    }
    check_served_profiles(config, findings);
    check_selectors(config, findings);
    for (index, overlay) in config.overlays.iter().enumerate() {
        for (name, argument) in &overlay.arguments {
            if argument.value.is_some() == argument.env.is_some() {
                let pointer = pointer_join(&format!("/overlay/{index}/arguments"), name);
                let message = "an argument has a `value`, or the name of a variable in `env`";
                findings.push(invalid(pointer, message));
            }
        }
    }
    check_codes(&config.lint, findings);
}

/// The mistake of a source: each has a path or a server, and not both.
fn source_mistake((index, source): (usize, &Source)) -> Option<Finding> {
    let at = |field: &str| format!("/source/{index}{field}");
    Some(match &source.mcp {
        Some(_) if source.trust == Trust::Run => invalid(
            at("/trust"),
            "tools of a live server are never trusted to name programs; `[exec.trust_hints]` is for its effects",
        ),
        None if source.address().is_some() && source.trust == Trust::Run => invalid(
            at("/trust"),
            "definitions at an address are never trusted to name programs; write `backend` in an `[[overlay]]`",
        ),
        None if source.path.is_empty() => invalid(at(""), "a source has a `path`, or a server under `mcp`"),
        Some(_) if !source.path.is_empty() => {
            invalid(at("/path"), "a source has a `path` or `mcp`, not both")
        }
        Some(server) => invalid(at("/mcp"), server.problem()?),
        None => return None,
    })
}

/// Checks the proxy, the issuers of tokens, and the address that their tokens are for.
fn check_serve(config: &Config, findings: &mut Vec<Finding>) {
    let serve = &config.serve;
    let public = serve.public_url.as_deref().and_then(public_url_problem);
    findings.extend(public.map(|problem| invalid("/serve/public_url", problem)));
    let proxy = serve.proxy.as_ref().and_then(ServeProxy::problem);
    findings.extend(proxy.map(|problem| invalid_field("/serve/proxy", problem)));
    for (index, issuer) in serve.issuers.iter().enumerate() {
        let table = format!("/serve/issuer/{index}");
        findings.extend(issuer.problem().map(|problem| invalid_field(&table, problem)));
        if serve.issuers[..index].iter().any(|other| other.issuer == issuer.issuer) {
            findings.push(invalid(format!("{table}/issuer"), "another `[[serve.issuer]]` has this name"));
        }
    }
}

/// Checks that the profiles of the server and of its tokens exist.
fn check_served_profiles(config: &Config, findings: &mut Vec<Finding>) {
    let mut check = |names: &[String], list: String, may_be_every: bool| {
        let is_known =
            |name: &str| config.profiles.contains_key(name) || (may_be_every && name == EVERY_PROFILE);
        for (place, name) in names.iter().enumerate().filter(|(_, name)| !is_known(name)) {
            let near = nearest(name, config.profiles.keys().map(String::as_str));
            let finding = invalid(format!("{list}/{place}"), format!("there is no profile \"{name}\""));
            findings.push(finding.did_you_mean(&near, "each profile has a table `[profile.NAME]`"));
        }
    };
    check(config.serve.profiles.as_deref().unwrap_or_default(), "/serve/profiles".into(), true);
    for (index, token) in config.serve.tokens.iter().enumerate() {
        check(&token.profiles, format!("/serve/token/{index}/profiles"), false);
    }
    for (issuer, configured) in config.serve.issuers.iter().enumerate() {
        for (index, grant) in configured.grants.iter().enumerate() {
            check(&grant.profiles, format!("/serve/issuer/{issuer}/grant/{index}/profiles"), true);
        }
    }
}

/// Checks that selectors can be read.
fn check_selectors(config: &Config, findings: &mut Vec<Finding>) {
    let mut check = |selectors: &Selectors, pointer: String| {
        for error in selectors.errors() {
            let help = "selectors are names, globs such as `create_*`, or `category:`, `tag:`, `source:`, `server:`, `effect:`";
            let finding = Finding::new(Code::SelectorInvalid, error).help(help);
            findings.push(finding.at(Place::new(FILE_NAME, &pointer)));
        }
    };
    for (index, overlay) in config.overlays.iter().enumerate() {
        check(&overlay.tools, format!("/overlay/{index}/match"));
    }
    for (name, profile) in &config.profiles {
        for (field, list) in profile.lists() {
            check(list, format!("{}/{field}", pointer_join("/profile", name)));
        }
    }
    for (index, ignore) in config.lint.ignore.iter().enumerate() {
        check(&ignore.tools, format!("/lint/ignore/{index}/match"));
    }
}

/// Checks that the codes of findings exist.
fn check_codes(lint: &Lint, findings: &mut Vec<Finding>) {
    let ignored = lint.ignore.iter().enumerate();
    let ignored = ignored.map(|(index, rule)| (&rule.code, format!("/lint/ignore/{index}/code")));
    let severities = lint.severity.keys().map(|code| (code, pointer_join("/lint/severity", code)));
    for (code, pointer) in ignored.chain(severities).filter(|(code, _)| Code::parse(code).is_none()) {
        let near = nearest(code, Code::ALL.iter().map(|code| code.as_str()));
        let finding = invalid(pointer, format!("there is no finding code \"{code}\""));
        findings.push(finding.did_you_mean(&near, "docs/findings.md lists all codes"));
    }
}

#[cfg(test)]
mod tests;
