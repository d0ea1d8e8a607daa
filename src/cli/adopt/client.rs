//! The clients whose configurations are known by name, and the places of their files.

use std::path::{Path, PathBuf};

use strum::{IntoStaticStr, VariantArray};

use crate::cli::folders::{home, user_folder};
use crate::cli::io::Io;

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Client {
    ClaudeDesktop,
    Cursor,
    Vscode,
    ClaudeCode,
    Codex,
    Gemini,
    Windsurf,
    Zed,
    Opencode,
    CopilotCli,
    Kiro,
    Cline,
    Goose,
    Roo,
}

impl Client {
    /// The client with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|client| client.name() == name)
    }

    /// The client whose own configuration is this file.
    pub(super) fn of_file(io: &Io, file: &Path) -> Option<Self> {
        let is_own = |own: &PathBuf| own.canonicalize().is_ok_and(|own| own == file);
        Self::VARIANTS.iter().copied().find(|client| client.files(io).iter().any(is_own))
    }

    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// The name that people know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Opencode => "opencode",
            Self::CopilotCli => "Copilot CLI",
            Self::Kiro => "Kiro",
            Self::Cline => "Cline",
            Self::Goose => "Goose",
            Self::Roo => "Roo Code",
        }
    }

    /// The places of its user's configuration, the usual one first.
    pub(super) fn files(self, io: &Io) -> Vec<PathBuf> {
        let home = |path: &str| home(io).map(|home| home.join(path));
        let of_applications = |path: &str| applications(io).map(|folder| folder.join(path));
        let files = match self {
            Self::ClaudeDesktop => vec![of_applications("Claude/claude_desktop_config.json")],
            Self::Cursor => vec![home(".cursor/mcp.json")],
            Self::Vscode => vec![
                of_applications("Code/User/mcp.json"),
                of_applications("Code/User/settings.json"),
                of_applications("Code - Insiders/User/mcp.json"),
                of_applications("VSCodium/User/mcp.json"),
            ],
            Self::ClaudeCode => vec![home(".claude.json")],
            Self::Codex => {
                vec![
                    io.path_variable("CODEX_HOME")
                        .map(|own| own.join("config.toml"))
                        .or(home(".codex/config.toml")),
                ]
            }
            Self::Gemini => vec![home(".gemini/settings.json")],
            Self::Windsurf => vec![home(".codeium/windsurf/mcp_config.json")],
            Self::Zed if cfg!(windows) => vec![of_applications("Zed/settings.json")],
            Self::Zed => vec![user_folder(io, "XDG_CONFIG_HOME", ".config", "zed/settings.json")],
            Self::Opencode => ["opencode/opencode.json", "opencode/opencode.jsonc"]
                .map(|path| user_folder(io, "XDG_CONFIG_HOME", ".config", path))
                .to_vec(),
            Self::CopilotCli => vec![home(".copilot/mcp-config.json")],
            Self::Kiro => vec![home(".kiro/settings/mcp.json")],
            Self::Cline => vec![of_applications(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            )],
            Self::Goose if cfg!(windows) => vec![of_applications("Block/goose/config/config.yaml")],
            Self::Goose => vec![user_folder(io, "XDG_CONFIG_HOME", ".config", "goose/config.yaml")],
            Self::Roo => ["mcp_settings.json", "cline_mcp_settings.json"]
                .map(|name| {
                    let folder = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings";
                    of_applications(&format!("{folder}/{name}"))
                })
                .to_vec(),
        };
        files.into_iter().flatten().collect()
    }
}

/// The folder in which applications keep their settings.
fn applications(io: &Io) -> Option<PathBuf> {
    if cfg!(windows) {
        return io.path_variable("APPDATA");
    }
    if cfg!(target_os = "macos") {
        return home(io).map(|home| home.join("Library/Application Support"));
    }
    user_folder(io, "XDG_CONFIG_HOME", ".config", "")
}
