//! Settings of the server: address, names, tokens, limits; issuers of tokens that callers may show, and the rights that scopes and
//! claims give; a proxy in front that signs people in.

use std::net::IpAddr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use toolcrib_definition::Effect;

/// Settings of the server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Serve {
    /// The address to listen on; 127.0.0.1:7878 by default.
    pub listen: Option<String>,
    /// Host names under which the server is reached, beside its address.
    pub public_hosts: Vec<String>,
    /// The profiles that a request may choose by its path, beside the one of `--profile`; `*` is every profile. When
    /// absent, every one without `--profile`, and no other with it.
    pub profiles: Option<Vec<String>>,
    /// The address under which callers reach the server, without a path; the one that it listens on when absent. The tokens
    /// of an issuer are for an endpoint below it.
    pub public_url: Option<String>,
    /// Tokens of callers who may come in; without any, an issuer and a proxy, everybody may.
    #[serde(rename = "token")]
    pub tokens: Vec<ServeToken>,
    /// Issuers whose tokens callers may show.
    #[serde(rename = "issuer")]
    pub issuers: Vec<ServeIssuer>,
    /// A proxy in front that names people.
    pub proxy: Option<ServeProxy>,
    /// The functions that the tool list of an MCP client holds.
    pub tool_list: Option<ToolList>,
    /// The tool list of an MCP client: functions of toolcrib, or the catalog's own tools.
    pub mode: ServeMode,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes, so that a client can ask a
    /// person about the second.
    pub split_exec: bool,
    /// Limits of requests, connections and times.
    pub limits: ServeLimits,
}

/// The tool list of an MCP client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ServeMode {
    /// The one on which a whole task is estimated to cost least, by the catalog at the start of the server: `full`, `hybrid` or `gateway`.
    #[default]
    Auto,
    /// Functions of toolcrib, and the catalog's full tools.
    Gateway,
    /// The catalog's tools, with the deferred ones in short form, and the functions that read their docs.
    Hybrid,
    /// The catalog's tools.
    Full,
}

/// The functions that a tool list holds. Every function can be called, whether it is listed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ToolList {
    /// Search, help, calls and batches.
    #[default]
    Gateway,
    /// The discovery protocol, and docs.
    Discovery,
    /// Every function.
    All,
}

/// A bearer token. The token itself is in the environment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["env"]))]
pub struct ServeToken {
    /// The environment variable that holds it.
    pub env: String,
    /// The name of the caller in traces; the variable's name when absent.
    pub name: Option<String>,
    /// The strongest effect of its calls, where it is less than `[exec] allow`.
    pub allow: Option<Effect>,
    /// The roles of the caller: tools with `allowed_roles` are there for these roles only. `*` is every role, and
    /// also lets the caller read the findings of the catalog.
    pub roles: Vec<String>,
    /// The profiles that the caller may use, the first one for requests that choose none; every one when empty.
    pub profiles: Vec<String>,
}

/// Limits of requests, connections and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServeLimits {
    /// The longest body of a request, in bytes.
    #[schemars(range(min = 1))]
    pub body_bytes: usize,
    /// Most connections at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: usize,
    /// Most calls of functions at once.
    #[schemars(range(min = 1))]
    pub calls: usize,
    /// Seconds that a client may take: between two requests, to send a head, to send a body, and to read any part of
    /// an answer.
    #[schemars(range(min = 1, max = 86_400))]
    pub client_seconds: u64,
    /// Seconds that a function may take, unless it runs tools.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: u64,
    /// Seconds to finish the requests in progress after the signal to stop.
    #[schemars(range(min = 0, max = 86_400))]
    pub stop_seconds: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            connections: 1024,
            calls: 64,
            client_seconds: 30,
            call_seconds: 30,
            stop_seconds: 10,
        }
    }
}

impl ServeLimits {
    /// Longest time between two requests, for a head or a body to arrive, and for a part of an answer to be read.
    pub fn client_time(&self) -> Duration {
        Duration::from_secs(self.client_seconds)
    }

    /// Longest time of a function that runs no tools.
    pub fn call_time(&self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// Longest time until an answer begins, unless tools are run for it.
    pub fn answer_time(&self) -> Duration {
        self.client_time() + self.call_time()
    }
}

/// An issuer of tokens: an authorization server or identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["issuer"]))]
pub struct ServeIssuer {
    /// Its name, exactly as the claim `iss` of its tokens has it: an address.
    pub issuer: String,
    /// Its public keys: a file with a JWK set, relative to the configuration, or an address. When absent, the address that
    /// its metadata names.
    pub jwks: Option<String>,
    /// The audiences that its tokens may have, in place of the exact address of the resource.
    pub audience: Vec<String>,
    /// The claim that names the caller.
    pub name: String,
    /// The claim that names the tenant of the caller; its tokens must have it then.
    pub tenant: Option<String>,
    /// Rights of tokens by scopes and claims. Without any, each valid token has the rights of a caller without roles; with
    /// some, a token that none is for is refused.
    #[serde(rename = "grant")]
    pub grants: Vec<IssuerGrant>,
}

/// The rights of tokens with a scope, or with a value of a claim. A token has the rights of all its grants together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct IssuerGrant {
    /// The scope.
    pub scope: Option<String>,
    /// The claim, by its name, or by a JSON pointer such as `/realm_access/roles`.
    pub claim: Option<String>,
    /// The value of the claim, or one of its values.
    pub value: Option<String>,
    /// The roles that it gives.
    pub roles: Vec<String>,
    /// The profiles that it gives; `*` is every profile. A token whose grants name no profile has every one.
    pub profiles: Vec<String>,
    /// The strongest effect that it gives, within `[exec] allow`; `read` when absent.
    pub allow: Option<Effect>,
}

impl Default for ServeIssuer {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            jwks: None,
            audience: Vec::new(),
            name: "sub".into(),
            tenant: None,
            grants: Vec::new(),
        }
    }
}

impl ServeIssuer {
    /// The address of its keys, where `jwks` is one.
    pub fn jwks_url(&self) -> Option<&str> {
        self.jwks.as_deref().filter(|place| place.contains("://"))
    }

    /// The first mistake in these settings, with its field; `None` without a mistake.
    pub(super) fn problem(&self) -> Option<(String, &'static str)> {
        let addresses = [("issuer", Some(self.issuer.as_str())), ("jwks", self.jwks_url())];
        let mut addresses = addresses.into_iter();
        if let Some((field, _)) = addresses.find(|(_, url)| url.is_some_and(|url| !is_safe_address(url))) {
            return Some((field.into(), "this should be an https address, or an http one of this machine"));
        }
        if self.issuer.contains(['?', '#']) {
            return Some(("issuer".into(), "an issuer has no query and no fragment"));
        }
        let wrong = self.grants.iter().position(|grant| grant.is_ambiguous());
        wrong.map(|place| (format!("grant/{place}"), "a grant has a `scope`, or a `claim` and its `value`"))
    }
}

impl IssuerGrant {
    fn is_ambiguous(&self) -> bool {
        !matches!((&self.scope, &self.claim, &self.value), (Some(_), None, None) | (None, Some(_), Some(_)))
    }
}

/// Whether nobody on the way can read or change the messages to this address.
pub fn is_safe_address(url: &str) -> bool {
    let rest = match url.strip_prefix("https://") {
        Some(rest) => return !rest.is_empty() && !rest.starts_with('/') && !has_user(rest),
        None => url.strip_prefix("http://").unwrap_or_default(),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_loopback = || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    !has_user(rest) && (host == "localhost" || is_loopback())
}

fn has_user(rest: &str) -> bool {
    rest.split('/').next().unwrap_or_default().contains('@')
}

/// The mistake in `public_url`: it is an origin, below which all endpoints are.
pub(super) fn public_url_problem(url: &str) -> Option<&'static str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_origin = rest.is_some_and(|rest| {
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        !authority.is_empty() && !authority.contains(['/', '?', '#', '@', ' '])
    });
    (!is_origin).then_some("this should be an address without a path, such as https://tools.example.com")
}

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
        if let Some(bad) = self.addresses.iter().position(|text| Network::parse(text).is_none()) {
            return Some((
                format!("addresses/{bad}"),
                "this should be an IP address, or a network such as 10.1.0.0/16",
            ));
        }
        let is_known = !self.addresses.is_empty() || self.secret.is_some();
        (!is_known).then_some((
            "addresses".into(),
            "set `addresses` or `secret`, so that nobody else can name a person",
        ))
    }
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Reads an address, or an address with the number of its fixed bits behind a slash.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.trim().parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
        (bits <= most).then_some(Self { address, bits })
    }

    /// Whether an address is one of them.
    pub fn has(&self, address: IpAddr) -> bool {
        let is_same = |differs: u128, most: u32| self.bits == 0 || differs >> (most - self.bits) == 0;
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => is_same(u128::from(own.to_bits() ^ other.to_bits()), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => is_same(own.to_bits() ^ other.to_bits(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        let good =
            ["https://login.example.com/", "http://127.0.0.1:8080/a", "http://localhost", "http://[::1]:9/x"];
        for url in good {
            assert!(is_safe_address(url), "{url}");
        }
        let bad = [
            "http://login.example.com/",
            "http://localhost.evil.example/",
            "ftp://localhost/",
            "",
            "https://",
            "http://127.0.0.1@evil.example/",
            "https://user:pw@login.example.com/",
            "login.example.com",
        ];
        for url in bad {
            assert!(!is_safe_address(url), "{url}");
        }
    }

    #[test]
    fn the_public_url_is_an_origin() {
        assert_eq!(public_url_problem("https://tools.example.com"), None);
        assert_eq!(public_url_problem("http://127.0.0.1:7878/"), None);
        for bad in ["tools.example.com", "https://", "https://a/b", "https://a?b", "https://u@a"] {
            assert!(public_url_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_grant_is_for_a_scope_or_a_claim() {
        let issuer = |grant: IssuerGrant| ServeIssuer {
            issuer: "https://login.example.com".into(),
            grants: vec![grant],
            ..ServeIssuer::default()
        };
        let scope = IssuerGrant { scope: Some("a".into()), ..IssuerGrant::default() };
        assert_eq!(issuer(scope.clone()).problem(), None);
        let both = IssuerGrant { claim: Some("groups".into()), ..scope };
        for wrong in [both, IssuerGrant::default()] {
            assert_eq!(issuer(wrong).problem().unwrap().0, "grant/0");
        }
    }

    #[test]
    fn a_network_has_the_addresses_with_its_bits() {
        let has =
            |network: &str, address: &str| Network::parse(network).unwrap().has(address.parse().unwrap());
        assert!(has("10.1.0.0/16", "10.1.255.7") && !has("10.1.0.0/16", "10.2.0.1"));
        assert!(has("127.0.0.1", "127.0.0.1") && !has("127.0.0.1", "127.0.0.2"));
        assert!(has("0.0.0.0/0", "8.8.8.8") && !has("0.0.0.0/0", "::1"));
        assert!(has("fd00::/8", "fd12::1") && !has("fd00::/8", "fe80::1") && has("::/0", "::1"));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "proxy", "10.0.0.1/-1"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

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
