//! The clients whose configurations are known by name, and the places of their files.

use std::path::{Path, PathBuf};

use strum::{IntoStaticStr, VariantArray};

use crate::cli::user_folder;

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
}

impl Client {
    /// The client with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|client| client.name() == name)
    }

    /// The client whose own configuration is this file.
    pub(super) fn of_file(file: &Path) -> Option<Self> {
        let is_own = |own: &PathBuf| own.canonicalize().is_ok_and(|own| own == file);
        Self::VARIANTS.iter().copied().find(|client| client.files().iter().any(is_own))
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
        }
    }

    /// The places of its user's configuration, the usual one first.
    pub(super) fn files(self) -> Vec<PathBuf> {
        let home = |path: &str| user_folder::home().map(|home| home.join(path));
        let of_applications = |path: &str| applications().map(|folder| folder.join(path));
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
                vec![variable("CODEX_HOME").map(|own| own.join("config.toml")).or(home(".codex/config.toml"))]
            }
            Self::Gemini => vec![home(".gemini/settings.json")],
            Self::Windsurf => vec![home(".codeium/windsurf/mcp_config.json")],
            Self::Zed if cfg!(windows) => vec![of_applications("Zed/settings.json")],
            Self::Zed => vec![user_folder::user_folder("XDG_CONFIG_HOME", ".config", "zed/settings.json")],
        };
        files.into_iter().flatten().collect()
    }
}

/// The folder in which applications keep their settings.
fn applications() -> Option<PathBuf> {
    if cfg!(windows) {
        return variable("APPDATA");
    }
    if cfg!(target_os = "macos") {
        return user_folder::home().map(|home| home.join("Library/Application Support"));
    }
    user_folder::user_folder("XDG_CONFIG_HOME", ".config", "")
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
