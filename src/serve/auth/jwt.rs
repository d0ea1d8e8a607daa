//! Tokens that their issuer has signed (JWT, RFC 7519 and 9068). A token chooses among the public keys of its
//! issuer, and a key fits the algorithms of its type.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Header, Validation, decode, decode_header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key_set::{KeySet, is_of_public_key};
use super::signature;

/// Longest token, in bytes.
pub(super) const MAX_TOKEN: usize = 16 * 1024;

/// Most keys that are tried for a token without a key id: each try is a signature.
const MAX_TRIES: usize = 4;

/// Most seconds by which the clock of an issuer may differ from ours.
const CLOCK_SKEW: u64 = 30;

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

/// The mistake in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwtProblem {
    /// It is no token of this form, or of another type.
    Malformed,
    /// Its algorithm is none of the configured ones.
    Algorithm,
    /// The issuer has no key with its id.
    UnknownKey,
    /// The signature is wrong.
    Signature,
    /// It is of another issuer.
    Issuer,
    /// It is for another audience.
    Audience,
    /// It has expired, or does not say when it expires.
    Expired,
    /// It is not valid yet.
    NotYet,
}

/// A token that was read, and not verified.
#[derive(Debug)]
pub struct UnverifiedJwt<'t> {
    token: &'t str,
    header: Header,
}

impl<'t> UnverifiedJwt<'t> {
    /// Reads a signed token; `None` for a token of another form, such as an opaque one.
    pub fn read(token: &'t str) -> Option<Self> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let header = decode_header(token).ok()?;
        Some(Self { token, header })
    }

    /// Whether a token looks like a signed one, also one that cannot be valid. Such a token is asked about nowhere.
    pub(super) fn is_like(token: &str) -> bool {
        token.matches('.').count() == 2 && token.starts_with("ey")
    }

    /// The issuer that it claims.
    pub fn claimed_issuer(&self) -> Option<String> {
        let claims: Value = jsonwebtoken::dangerous::insecure_decode_claims(self.token).ok()?;
        Some(claims.get("iss")?.as_str()?.to_string())
    }

    /// Whether one of these keys may have signed it.
    pub fn is_known_to(&self, keys: &KeySet) -> bool {
        keys.candidates(self.header.alg, self.header.kid.as_deref()).next().is_some()
    }

    /// Checks it without a key: its type, its algorithm.
    pub fn precheck(&self) -> Result<(), JwtProblem> {
        if !is_of_public_key(self.header.alg) {
            return Err(JwtProblem::Algorithm);
        }
        let kind = self.header.typ.as_deref().map(str::to_ascii_lowercase);
        let is_token =
            kind.is_none_or(|kind| ["jwt", "at+jwt", "application/at+jwt"].contains(&kind.as_str()));
        // An extension that is critical is one that we do not know.
        if !is_token || self.header.crit.is_some() {
            return Err(JwtProblem::Malformed);
        }
        Ok(())
    }

    /// The claims, when everything holds: algorithm, signature, issuer, times, and an audience that is ours.
    pub fn verified(
        &self,
        issuer: &str,
        keys: &KeySet,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, JwtProblem> {
        self.precheck()?;
        signature::install();
        let mut validation = Validation::new(self.header.alg);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[issuer]);
        validation.leeway = CLOCK_SKEW;
        validation.validate_nbf = true;
        // The audience is checked below: it depends on the address of the request.
        validation.validate_aud = false;
        let mut problem = JwtProblem::UnknownKey;
        let candidates = keys.candidates(self.header.alg, self.header.kid.as_deref());
        for candidate in candidates.take(MAX_TRIES) {
            match decode(self.token, &candidate.key, &validation) {
                Ok(decoded) => return accepted(Claims(decoded.claims), issuer, is_ours),
                Err(error) => problem = of_error(error.kind()),
            }
            if problem != JwtProblem::Signature {
                break;
            }
        }
        Err(problem)
    }
}

fn accepted(claims: Claims, issuer: &str, is_ours: impl Fn(&str) -> bool) -> Result<Claims, JwtProblem> {
    // The library also takes a list of issuers.
    if claims.text("iss") != Some(issuer) {
        return Err(JwtProblem::Issuer);
    }
    if !claims.audiences().any(is_ours) {
        return Err(JwtProblem::Audience);
    }
    Ok(claims)
}

fn of_error(kind: &ErrorKind) -> JwtProblem {
    match kind {
        ErrorKind::ExpiredSignature => JwtProblem::Expired,
        ErrorKind::ImmatureSignature => JwtProblem::NotYet,
        ErrorKind::InvalidIssuer => JwtProblem::Issuer,
        ErrorKind::InvalidAudience => JwtProblem::Audience,
        ErrorKind::MissingRequiredClaim(claim) | ErrorKind::InvalidClaimFormat(claim) => match claim.as_str()
        {
            "exp" => JwtProblem::Expired,
            "aud" => JwtProblem::Audience,
            "iss" => JwtProblem::Issuer,
            _ => JwtProblem::Malformed,
        },
        ErrorKind::InvalidAlgorithm => JwtProblem::Algorithm,
        ErrorKind::InvalidSignature => JwtProblem::Signature,
        ErrorKind::Base64(_) | ErrorKind::Json(_) | ErrorKind::Utf8(_) | ErrorKind::InvalidToken => {
            JwtProblem::Malformed
        }
        _ => JwtProblem::Signature,
    }
}

impl std::fmt::Display for JwtProblem {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            JwtProblem::Malformed => "this is no access token",
            JwtProblem::Algorithm => "this token has an algorithm that is not allowed",
            JwtProblem::UnknownKey => "this token is signed with an unknown key",
            JwtProblem::Signature => "the signature of this token is wrong",
            JwtProblem::Issuer => "this token is of another issuer",
            JwtProblem::Audience => "this token is for another resource",
            JwtProblem::Expired => "this token has expired",
            JwtProblem::NotYet => "this token is not valid yet",
        })
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
