//! An attempt to sign in at the identity provider. The browser takes it there and back as `state`, sealed with the secret of its
//! cookie: only the browser that began it can bring it back, to any replica, and strangers make nothing grow.

use subtle::ConstantTimeEq;

use super::cookies::BrowserSecret;
use super::return_address;

/// Milliseconds that a person may take at the identity provider.
const TIME_MS: i64 = 600_000;
/// Longest address to return to, in bytes: identity providers refuse long addresses.
const MAX_RETURN: usize = 1024;

const SEAL: &str = "toolcrib 2026 seal of an attempt to sign in";
const NONCE: &str = "toolcrib 2026 nonce of an attempt to sign in";
const VERIFIER: &str = "toolcrib 2026 code verifier of an attempt to sign in";

/// An attempt to sign in: what has to come back, and the proof that it was begun in this browser.
pub(super) struct Attempt {
    /// The text that comes back.
    pub(super) state: String,
    /// The nonce of the ID token.
    pub(super) nonce: String,
    /// The PKCE code verifier.
    pub(super) verifier: String,
    /// The page to return to.
    pub(super) return_to: String,
}

impl Attempt {
    /// A new attempt of this browser, with a number that no other one has.
    pub(super) fn begin(browser: &BrowserSecret, number: &BrowserSecret, return_to: &str, now: i64) -> Self {
        let return_to = Some(return_to).filter(|address| address.len() <= MAX_RETURN).unwrap_or("/");
        let (until, number) = (now.saturating_add(TIME_MS), number.text());
        let facts = format!("{until}.{number}.{return_to}");
        let seal = browser.hex_mac(SEAL, &facts);
        Self::of(browser, format!("{seal}.{facts}"), return_to)
    }

    /// The attempt that came back; `None` for one of another browser, and for one that is too old.
    pub(super) fn read(browser: &BrowserSecret, state: &str, now: i64) -> Option<Self> {
        let (seal, facts) = state.split_once('.')?;
        let is_sealed: bool = browser.hex_mac(SEAL, facts).as_bytes().ct_eq(seal.as_bytes()).into();
        let mut facts = facts.splitn(3, '.').filter(|_| is_sealed);
        let until: i64 = facts.next()?.parse().ok()?;
        let return_to = return_address::safe(facts.nth(1)?);
        (now < until).then(|| Self::of(browser, state.to_string(), return_to))
    }

    fn of(browser: &BrowserSecret, state: String, return_to: &str) -> Self {
        let (nonce, verifier) = (browser.hex_mac(NONCE, &state), browser.hex_mac(VERIFIER, &state));
        Self { state, nonce, verifier, return_to: return_to.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> BrowserSecret {
        BrowserSecret::random().unwrap()
    }

    #[test]
    fn an_attempt_is_of_one_browser_and_ends() {
        let (own, other) = (secret(), secret());
        let begun = Attempt::begin(&own, &secret(), "/tools/a.b.html?q=1.2", 1000);
        let back = Attempt::read(&own, &begun.state, 1000 + TIME_MS - 1).unwrap();
        assert_eq!(back.return_to, "/tools/a.b.html?q=1.2");
        assert_eq!((&back.nonce, &back.verifier), (&begun.nonce, &begun.verifier));
        assert_eq!(begun.verifier.len(), 64);
        assert!(Attempt::read(&own, &begun.state, 1000 + TIME_MS).is_none());
        assert!(Attempt::read(&other, &begun.state, 1000).is_none());
        assert!(!begun.state.contains(&begun.nonce) && !begun.state.contains(own.text()));
        let again = Attempt::begin(&own, &secret(), "/", 1000);
        assert!(again.state != begun.state && again.nonce != begun.nonce);
    }

    #[test]
    fn a_state_that_was_changed_counts_for_nothing() {
        let own = secret();
        let state = Attempt::begin(&own, &secret(), "/a", 1000).state;
        for changed in [
            state.replace("/a", "/b"),
            state.replace("/a", "//evil.example"),
            format!("{state}x"),
            state.replacen("601000", "901000", 1),
            state.split_once('.').unwrap().1.to_string(),
            String::new(),
            ".".into(),
            "...".into(),
        ] {
            assert!(Attempt::read(&own, &changed, 1000).is_none(), "{changed}");
        }
        let long = Attempt::begin(&own, &secret(), &format!("/{}", "a".repeat(2000)), 0);
        assert_eq!(long.return_to, "/");
    }
}
