//! The claims of a verified token.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most values of a claim that are read.
const MAX_VALUES: usize = 1_000;

/// Claims. Their values are the issuer's words and may be of any size and type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claims(pub(super) Map<String, Value>);

impl Claims {
    /// A claim that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The texts of a claim, which is one text or a list. A name that begins with `/` is a JSON pointer.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let claim = self.0.get(name).or_else(|| self.below(name));
        let (one, list) = match claim {
            Some(Value::Array(list)) => (None, list.as_slice()),
            one => (one, [].as_slice()),
        };
        one.into_iter().chain(list.iter().take(MAX_VALUES)).filter_map(Value::as_str)
    }

    /// The audiences.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        self.texts("aud")
    }

    /// The scopes: words in `scope`, or in `scp` as some issuers write it.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts("scope").chain(self.texts("scp"));
        texts.flat_map(|scopes| scopes.split(' ')).filter(|scope| !scope.is_empty()).take(MAX_VALUES)
    }

    /// Seconds of Unix time at which they expire.
    pub fn expiry(&self) -> Option<i64> {
        self.seconds("exp")
    }

    fn seconds(&self, name: &str) -> Option<i64> {
        let time = self.0.get(name)?;
        time.as_i64().or_else(|| time.as_f64().map(|seconds| seconds as i64))
    }

    fn below(&self, pointer: &str) -> Option<&Value> {
        let (first, rest) = pointer.strip_prefix('/')?.split_once('/').unwrap_or((&pointer[1..], ""));
        let claim = self.0.get(&crate::finding::pointer_unescape(first).to_string())?;
        if rest.is_empty() { Some(claim) } else { claim.pointer(&format!("/{rest}")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scopes_and_groups_are_read_in_every_form() {
        let Value::Object(claims) = json!({
            "scope": "a  b", "scp": ["c", 7], "aud": ["x", "y"], "exp": 12.5,
            "realm_access": { "roles": ["editor"] }, "https://example.com/roles": "admin"
        }) else {
            unreachable!()
        };
        let claims = Claims(claims);
        assert_eq!(claims.scopes().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(claims.audiences().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(claims.texts("/realm_access/roles").collect::<Vec<_>>(), ["editor"]);
        assert_eq!(claims.texts("https://example.com/roles").collect::<Vec<_>>(), ["admin"]);
        assert_eq!((claims.texts("/nothing/there").count(), claims.texts("/").count()), (0, 0));
        assert_eq!(claims.expiry(), Some(12));
    }
}
