//! The content of a workspace that decides which programs and servers are used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::config::{Config, Server, Source, Trust, Workspace};
use crate::finding::Limits;
use crate::sources::{Listings, Loaded, load};
use crate::tool::{Backend, clean_line};

/// The programs, addresses and variables that a workspace would use, and the hash of everything that decides them.
#[derive(Debug, Default)]
pub struct Content {
    /// Commands, each with its user: a source, a server or a tool.
    pub commands: Vec<String>,
    /// Addresses, each with its purpose.
    pub addresses: Vec<String>,
    /// Environment variables.
    pub variables: BTreeSet<String>,
    /// Files that count: programs, and definitions that may name some.
    pub files: BTreeSet<PathBuf>,
    /// BLAKE3 of the configuration and of each file, in hexadecimal.
    pub hash: String,
}

/// `${NAME}`, but not `${caller:NAME}`.
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}").ok());

impl Content {
    /// The content of a workspace. Reads the definitions that may name programs.
    pub fn of(workspace: &Workspace) -> Content {
        let mut content = Content::default();
        content.configuration(&workspace.config);
        content.servers(workspace);
        for overlay in &workspace.config.overlays {
            content.backend("an [[overlay]]", overlay.set.backend.as_ref(), &workspace.root);
            content.variables.extend(overlay.arguments.values().filter_map(|argument| argument.env.clone()));
        }
        let loaded = trusted_definitions(workspace);
        for tool in loaded.tools.iter().filter(|tool| tool.origin.trust == Trust::Run) {
            let who = format!("`{}`", clean_line(&tool.definition.name));
            content.backend(&who, tool.definition.backend.as_ref(), &workspace.root);
        }
        content.files.extend(loaded.documents.iter().map(|document| workspace.root.join(&document.file)));
        let mut parts: BTreeMap<String, blake3::Hash> = BTreeMap::new();
        if let Some(document) = &workspace.document {
            parts.insert("toolcrib.toml".into(), blake3::hash(document.text.as_bytes()));
        }
        for document in &loaded.documents {
            parts.insert(format!("definitions {}", document.file), blake3::hash(document.text.as_bytes()));
        }
        for file in &content.files {
            // The key is the path relative to the folder, whatever path named the folder.
            let shown = file.strip_prefix(&workspace.root).unwrap_or(file);
            parts.insert(format!("file {}", shown.display()), hash_of(file));
        }
        content.hash = hash_of_parts(&parts);
        content
    }

    /// Models, tokens and state.
    fn configuration(&mut self, config: &Config) {
        let mut address = |what: &str, url: Option<&str>, key: Option<&String>| {
            self.addresses.extend(url.map(|url| format!("{what}: {}", clean_line(url))));
            self.variables.extend(key.cloned());
        };
        if let Some(repair) = &config.repair {
            address("[repair]", Some(&repair.url), repair.api_key_env.as_ref());
        }
        if let Some(semantic) = &config.search.semantic {
            address("[search.semantic]", semantic.url.as_deref(), semantic.key_env.as_ref());
        }
        if let Some(llm) = &config.search.llm {
            address("[search.llm]", Some(&llm.url), llm.key_env.as_ref());
        }
        let state = config.state.url.as_deref();
        address("[state]", state.filter(|at| at.contains("://")), None);
        for issuer in &config.serve.issuers {
            let urls = issuer.jwks_url().into_iter().chain([issuer.issuer.as_str()]);
            self.addresses.extend(urls.map(|url| format!("[[serve.issuer]]: {}", clean_line(url))));
        }
        self.variables.extend(config.serve.tokens.iter().map(|token| token.env.clone()));
        self.placeholders(config.serve.proxy.iter().filter_map(|proxy| proxy.secret.as_deref()));
        self.placeholders(state.into_iter());
    }

    fn servers(&mut self, workspace: &Workspace) {
        let live = workspace.config.sources.iter().filter_map(|source| source.mcp.as_ref());
        for server in live {
            self.server("a [[source]]", server, &workspace.root);
        }
        for (name, server) in &workspace.config.servers {
            self.server(&format!("[server.{}]", clean_line(name)), server, &workspace.root);
        }
    }

    fn server(&mut self, who: &str, server: &Server, root: &Path) {
        self.addresses.extend(server.url.iter().map(|url| format!("{who}: {}", clean_line(url))));
        let folder = server.cwd.as_ref().map_or_else(|| root.to_path_buf(), |cwd| root.join(cwd));
        self.command(who, &server.command, &[root, &folder]);
        self.placeholders(server.env.values().chain(server.headers.values()).map(String::as_str));
        if let Some(auth) = &server.auth {
            let addresses = [&auth.token_url, &auth.issuer].into_iter().flatten();
            self.addresses.extend(addresses.map(|url| format!("tokens of {who}: {}", clean_line(url))));
            self.placeholders(auth.client_secret.iter().map(String::as_str));
        }
    }

    fn backend(&mut self, who: &str, backend: Option<&Backend>, root: &Path) {
        let Some(Backend::Command(command)) = backend else { return };
        self.command(who, &command.argv, &[root]);
        self.placeholders(command.env.values().map(String::as_str));
    }

    /// A command, and each file that it names: the script decides the effect of `python server.py`.
    fn command(&mut self, who: &str, argv: &[String], folders: &[&Path]) {
        if argv.is_empty() {
            return;
        }
        self.commands.push(format!("{who}: {}", clean_line(&argv.join(" "))));
        for folder in folders {
            // `--config=./file` names a file, too.
            let values = argv.iter().filter_map(|argument| Some(argument.split_once('=')?.1));
            let named = argv.iter().map(String::as_str).chain(values);
            let relative = named.filter(|argument| Path::new(argument).is_relative());
            self.files.extend(relative.map(|argument| folder.join(argument)).filter(|path| path.is_file()));
        }
    }

    fn placeholders<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        let Some(variable) = VARIABLE.as_ref() else { return };
        for value in values {
            self.variables.extend(variable.captures_iter(value).map(|found| found[1].to_string()));
        }
    }
}

/// The definitions below sources with `trust = "run"`.
fn trusted_definitions(workspace: &Workspace) -> Loaded {
    let trusted = |source: &&Source| {
        (source.trust == Trust::Run || source.base_url_from.is_some())
            && source.mcp.is_none()
            && !source.path.is_empty()
    };
    let sources: Vec<Source> = workspace.config.sources.iter().filter(trusted).cloned().collect();
    if sources.is_empty() {
        return Loaded::default();
    }
    let config = Config { sources, ..Config::default() };
    let workspace = Workspace { root: workspace.root.clone(), config, ..Workspace::default() };
    load(&workspace, &Listings::default(), &Limits::default())
}

fn hash_of(file: &Path) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let read = File::open(file).and_then(|mut file| io::copy(&mut file, &mut hasher));
    // An unreadable file differs from an empty one.
    if read.is_err() {
        hasher.update(b"\0unreadable\0");
    }
    hasher.finalize()
}

fn hash_of_parts(parts: &BTreeMap<String, blake3::Hash>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"toolcrib trust 1\n");
    for (name, hash) in parts {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(hash.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
