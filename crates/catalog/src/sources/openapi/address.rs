//! Addresses of an API: those of `servers`, with the default values of their variables, or Swagger's `host`.

use serde_json::Value;

/// The first server's address, if absolute: from `servers`, with its variables' default values, or Swagger's `host`.
pub(super) fn base(root: &Value) -> Option<String> {
    let base = root.get("servers").and_then(first_server).or_else(|| swagger(root))?;
    is_address(&base).then_some(base)
}

/// Resolves a relative address, such as `../other`, against the document's own server.
pub(super) fn joined(base: &str, address: &str) -> Option<String> {
    if address.contains(['{', '}', '$']) || address.contains("://") {
        return None;
    }
    let origin = origin(base);
    if let Some(rest) = address.strip_prefix("//") {
        return Some(format!("{}://{rest}", origin.split(':').next()?));
    }
    let folder = base[origin.len()..].rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if address.starts_with('/') { "" } else { folder };
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(address.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    Some([origin.as_str()].into_iter().chain(steps).collect::<Vec<_>>().join("/"))
}

/// Whether an address is absolute and without variables.
pub(in super::super) fn is_address(base: &str) -> bool {
    let is_web = base.starts_with("https://") || base.starts_with("http://");
    is_web && !base.contains(['{', '}', '$'])
}

/// Scheme and host of an address.
pub(in super::super) fn origin(address: &str) -> String {
    let end = address.match_indices('/').nth(2).map_or(address.len(), |(end, _)| end);
    address[..end].to_ascii_lowercase()
}

/// The address of the first server of a list, with the default values of its variables.
pub(super) fn first_server(servers: &Value) -> Option<String> {
    let server = servers.get(0)?;
    let mut base = server.get("url")?.as_str()?.to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let usual = match variable.get("default") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        base = base.replace(&format!("{{{name}}}"), &usual);
    }
    Some(base.trim_end_matches('/').to_string())
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
    Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::base;

    #[test]
    fn an_address_is_absolute_and_whole() {
        let with = |server| base(&json!({ "servers": [server] }));
        let variables =
            json!({"url": "https://{region}.example.com/v1/", "variables": {"region": {"default": "eu"}}});
        assert_eq!(with(variables), Some("https://eu.example.com/v1".into()));
        for unfit in ["/v1", "https://{region}.example.com", "ftp://x", "https://x/${HOME}"] {
            assert_eq!(with(json!({ "url": unfit })), None, "{unfit}");
        }
        let swagger = json!({"host": "example.com", "basePath": "/v2", "schemes": ["http", "https"]});
        assert_eq!(base(&swagger), Some("https://example.com/v2".into()));
    }
}
