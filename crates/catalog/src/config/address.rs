//! Addresses in settings: which are safe, which network they are in, and how they are shown.

use std::net::IpAddr;

use ipnet::IpNet;

use toolcrib_definition::clean_line;

/// An address without its query, which may be secret.
pub fn shown_address(address: &str) -> String {
    clean_line(address.split(['?', '#']).next().unwrap_or_default())
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
    let is_loopback = || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
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

/// The addresses of a network such as `10.1.0.0/16`, or a single address.
pub fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| Some(text.trim().parse::<IpAddr>().ok()?.into()))
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
    fn a_network_has_the_addresses_with_its_bits() {
        let has =
            |text: &str, address: &str| network(text).unwrap().contains(&address.parse::<IpAddr>().unwrap());
        assert!(has("10.1.0.0/16", "10.1.255.7") && !has("10.1.0.0/16", "10.2.0.1"));
        assert!(has("127.0.0.1", "127.0.0.1") && !has("127.0.0.1", "127.0.0.2"));
        assert!(has("0.0.0.0/0", "8.8.8.8") && !has("0.0.0.0/0", "::1"));
        assert!(has("fd00::/8", "fd12::1") && !has("fd00::/8", "fe80::1") && has("::/0", "::1"));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "proxy", "10.0.0.1/-1"] {
            assert_eq!(network(bad), None, "{bad}");
        }
    }
}
