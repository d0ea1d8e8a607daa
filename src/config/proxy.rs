//! Settings of a proxy in front that signs people in.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The first mistake in these settings, with its field; `None` when there is none.
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
