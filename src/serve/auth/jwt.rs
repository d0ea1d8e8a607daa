//! Tokens that their issuer has signed (JWT, RFC 7519 and 9068). The configuration names the algorithms and the issuer; a
//! token chooses among its keys alone.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde_json::Value;

use super::claims::Claims;
use super::key_set::KeySet;
use super::signature;
use crate::config::SigningAlgorithm;

/// Longest token, in bytes.
pub(super) const MAX_TOKEN: usize = 16 * 1024;

/// Most keys that are tried for a token without a key id: each try is a signature.
const MAX_TRIES: usize = 4;

/// The rules for tokens of one issuer.
#[derive(Clone, Copy, Debug)]
pub struct TokenRules<'r> {
    /// The claim `iss`.
    pub issuer: &'r str,
    /// The algorithms that its tokens may have.
    pub algorithms: &'r [SigningAlgorithm],
    /// Most seconds by which its clock may differ from ours.
    pub clock_skew: u64,
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
    pub fn precheck(&self, rules: &TokenRules<'_>) -> Result<(), JwtProblem> {
        let is_allowed = rules.algorithms.iter().any(|allowed| algorithm(*allowed) == self.header.alg);
        if !is_allowed {
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
        rules: &TokenRules<'_>,
        keys: &KeySet,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, JwtProblem> {
        self.precheck(rules)?;
        signature::install();
        let mut validation = Validation::new(self.header.alg);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[rules.issuer]);
        validation.leeway = rules.clock_skew;
        validation.validate_nbf = true;
        // The audience is checked below: it depends on the address of the request.
        validation.validate_aud = false;
        let mut problem = JwtProblem::UnknownKey;
        let candidates = keys.candidates(self.header.alg, self.header.kid.as_deref());
        for candidate in candidates.take(MAX_TRIES) {
            match decode(self.token, &candidate.key, &validation) {
                Ok(decoded) => return accepted(Claims(decoded.claims), rules, is_ours),
                Err(error) => problem = of_error(error.kind()),
            }
            if problem != JwtProblem::Signature {
                break;
            }
        }
        Err(problem)
    }
}

fn accepted(
    claims: Claims,
    rules: &TokenRules<'_>,
    is_ours: impl Fn(&str) -> bool,
) -> Result<Claims, JwtProblem> {
    // The library also takes a list of issuers.
    if claims.text("iss") != Some(rules.issuer) {
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

fn algorithm(configured: SigningAlgorithm) -> Algorithm {
    match configured {
        SigningAlgorithm::RS256 => Algorithm::RS256,
        SigningAlgorithm::RS384 => Algorithm::RS384,
        SigningAlgorithm::RS512 => Algorithm::RS512,
        SigningAlgorithm::PS256 => Algorithm::PS256,
        SigningAlgorithm::PS384 => Algorithm::PS384,
        SigningAlgorithm::PS512 => Algorithm::PS512,
        SigningAlgorithm::ES256 => Algorithm::ES256,
        SigningAlgorithm::ES384 => Algorithm::ES384,
        SigningAlgorithm::EdDSA => Algorithm::EdDSA,
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
