//! The name of a live server where others have the name of a file: `mcp:NAME`.

const LIVE: &str = "mcp:";

/// What findings and places call a live server.
pub fn live_name(server: &str) -> String {
    format!("{LIVE}{server}")
}

/// The live server that a file is the list of.
pub fn live_server(file: &str) -> Option<&str> {
    file.strip_prefix(LIVE)
}
