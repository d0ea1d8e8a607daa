//! The clients that toolcrib knows, one row each: the places of their files, the format of the servers in them, and the
//! settings beside them.

use super::format::{CODEX, ClientFormat, GOOSE, MCP_SERVERS, OPENCODE, VS_CODE, ZED};

#[derive(Debug)]
pub struct Client {
    /// Its name on the command line.
    pub name: &'static str,
    /// The name that people know.
    pub title: &'static str,
    /// The places of its user's file, the usual one first.
    pub files: &'static [ClientPlace],
    /// The format of its servers.
    pub format: &'static ClientFormat,
    /// The folder in which a project keeps its file; `${workspaceFolder}` is the folder around it.
    pub(super) project_folder: Option<&'static str>,
    /// The file of a project that has no such folder.
    pub(super) project_file: Option<&'static str>,
    /// Its files with rules for servers and tools, next to a file of a project or of its user.
    pub(super) settings: &'static [ClientPlace],
    /// Whether it counts timeouts in seconds, which others of its format do not.
    pub(super) counts_seconds: bool,
    /// Whether it keeps a long list of tools out of the prompt, and looks tools up.
    pub defers: bool,
}

/// The place of a client's file.
#[derive(Clone, Copy, Debug)]
pub enum ClientPlace {
    /// Below the user's home.
    Home(&'static str),
    /// Below the folder in which applications keep their settings.
    Applications(&'static str),
    /// Below the folder that an environment variable names, which otherwise has this place below the home.
    Variable(&'static str, &'static str, &'static str),
    /// Below the folder of another file of the client.
    Beside(&'static str),
}

use ClientPlace::{Applications, Beside, Home, Variable};

impl ClientPlace {
    /// The path below its folder.
    pub(super) fn path(self) -> &'static str {
        match self {
            Home(path) | Applications(path) | Beside(path) | Variable(_, _, path) => path,
        }
    }
}

/// A path below the folder for the configuration of programs.
const fn config(path: &'static str) -> ClientPlace {
    Variable("XDG_CONFIG_HOME", ".config", path)
}

/// A path below the folder of applications on Windows, and elsewhere another below that for configuration.
const fn on_windows(windows: &'static str, elsewhere: &'static str) -> ClientPlace {
    if cfg!(windows) { Applications(windows) } else { config(elsewhere) }
}

/// The clients, in the order in which `adopt --all` looks for them.
#[rustfmt::skip]
pub const CLIENTS: [Client; 14] = [
    Client { name: "claude-desktop", title: "Claude Desktop", files: &[Applications("Claude/claude_desktop_config.json")], ..ROW },
    Client { name: "cursor", title: "Cursor", files: &[Home(".cursor/mcp.json")], project_folder: Some(".cursor"), ..ROW },
    Client { name: "vscode", title: "VS Code", files: &VS_CODE_FILES, format: &VS_CODE, project_folder: Some(".vscode"), ..ROW },
    Client { name: "claude-code", title: "Claude Code", files: &[Home(".claude.json")], project_file: Some(".mcp.json"), settings: &CLAUDE_SETTINGS, defers: true, ..ROW },
    Client { name: "codex", title: "Codex", files: &[Variable("CODEX_HOME", ".codex", "config.toml")], format: &CODEX, project_folder: Some(".codex"), ..ROW },
    Client { name: "gemini", title: "Gemini CLI", files: &[Home(".gemini/settings.json")], project_folder: Some(".gemini"), ..ROW },
    Client { name: "windsurf", title: "Windsurf", files: &[Home(".codeium/windsurf/mcp_config.json")], project_folder: Some(".windsurf"), ..ROW },
    Client { name: "zed", title: "Zed", files: &[on_windows("Zed/settings.json", "zed/settings.json")], format: &ZED, project_folder: Some(".zed"), ..ROW },
    Client { name: "opencode", title: "opencode", files: &[config("opencode/opencode.json"), config("opencode/opencode.jsonc")], format: &OPENCODE, ..ROW },
    Client { name: "copilot-cli", title: "Copilot CLI", files: &[Home(".copilot/mcp-config.json")], ..ROW },
    Client { name: "kiro", title: "Kiro", files: &[Home(".kiro/settings/mcp.json")], project_folder: Some(".kiro"), ..ROW },
    Client { name: "cline", title: "Cline", files: &[Applications("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")], counts_seconds: true, ..ROW },
    Client { name: "goose", title: "Goose", files: &[on_windows("Block/goose/config/config.yaml", "goose/config.yaml")], format: &GOOSE, settings: &[Beside("permission.yaml")], ..ROW },
    Client { name: "roo", title: "Roo Code", files: &ROO_FILES, project_folder: Some(".roo"), counts_seconds: true, ..ROW },
];
const VS_CODE_FILES: [ClientPlace; 4] = [
    Applications("Code/User/mcp.json"),
    Applications("Code/User/settings.json"),
    Applications("Code - Insiders/User/mcp.json"),
    Applications("VSCodium/User/mcp.json"),
];
const CLAUDE_SETTINGS: [ClientPlace; 4] = [
    Beside(".claude/settings.json"),
    Beside(".claude/settings.local.json"),
    Home(".claude/settings.json"),
    Home(".claude.json"),
];
const ROO_FILES: [ClientPlace; 2] = [
    Applications("Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    Applications("Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/cline_mcp_settings.json"),
];
const ROW: Client = Client {
    name: "",
    title: "",
    files: &[],
    format: &MCP_SERVERS,
    project_folder: None,
    project_file: None,
    settings: &[],
    counts_seconds: false,
    defers: false,
};

impl Client {
    /// The client with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// The client whose files alone have this name.
    pub fn of_file(name: &str) -> Option<&'static Self> {
        let mut named = CLIENTS.iter().filter(|client| client.has_file(name));
        let first = named.next()?;
        named.next().is_none().then_some(first)
    }

    /// Whether a file of this client, for its user or a project, has this name.
    pub(super) fn has_file(&self, name: &str) -> bool {
        let is_named = |file: &ClientPlace| file.path().rsplit('/').next() == Some(name);
        self.project_file == Some(name) || self.files.iter().any(is_named)
    }
}
