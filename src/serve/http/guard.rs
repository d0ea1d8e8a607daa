//! Is this request for us? The names that this server answers to, and the pages that may ask it to do something. This is
//! what keeps a web page that somebody has open from using a server on their machine.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, Version};

use super::problem::{Problem, ProblemCode};

/// The longest address.
const MAX_URI: usize = 8 * 1024;

/// The names that this server answers to.
#[derive(Clone, Debug)]
pub struct Hosts {
    public: HashSet<String>,
    local: bool,
    address: IpAddr,
}

impl Hosts {
    /// Those of the address listened on, and the public ones.
    pub fn new(address: SocketAddr, public: &[String]) -> Self {
        let address = address.ip();
        let public = public.iter().map(|name| name_of(name).to_ascii_lowercase()).collect();
        Self { public, local: address.is_loopback() || address.is_unspecified(), address }
    }

    /// Whether this server is called that. A name could be made to point here by anybody (DNS rebinding), an address not.
    fn has(&self, authority: &str) -> bool {
        let name = name_of(authority).to_ascii_lowercase();
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        match address {
            Ok(address) if address.is_loopback() => self.local,
            Ok(address) => {
                address == self.address || !self.address.is_loopback() || self.public.contains(&name)
            }
            Err(_) => (self.local && name == "localhost") || self.public.contains(&name),
        }
    }

    /// Refuses what is not for us.
    pub(super) fn check(&self, asked: &Parts) -> Result<(), Problem> {
        let length = asked.uri.path_and_query().map_or(0, |uri| uri.as_str().len());
        if length > MAX_URI {
            return Err(Problem::new(
                ProblemCode::UriTooLong,
                format!("an address may have {MAX_URI} bytes"),
            ));
        }
        let host = host(asked)?;
        if let Some(host) = host.filter(|host| !self.has(host)) {
            let message = format!("this server does not answer to `{}`", shown(host));
            return Err(Problem::new(ProblemCode::HostNotAllowed, message));
        }
        let changes = !matches!(asked.method, Method::GET | Method::HEAD | Method::OPTIONS);
        if changes || is_mcp(asked.uri.path()) {
            self.check_origin(&asked.headers, host)?;
        }
        Ok(())
    }

    /// Browsers say which site asks. Ours is the one under the name that was asked, and those with a public name.
    fn check_origin(&self, headers: &HeaderMap, host: Option<&str>) -> Result<(), Problem> {
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let (_, authority) = origin.split_once("://").unwrap_or_default();
            let own = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
            let is_public = self.public.contains(&name_of(authority).to_ascii_lowercase());
            if authority.is_empty() || !(own || is_public) {
                let message = format!("pages of `{}` may not use this server", shown(origin));
                return Err(Problem::new(ProblemCode::OriginNotAllowed, message));
            }
        }
        Ok(())
    }
}

fn is_mcp(path: &str) -> bool {
    path.strip_prefix("/mcp").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The host that was asked: that of the address where it has one, else of the header, of which there must be one.
fn host(asked: &Parts) -> Result<Option<&str>, Problem> {
    let mut told = asked.headers.get_all(HOST).into_iter();
    let (first, second) = (told.next(), told.next());
    let is_missing = first.is_none() && asked.version > Version::HTTP_10;
    if is_missing || second.is_some() {
        return Err(Problem::new(ProblemCode::BadRequest, "a request has one `Host`"));
    }
    let header = first.map(|host| host.to_str().unwrap_or_default());
    Ok(asked.uri.authority().map(|authority| authority.as_str()).or(header))
}

/// The name without its port.
fn name_of(authority: &str) -> &str {
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or(authority);
    }
    match authority.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

fn shown(text: &str) -> String {
    crate::tool::clean_line(&text.chars().take(80).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, public: &[&str]) -> Hosts {
        let public: Vec<String> = public.iter().map(ToString::to_string).collect();
        Hosts::new(address.parse().unwrap(), &public)
    }

    #[test]
    fn on_loopback_only_loopback_names_and_public_ones_count() {
        let hosts = hosts("127.0.0.1:7878", &["tools.example.com"]);
        for good in
            ["127.0.0.1:7878", "localhost", "LOCALHOST:1", "[::1]:7878", "127.9.9.9", "Tools.Example.com:443"]
        {
            assert!(hosts.has(good), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "localhost:80:80",
            "127.0.0.1.nip.io",
            "[::2]",
        ] {
            assert!(!hosts.has(bad), "{bad}");
        }
    }

    #[test]
    fn on_all_addresses_each_address_counts_but_no_name_that_is_not_told() {
        let hosts = hosts("0.0.0.0:7878", &[]);
        assert!(hosts.has("10.1.2.3:7878") && hosts.has("localhost") && hosts.has("[fe80::1]:7878"));
        assert!(!hosts.has("tools.example.com"));
    }
}
