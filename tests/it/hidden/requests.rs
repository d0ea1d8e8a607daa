//! Requests over every transport that could reveal a hidden tool.

use serde_json::{Value, json};
use toolcrib::functions::Function;

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Sent with POST where there is one.
    pub body: Option<Value>,
}

impl Asked {
    pub fn get(path: &str) -> Self {
        Self { path: path.into(), headers: Vec::new(), body: None }
    }

    fn post(path: &str, body: Value) -> Self {
        Self { body: Some(body), ..Self::get(path) }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same below this path.
    pub fn below(&self, root: &str) -> Self {
        Self { path: format!("{root}{}", self.path), ..self.clone() }
    }

    /// The same in another session, if it is in one, and with another key.
    pub fn in_session(mut self, name: &str) -> Self {
        for (header, value) in &mut self.headers {
            if header == "x-session-id" {
                *value = format!("a-session-of-{name}");
            }
        }
        self
    }

    /// Whether the answer may be another one where the catalog's own tools are listed.
    pub fn depends_on_mode(&self) -> bool {
        self.path == "/v1"
            || self.path.starts_with("/v1/tools/")
            || self.is_mcp_list()
            || self.is_call_by_name()
    }

    fn is_mcp_list(&self) -> bool {
        self.method().is_some_and(|method| method != "tools/call" && method != "resources/read")
    }

    fn is_call_by_name(&self) -> bool {
        let name = || self.body.as_ref()?.pointer("/params/name")?.as_str();
        self.method() == Some("tools/call") && name().is_some_and(|name| Function::named(name).is_none())
    }

    fn method(&self) -> Option<&str> {
        self.body.as_ref()?.get("method")?.as_str()
    }

    /// Whether the answer depends on what its session has seen, or on how much was asked before.
    pub fn is_of_session(&self) -> bool {
        self.path == "/metrics" || self.headers.iter().any(|(name, _)| name == "x-session-id")
    }
}

/// A call of a function over HTTP, in a session and outside of one, and over MCP.
fn call(function: &str, arguments: &Value) -> Vec<Asked> {
    let path = format!("/v1/{function}");
    vec![
        Asked::post(&path, arguments.clone()),
        Asked::post(&path, arguments.clone()).with("x-session-id", "a-session"),
        mcp("tools/call", json!({"name": function, "arguments": arguments})),
    ]
}

fn mcp(method: &str, params: Value) -> Asked {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let asked = Asked::post("/mcp", body).with("accept", "application/json, text/event-stream");
    if method == "initialize" { asked } else { asked.with("mcp-protocol-version", "2025-11-25") }
}

/// Requests about tools that are visible, and about what is not.
pub fn about(visible: &[&str], hidden: &[&str]) -> Vec<Asked> {
    let mut asked = Vec::new();
    let pages = [
        "/",
        "/index.html",
        "/findings.html",
        "/search.html",
        "/search.html?q=vault+secret",
        "/search-index.js",
        "/nothing.html",
        "/tools/",
        "/tools/README.md",
        "/registry.json",
        "/llms.txt",
        "/openapi.json",
        "/sitemap.xml",
        "/skill.md",
        "/.well-known/llms.txt",
        "/.well-known/agent-skills/index.json",
        "/.well-known/agent-skills/vault/SKILL.md",
        "/.well-known/skills/people/SKILL.md",
        "/mcp/server-card",
        "/v1",
        "/readyz",
        "/readyz?verbose",
        "/healthz",
        "/profiles/core.html",
        "/categories/vault.html",
        "/categories/people.html",
        "/tools/categories/vault.md",
    ];
    for page in pages {
        for accept in ["text/html", "application/json"] {
            asked.push(Asked::get(page).with("accept", accept));
        }
        asked.push(Asked::get(page).with("accept-encoding", "gzip"));
    }
    for name in visible.iter().chain(hidden) {
        let paths = [
            format!("/tools/{name}"),
            format!("/tools/{name}.md"),
            format!("/tools/{name}.html"),
            format!("/payloads/{name}.json"),
        ];
        for path in paths {
            for accept in ["*/*", "text/html", "application/json"] {
                asked.push(Asked::get(&path).with("accept", accept));
            }
        }
        let near = format!("{name}x");
        for name in [name, near.as_str()] {
            asked.extend(call("read_tool_doc", &json!({"name": name})));
            asked.extend(call("read_tool_doc", &json!({"names": ["get_user", name]})));
            asked.extend(call("expand_tool", &json!({"tool_id": name})));
            asked.extend(call("tool_help", &json!({"path": name})));
            asked.extend(call("tool_exec", &json!({"op": name, "args": {"id": 7}})));
            asked.extend(call("call_tool", &json!({"tool_id": name, "arguments": {"id": "x"}})));
            asked.push(Asked::post(&format!("/v1/tools/{name}"), json!({"id": "x"})));
            asked.push(mcp("tools/call", json!({"name": name, "arguments": {"id": "x"}})));
            asked.push(mcp("resources/read", json!({"uri": format!("toolcrib://tools/{name}.md")})));
        }
        let words = name.replace(['_', '.', '-', '/'], " ");
        asked.extend(call("tool_search", &json!({"query": words, "limit": 50, "format": "json"})));
        asked.extend(call("search_nodes", &json!({"query": words})));
        asked.extend(call("search_tool_by_category", &json!({"query": words, "limit": 50})));
        asked.extend(call("list", &json!({"path": [name]})));
        asked.extend(call("list", &json!({"query": words, "limit": 50})));
        asked.extend(call("pick", &json!({"input": words, "debug": true})));
    }
    for path in [json!([]), json!(["People"]), json!(["Vault"]), json!(["Vault", "Secrets"]), json!(["Valt"])]
    {
        asked.extend(call("list", &json!({"path": path, "limit": 1})));
        asked.extend(call(
            "tool_help",
            &json!({"path": path.as_array().and_then(|path| path.first()).unwrap_or(&json!("root"))}),
        ));
    }
    for tags in [["vault"], ["sealed"]] {
        asked.extend(call("list", &json!({"tags": tags})));
    }
    asked.extend(call(
        "tool_batch",
        &json!({"steps": [{"op": "people.get_user", "args": {"id": "a"}}, {"op": "vault.person"}]}),
    ));
    let key = json!({"op": "people.rename_user", "args": {"id": "a"}, "idempotency_key": "key-1"});
    asked.extend([call("tool_exec", &key), call("tool_exec", &key)].concat());
    let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    asked.push(mcp("initialize", begun));
    for method in
        ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover"]
    {
        asked.push(mcp(method, json!({})));
    }
    for typed in ["g", "Get_", "read", "vault", "list_s"] {
        let of = json!({"type": "ref/resource", "uri": "toolcrib://tools/{name}.md"});
        asked.push(mcp(
            "completion/complete",
            json!({"ref": of, "argument": {"name": "name", "value": typed}}),
        ));
    }
    asked
}

/// The data that the server keeps after these requests.
pub fn afterwards() -> Vec<Asked> {
    ["/metrics", "/sessions/a-session/events.jsonl"].map(Asked::get).into()
}
