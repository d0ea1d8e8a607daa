//! The formats in which clients write their servers.

/// A format: the place of the servers in a file, and what their entries have besides a program.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientFormat {
    /// Pointers to the servers, the usual one first.
    pub servers: &'static [&'static str],
    /// The field that an entry with a program needs, and its value.
    pub kind: Option<(&'static str, &'static str)>,
    /// Whether `command` is a list, with the arguments behind the program.
    pub lists_command: bool,
    /// Whether only clients have such a table: by it, a file with a syntax error is recognized.
    pub(super) is_telling: bool,
    /// Whether there are entries that are a part of the client.
    pub(super) has_builtins: bool,
    /// Whether timeouts are in seconds.
    pub(super) counts_seconds: bool,
}

/// `mcpServers` in JSON.
pub(super) const MCP_SERVERS: ClientFormat =
    ClientFormat { servers: &["/mcpServers"], is_telling: true, ..PLAIN };
/// `servers`, also below `mcp`, in JSON with comments.
pub(super) const VS_CODE: ClientFormat =
    ClientFormat { servers: &["/servers", "/mcp/servers"], kind: Some(("type", "stdio")), ..PLAIN };
/// `context_servers` in JSON with comments.
pub(super) const ZED: ClientFormat = ClientFormat {
    servers: &["/context_servers"],
    kind: Some(("source", "custom")),
    is_telling: true,
    counts_seconds: true,
    ..PLAIN
};
/// `mcp_servers` in TOML.
pub(super) const CODEX: ClientFormat = ClientFormat { servers: &["/mcp_servers"], is_telling: true, ..PLAIN };
/// `mcp` in JSON with comments.
pub(super) const OPENCODE: ClientFormat =
    ClientFormat { servers: &["/mcp"], kind: Some(("type", "local")), lists_command: true, ..PLAIN };
/// `extensions` in YAML.
pub(super) const GOOSE: ClientFormat =
    ClientFormat { servers: &["/extensions"], has_builtins: true, counts_seconds: true, ..PLAIN };

const PLAIN: ClientFormat = ClientFormat {
    servers: &[],
    kind: None,
    lists_command: false,
    is_telling: false,
    has_builtins: false,
    counts_seconds: false,
};

/// The formats, in the order in which a file is searched for their servers.
const FORMATS: [&ClientFormat; 6] = [&MCP_SERVERS, &VS_CODE, &ZED, &CODEX, &OPENCODE, &GOOSE];

/// Keys of the times that a client waits for a server.
pub const TIMEOUT_KEYS: [&str; 4] =
    ["timeout", "tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms"];

/// The pointers to servers, each with its format.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, &'static ClientFormat)> {
    FORMATS.into_iter().flat_map(|format| format.servers.iter().map(move |table| (*table, format)))
}

/// The format of the servers at a pointer.
pub fn format_of_table(pointer: &str) -> Option<&'static ClientFormat> {
    if pointer.is_empty() {
        return Some(&MCP_SERVERS);
    }
    tables().find(|(table, _)| *table == pointer).map(|(_, format)| format)
}
