//! The address of the API, as its document names it.

use serde_json::Value;

/// The first absolute address: of `servers`, with the default values of its variables, or of Swagger's `host`.
pub(super) fn of(root: &Value) -> Option<String> {
    let base = servers(root).or_else(|| swagger(root))?;
    let is_web = base.starts_with("https://") || base.starts_with("http://");
    (is_web && !base.contains(['{', '}', '$'])).then(|| base.trim_end_matches('/').to_string())
}

fn servers(root: &Value) -> Option<String> {
    let server = root.get("servers")?.get(0)?;
    let mut base = server.get("url")?.as_str()?.to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(usual) = variable.get("default").and_then(Value::as_str) {
            base = base.replace(&format!("{{{name}}}"), usual);
        }
    }
    Some(base)
}

fn swagger(root: &Value) -> Option<String> {
    let host = root.get("host")?.as_str()?;
    let schemes = root.get("schemes").and_then(Value::as_array).into_iter().flatten();
    let scheme = if schemes.clone().any(|scheme| scheme == "https") || schemes.count() == 0 {
        "https"
    } else {
        "http"
    };
    let path = root.get("basePath").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{scheme}://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of;

    #[test]
    fn an_address_is_absolute_and_whole() {
        let with = |server| of(&json!({ "servers": [server] }));
        let variables =
            json!({"url": "https://{region}.example.com/v1/", "variables": {"region": {"default": "eu"}}});
        assert_eq!(with(variables), Some("https://eu.example.com/v1".into()));
        for unfit in ["/v1", "https://{region}.example.com", "ftp://x", "https://x/${HOME}"] {
            assert_eq!(with(json!({ "url": unfit })), None, "{unfit}");
        }
        let swagger = json!({"host": "example.com", "basePath": "/v2", "schemes": ["http", "https"]});
        assert_eq!(of(&swagger), Some("https://example.com/v2".into()));
    }
}
