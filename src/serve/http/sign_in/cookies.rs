//! Cookies by which a browser is recognized. Each holds a secret of its own that only this browser and a hash in state know.

use cookie::{Cookie, SameSite};
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use crate::state::random_secret;

/// Digits of a secret.
const DIGITS: usize = 64;

/// Names and attributes of cookies, by the address of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve::http) enum CookieScope {
    /// Over TLS: no other host, and no connection without TLS, can set or read them.
    Secure,
    /// Over plain HTTP on this machine, at this port: servers at other ports share its cookies.
    Loopback(u16),
}

/// The use of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CookieKind {
    /// A person who is signed in.
    Session,
    /// A browser in which somebody is about to sign in.
    Browser,
}

/// The secret in a cookie. It is never printed, and state has its hash alone.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct BrowserSecret(String);

impl BrowserSecret {
    /// A new secret; `None` where the system has no randomness.
    pub(super) fn random() -> Option<Self> {
        random_secret().map(Self)
    }

    /// A secret that came back.
    pub(super) fn read(value: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (value.len() == DIGITS && value.bytes().all(is_digit)).then(|| Self(value.into()))
    }

    /// The secret itself, for the one who is to bring it back.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// A key for this use alone, from which the secret cannot be found.
    pub(super) fn key(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.0.as_bytes())
    }

    /// A proof over a text, for this use alone, that only the one with the secret can make.
    pub(super) fn hex_mac(&self, purpose: &str, text: &str) -> String {
        blake3::keyed_hash(&self.key(purpose), text.as_bytes()).to_hex().to_string()
    }

    /// The same key as text.
    pub(super) fn hex_key(&self, purpose: &str) -> String {
        blake3::Hash::from_bytes(self.key(purpose)).to_hex().to_string()
    }
}

impl std::fmt::Debug for BrowserSecret {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("...")
    }
}

impl CookieScope {
    fn name(self, kind: CookieKind) -> String {
        let kind = match kind {
            CookieKind::Session => "session",
            CookieKind::Browser => "browser",
        };
        match self {
            CookieScope::Secure => format!("__Host-toolcrib-{kind}"),
            CookieScope::Loopback(port) => format!("toolcrib-{kind}-{port}"),
        }
    }

    /// The secret that the browser sends. Two cookies of one name are none: another server of this machine may have set one.
    pub(super) fn read(self, kind: CookieKind, headers: &HeaderMap) -> Option<BrowserSecret> {
        let name = self.name(kind);
        let sent = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut found = sent.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == name);
        let cookie = found.next().filter(|_| found.next().is_none())?;
        BrowserSecret::read(cookie.value())
    }

    /// The header that sets a cookie, until the browser ends or for these milliseconds.
    pub(super) fn set(
        self,
        kind: CookieKind,
        secret: &BrowserSecret,
        ms: Option<i64>,
    ) -> Option<HeaderValue> {
        let mut cookie = self.cookie(kind, secret.0.clone());
        cookie.set_max_age(ms.map(cookie::time::Duration::milliseconds));
        HeaderValue::try_from(cookie.to_string()).ok()
    }

    /// The header that removes a cookie.
    pub(super) fn remove(self, kind: CookieKind) -> Option<HeaderValue> {
        let mut cookie = self.cookie(kind, String::new());
        cookie.set_max_age(cookie::time::Duration::ZERO);
        HeaderValue::try_from(cookie.to_string()).ok()
    }

    /// `Lax`, and not `Strict`: the browser comes back from the identity provider with it.
    fn cookie(self, kind: CookieKind, value: String) -> Cookie<'static> {
        Cookie::build((self.name(kind), value))
            .path("/")
            .http_only(true)
            .secure(self == CookieScope::Secure)
            .same_site(SameSite::Lax)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookies: &str) -> HeaderMap {
        [(COOKIE, HeaderValue::from_str(cookies).unwrap())].into_iter().collect()
    }

    #[test]
    fn cookies_are_for_this_host_alone_and_come_back() {
        let secret = BrowserSecret::random().unwrap();
        for (scope, name, attributes) in [
            (
                CookieScope::Secure,
                "__Host-toolcrib-session",
                "HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=60",
            ),
            (
                CookieScope::Loopback(7878),
                "toolcrib-session-7878",
                "HttpOnly; SameSite=Lax; Path=/; Max-Age=60",
            ),
        ] {
            let set = scope.set(CookieKind::Session, &secret, Some(60_000)).unwrap();
            assert_eq!(set.to_str().unwrap(), format!("{name}={}; {attributes}", secret.0));
            let sent = format!("a=b; {name}={}; c", secret.0);
            assert_eq!(scope.read(CookieKind::Session, &headers(&sent)), Some(secret.clone()));
            assert_eq!(scope.read(CookieKind::Browser, &headers(&sent)), None);
            assert_eq!(scope.read(CookieKind::Session, &headers(&format!("{sent}; {name}=0"))), None);
        }
        assert_eq!(format!("{secret:?}"), "...");
    }

    #[test]
    fn a_secret_is_hexadecimal_of_one_length() {
        let name = "toolcrib-session-1=";
        for odd in
            ["", "0", "A", "\"", "%30", &"0".repeat(65), &"G".repeat(64), &format!("{}%", "0".repeat(63))]
        {
            let sent = headers(&format!("{name}{odd}"));
            assert_eq!(CookieScope::Loopback(1).read(CookieKind::Session, &sent), None, "{odd}");
        }
    }
}
