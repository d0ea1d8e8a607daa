//! Tokens that an issuer has signed (JWT, RFC 7519 and 9068), and their claims. A token chooses among the keys of its
//! issuer.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde_json::Value;

use super::error::{AuthError, JwtProblem, MAX_TOKEN};
use super::key_set::KeySet;

/// Most keys that are tried for a token without a key id: each try is a signature.
const MAX_TRIES: usize = 4;

/// Most seconds by which the clock of an issuer may differ from ours.
const CLOCK_SKEW: u64 = 30;

/// Most values of a claim that are read.
const MAX_VALUES: usize = 1_000;

/// Claims. Their values are the issuer's words and may be of any size and type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claims(pub(super) Value);

impl Claims {
    /// A claim that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The texts of a claim, which is one text or a list. A name that begins with `/` may be a JSON pointer.
    pub(super) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let claim = self.0.get(name).or_else(|| if name.is_empty() { None } else { self.0.pointer(name) });
        let texts = match claim {
            Some(Value::Array(list)) => list.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        texts.iter().take(MAX_VALUES).filter_map(Value::as_str)
    }

    /// The scopes: words in `scope`, or in `scp` as some issuers write it.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts("scope").chain(self.texts("scp"));
        texts.flat_map(|scopes| scopes.split(' ')).filter(|scope| !scope.is_empty()).take(MAX_VALUES)
    }

    /// Seconds of Unix time at which they expire.
    pub(super) fn expiry(&self) -> Option<i64> {
        let time = self.0.get("exp")?;
        time.as_i64().or_else(|| time.as_f64().map(|seconds| seconds as i64))
    }
}

/// A token that was read, and not verified.
#[derive(Debug)]
pub(super) struct UnverifiedJwt<'t> {
    token: &'t str,
    header: Header,
}

impl<'t> UnverifiedJwt<'t> {
    /// Reads a signed token. An opaque token, or one of another form, is an unknown one.
    pub(super) fn read(token: &'t str) -> Result<Self, AuthError> {
        let is_like_a_signed_one = token.matches('.').count() == 2 && token.starts_with("ey");
        match decode_header(token) {
            Ok(header) if token.len() <= MAX_TOKEN => Ok(Self { token, header }),
            _ if is_like_a_signed_one => Err(JwtProblem::Malformed.into()),
            _ => Err(AuthError::Wrong),
        }
    }

    /// The issuer that it claims.
    pub(super) fn claimed_issuer(&self) -> Option<String> {
        let claims: Value = jsonwebtoken::dangerous::insecure_decode_claims(self.token).ok()?;
        Some(claims.get("iss")?.as_str()?.to_string())
    }

    /// Checks it without a key: its type, its algorithm.
    pub(super) fn precheck(&self) -> Result<(), JwtProblem> {
        // A signature with a symmetric key could be made by whoever checks it.
        if matches!(self.header.alg, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512) {
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

    /// The claims, when signature, issuer and times hold, and the audience is ours.
    pub(super) fn verified(
        &self,
        issuer: &str,
        keys: &KeySet,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, JwtProblem> {
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
                Ok(decoded) => {
                    let claims = Claims(decoded.claims);
                    // The library also takes a list of issuers.
                    if claims.text("iss") != Some(issuer) {
                        return Err(JwtProblem::Issuer);
                    }
                    let is_for_us = claims.texts("aud").any(is_ours);
                    return if is_for_us { Ok(claims) } else { Err(JwtProblem::Audience) };
                }
                Err(error) => problem = of_error(error.kind()),
            }
            if problem != JwtProblem::Signature {
                break;
            }
        }
        Err(problem)
    }
}

fn of_error(kind: &ErrorKind) -> JwtProblem {
    match kind {
        ErrorKind::ExpiredSignature => JwtProblem::Expired,
        ErrorKind::ImmatureSignature => JwtProblem::NotYet,
        ErrorKind::InvalidIssuer => JwtProblem::Issuer,
        ErrorKind::MissingRequiredClaim(claim) | ErrorKind::InvalidClaimFormat(claim) => match &**claim {
            "exp" => JwtProblem::Expired,
            "aud" => JwtProblem::Audience,
            "iss" => JwtProblem::Issuer,
            _ => JwtProblem::Malformed,
        },
        ErrorKind::InvalidAlgorithm => JwtProblem::Algorithm,
        ErrorKind::Base64(_) | ErrorKind::Json(_) | ErrorKind::Utf8(_) | ErrorKind::InvalidToken => {
            JwtProblem::Malformed
        }
        _ => JwtProblem::Signature,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scopes_and_groups_are_read_in_every_form() {
        let claims = Claims(json!({
            "scope": "a  b", "scp": ["c", 7], "aud": ["x", "y"], "exp": 12.5,
            "realm_access": { "roles": ["editor"] }, "https://example.com/roles": "admin"
        }));
        assert_eq!(claims.scopes().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(claims.texts("aud").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(claims.texts("/realm_access/roles").collect::<Vec<_>>(), ["editor"]);
        assert_eq!(claims.texts("https://example.com/roles").collect::<Vec<_>>(), ["admin"]);
        assert_eq!((claims.texts("/nothing/there").count(), claims.texts("/").count()), (0, 0));
        assert_eq!(claims.expiry(), Some(12));
    }
}
