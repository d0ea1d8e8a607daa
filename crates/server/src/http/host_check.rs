//! Checks that a request is meant for this server: its host names, and the origins of pages that may call it. So a
//! web page that somebody has open cannot use a server on their machine.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use crate::response::{Problem, ProblemCode};
use toolcrib_definition::quoted;

/// Longest `Host`, in bytes.
const MAX_URI: usize = 8 * 1024;

/// Longest host name, in bytes.
const LONGEST_NAME: usize = 255;

/// The host names of this server.
#[derive(Clone, Debug)]
pub struct Hosts {
    public: HashSet<String>,
    local: bool,
    address: IpAddr,
    port: u16,
}

impl Hosts {
    /// The names of the listening address, and the public ones.
    pub fn new(address: SocketAddr, public: &[String]) -> Self {
        let port = address.port();
        let address = address.ip();
        let public = public.iter().map(|name| match Authority::read(name) {
            Some(authority) => authority.host,
            None => name.to_ascii_lowercase(),
        });
        let public = public.collect();
        Self { public, local: address.is_loopback() || address.is_unspecified(), address, port }
    }

    /// Whether this server has that name. Anybody could make a name point here (DNS rebinding), but not an address.
    fn has(&self, host: &str) -> bool {
        match host.parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => self.local,
            Ok(address) => {
                address == self.address || !self.address.is_loopback() || self.public.contains(host)
            }
            Err(_) => (self.local && host == "localhost") || self.public.contains(host),
        }
    }

    /// Refuses a request for another host, or from another origin.
    pub(super) fn check(&self, request: &Parts, is_mcp: bool) -> Result<(), Problem> {
        let length = request.uri.path_and_query().map_or(0, |uri| uri.as_str().len());
        if length > MAX_URI {
            let message = format!("an address may have {MAX_URI} bytes");
            return Err(Problem::new(ProblemCode::UriTooLong, message));
        }
        let asked_for = asked_for(request)?;
        if !self.has(&asked_for.host) {
            let message = format!("this server does not answer to `{}`", quoted(&asked_for.host));
            return Err(Problem::new(ProblemCode::HostNotAllowed, message));
        }
        let changes = !matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS);
        if changes || is_mcp {
            self.check_origin(&request.headers, &asked_for)?;
        }
        Ok(())
    }

    /// The requested port, where the requested host is this machine itself.
    pub(super) fn loopback_port(&self, request: &Parts) -> Option<u16> {
        let Authority { host, port } = asked_for(request).ok()?;
        let is_loopback = || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        (host == "localhost" || is_loopback()).then_some(port.unwrap_or(80))
    }

    /// The scheme of a host in addresses for people: a public name is reached through a proxy with TLS.
    pub(super) fn scheme(&self, host: &str) -> &'static str {
        let is_proxied = |site: Authority| self.public.contains(&site.host) && site.port.is_none();
        if self.port != 80 && Authority::read(host).is_some_and(is_proxied) { "https" } else { "http" }
    }

    /// Browsers send the origin of a page. This server speaks http, so a page of it has that scheme, and the requested host and
    /// port. A page of a public name comes through a proxy with TLS: somebody in the network could have written its http form.
    fn check_origin(&self, headers: &HeaderMap, asked_for: &Authority) -> Result<(), Problem> {
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let is_proxied = |site: &Authority| self.public.contains(&site.host) && site.port.is_none();
            let is_ours = origin.split_once("://").is_some_and(|(scheme, site)| {
                let Some(site) = Authority::read(site) else { return false };
                match scheme {
                    "http" => site == *asked_for && (self.port == 80 || !is_proxied(&site)),
                    "https" => self.public.contains(&site.host),
                    _ => false,
                }
            });
            if !is_ours {
                let message = format!("pages of `{}` may not use this server", quoted(origin));
                return Err(Problem::new(ProblemCode::OriginNotAllowed, message));
            }
        }
        Ok(())
    }
}

/// The requested host: one `Host`, in every version, equal to the host of the address where that has one (RFC 9112,
/// 3.2). A proxy in front could otherwise have read another host.
fn asked_for(request: &Parts) -> Result<Authority, Problem> {
    let refused = |what: &str| Err(Problem::new(ProblemCode::BadRequest, what));
    let mut hosts = request.headers.get_all(HOST).into_iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return refused("a request has one `Host`") };
    let Some(host) = host.to_str().ok().and_then(Authority::read) else {
        return refused(
            "`Host` is a name or an address, and a port where it is not the usual one: `localhost:7878`",
        );
    };
    match request.uri.authority().map(|authority| Authority::read(authority.as_str())) {
        Some(other) if other.as_ref() != Some(&host) => refused("`Host` and the address name two servers"),
        _ => Ok(host),
    }
}

/// The requested host: `uri-host [":" port]` of RFC 9110, section 7.2.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    /// An address, or a name in lower case.
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads strictly: no user, no invalid port, no IPv6 address without brackets.
    fn read(text: &str) -> Option<Self> {
        let end = text.find(']').map_or_else(|| text.find(':'), |bracket| Some(bracket + 1));
        let (host, rest) = text.split_at(end.unwrap_or(text.len()));
        let host = match host.strip_prefix('[') {
            Some(inside) => inside.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?.to_string(),
            None => host_name(host)?,
        };
        let digits = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let port = if digits.is_empty() { None } else { Some(digits.parse().ok().filter(|_| is_number)?) };
        Some(Self { host, port })
    }
}

/// A name, or an IPv4 address.
fn host_name(text: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_name = !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(fits);
    is_name.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, public: &[&str]) -> Hosts {
        let public: Vec<String> = public.iter().map(ToString::to_string).collect();
        Hosts::new(address.parse().unwrap(), &public)
    }

    fn has(hosts: &Hosts, authority: &str) -> bool {
        Authority::read(authority).is_some_and(|authority| hosts.has(&authority.host))
    }

    #[test]
    fn on_loopback_only_loopback_names_and_public_ones_count() {
        let hosts = hosts("127.0.0.1:7878", &["tools.example.com", "Other.example:8443", "192.0.2.7"]);
        let good_ones = "127.0.0.1:7878 localhost LOCALHOST:1 [::1]:7878 127.9.9.9 Tools.Example.com:443 \
            other.example 192.0.2.7:80 localhost:";
        for good in good_ones.split(' ') {
            assert!(has(&hosts, good), "{good}");
        }
        let bad_ones = "evil.example localhost.evil.example 10.0.0.1 127.0.0.1.nip.io [::2] 127.1 0x7f.0.0.1 \
            2130706433 localhost.";
        for bad in bad_ones.split(' ') {
            assert!(!has(&hosts, bad), "{bad}");
        }
    }

    #[test]
    fn an_origin_is_compared_with_its_scheme() {
        let may = |listen: &str, host: &str, origin: &str| {
            let request = http::Request::post("/v1").header(HOST, host).header(ORIGIN, origin).body(());
            hosts(listen, &["tools.example.com"]).check(&request.unwrap().into_parts().0, false).is_ok()
        };
        let local = "127.0.0.1:7878";
        let all = "0.0.0.0:80";
        let public = "tools.example.com";
        assert!(may(local, local, "http://127.0.0.1:7878"));
        assert!(
            may(local, public, "https://tools.example.com") && may(local, local, "https://tools.example.com")
        );
        assert!(may(all, public, "http://tools.example.com"), "there is no proxy");
        for (host, origin) in [
            (local, "https://127.0.0.1:7878"),
            (local, "ftp://127.0.0.1:7878"),
            (local, "127.0.0.1:7878"),
            (public, "http://tools.example.com"),
            (local, "http://tools.example.com"),
            (local, "null"),
        ] {
            assert!(!may(local, host, origin), "{host} {origin}");
        }
    }

    #[test]
    fn on_all_addresses_each_address_counts_but_no_name_that_is_not_told() {
        let hosts = hosts("0.0.0.0:7878", &[]);
        assert!(has(&hosts, "10.1.2.3:7878") && has(&hosts, "localhost") && has(&hosts, "[fe80::1]:7878"));
        assert!(!has(&hosts, "tools.example.com"));
    }

    #[test]
    fn what_is_not_plainly_a_host_is_none() {
        for text in [
            "", ":80", "user@localhost", "user:pw@localhost", "localhost:80:80", "localhost:port",
            "localhost:65536", "localhost:-1", "localhost:+1", "::1", "[::1", "::1]", "[::1]x", "[::1]80",
            "[localhost]", "[127.0.0.1]", "[fe80::1%25eth0]", "[v1.x]", "local host", "localhost/",
            "localhost?x", "localhost#x", "localhost\\x", "local,host", "l%6fcalhost", "a\u{e9}b",
            "localhost ", "\tlocalhost",
        ] {
            assert_eq!(Authority::read(text), None, "{text}");
        }
        let read = Authority::read("[0:0:0:0:0:0:0:1]:7").unwrap();
        assert_eq!((read.host.to_string().as_str(), read.port), ("::1", Some(7)));
    }
}
