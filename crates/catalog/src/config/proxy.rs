//! A proxy in front of the server that signs people in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::network;

/// Most roles that a proxy may give: each combination has a catalog view of its own.
const MAX_ROLES: usize = 8;

/// A proxy in front that names the person of a request in a header. `addresses`, `secret` or both say which requests are its
/// own; from elsewhere, a request with these headers is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServeProxy {
    /// The header with the name of the person.
    pub user_header: String,
    /// The header with the roles of the person, separated by commas.
    pub roles_header: String,
    /// The roles that the proxy may give, at most eight; others are left out. `*` is every role.
    pub roles: Vec<String>,
    /// The addresses of the proxy, and networks such as `10.1.0.0/16`.
    pub addresses: Vec<String>,
    /// The secret that the proxy sends in `X-Proxy-Secret`; `${NAME}` stands for the environment variable `NAME`.
    pub secret: Option<String>,
}

impl Default for ServeProxy {
    fn default() -> Self {
        Self {
            user_header: "X-Forwarded-User".into(),
            roles_header: "X-Forwarded-Groups".into(),
            roles: Vec::new(),
            addresses: Vec::new(),
            secret: None,
        }
    }
}

impl ServeProxy {
    /// The first mistake in these settings, with its field; `None` without a mistake.
    pub(super) fn problem(&self) -> Option<(String, &'static str)> {
        // These have a meaning of their own, or every request has them.
        let taken = ["authorization", "cookie", "host", "x-proxy-secret", ""];
        let is_taken = |name: &str| taken.contains(&name.to_ascii_lowercase().as_str());
        if is_taken(&self.user_header) {
            return Some(("user_header".into(), "name a header that only the proxy sends"));
        }
        if is_taken(&self.roles_header) || self.roles_header.eq_ignore_ascii_case(&self.user_header) {
            return Some(("roles_header".into(), "name another header that only the proxy sends"));
        }
        if self.roles.len() > MAX_ROLES {
            return Some(("roles".into(), "a proxy gives at most eight roles"));
        }
        if let Some(bad) = self.addresses.iter().position(|text| network(text).is_none()) {
            let message = "this should be an IP address, or a network such as 10.1.0.0/16";
            return Some((format!("addresses/{bad}"), message));
        }
        let message = "set `addresses` or `secret`, so that nobody else can name a person";
        let is_known = !self.addresses.is_empty() || self.secret.is_some();
        (!is_known).then_some(("addresses".into(), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_to_be_recognized() {
        let good = ServeProxy { addresses: vec!["10.0.0.1".into()], ..ServeProxy::default() };
        assert_eq!(good.problem(), None);
        let field = |change: fn(&mut ServeProxy)| {
            let mut proxy = good.clone();
            change(&mut proxy);
            proxy.problem().unwrap().0
        };
        assert_eq!(field(|proxy| proxy.addresses.clear()), "addresses");
        assert_eq!(field(|proxy| proxy.addresses.push("x".into())), "addresses/1");
        assert_eq!(field(|proxy| proxy.user_header = "Authorization".into()), "user_header");
        assert_eq!(field(|proxy| proxy.roles_header = "x-forwarded-user".into()), "roles_header");
        assert_eq!(field(|proxy| proxy.roles = vec!["a".into(); 9]), "roles");
    }
}
