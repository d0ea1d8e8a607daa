//! The signed cookie that remembers the caller whose token a person has typed. It holds no token: it holds the caller,
//! the resources that the token is for, and the time at which it ends. Its signature is one line over blake3; the jars of `cookie`
//! would bring HMAC and SHA-2 for it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::auth::Verified;

/// The content of the cookie.
#[derive(Serialize, Deserialize)]
pub struct Session {
    /// A number that no other session has.
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) verified: Verified,
}

impl Session {
    pub(super) fn sealed(&self, key: &[u8; 32]) -> String {
        let facts = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default());
        format!("{facts}.{}", blake3::keyed_hash(key, facts.as_bytes()).to_hex())
    }

    /// The session in a cookie that was signed with this key and has not ended.
    pub(super) fn read(value: &str, key: &[u8; 32], now: i64) -> Option<Self> {
        let (facts, signature) = value.split_once('.')?;
        // Hashes are compared in constant time.
        let is_signed = blake3::Hash::from_hex(signature).ok()? == blake3::keyed_hash(key, facts.as_bytes());
        let session: Self = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(facts).ok()?).ok()?;
        (is_signed && now < session.verified.until).then_some(session)
    }
}

#[cfg(test)]
mod tests {
    use toolcrib_gateway::exec::Caller;

    use super::*;

    fn session(until: i64, role: &str) -> Session {
        let caller = Caller { name: "amy".into(), roles: Some(vec![role.into()]), ..Caller::default() };
        Session { id: "1".into(), verified: Verified { caller, audience: None, until } }
    }

    #[test]
    fn a_cookie_is_of_its_key_unchanged_and_ends() {
        let own = [1; 32];
        let other = [2; 32];
        let value = session(1000, "reader").sealed(&own);
        assert_eq!(Session::read(&value, &own, 999).unwrap().verified.caller.roles.unwrap(), ["reader"]);
        assert!(Session::read(&value, &own, 1000).is_none(), "it has ended");
        assert!(Session::read(&value, &other, 0).is_none(), "it is signed with another key");
        let (facts, signature) = value.split_once('.').unwrap();
        let forged = session(i64::MAX, "*").sealed(&other);
        let forged = forged.split_once('.').unwrap().0;
        for bad in [
            format!("{forged}.{signature}"),
            format!("{facts}."),
            facts.to_string(),
            format!("{facts}.{}", "0".repeat(64)),
            format!("{facts}x.{signature}"),
            format!("{facts}.{signature}0"),
            ".".into(),
            String::new(),
        ] {
            assert!(Session::read(&bad, &own, 0).is_none(), "{bad}");
        }
    }
}
