//! Tokens that their issuer has signed (JWT, RFC 7519 and 9068), and its public keys (a JWK set, RFC 7517). A token chooses among
//! the keys, and a key fits the algorithms of its type. Symmetric keys, weak ones and those for encryption are left out, so
//! that no token can choose them.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, Header, Validation, decode, decode_header};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

    /// The scopes: words in `scope`, or in `scp` as some issuers write it.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts("scope").chain(self.texts("scp"));
        texts.flat_map(|scopes| scopes.split(' ')).filter(|scope| !scope.is_empty()).take(MAX_VALUES)
    }

    /// Seconds of Unix time at which they expire.
    pub fn expiry(&self) -> Option<i64> {
        let time = self.0.get("exp")?;
        time.as_i64().or_else(|| time.as_f64().map(|seconds| seconds as i64))
    }

    fn below(&self, pointer: &str) -> Option<&Value> {
        let (first, rest) = pointer.strip_prefix('/')?.split_once('/').unwrap_or((&pointer[1..], ""));
        let claim = self.0.get(&crate::finding::pointer_unescape(first).to_string())?;
        if rest.is_empty() { Some(claim) } else { claim.pointer(&format!("/{rest}")) }
    }
}

/// The mistake in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtProblem {
    /// It is no token of this form, or of another type.
    #[error("this is no access token")]
    Malformed,
    /// Its algorithm is none of the configured ones.
    #[error("this token has an algorithm that is not allowed")]
    Algorithm,
    /// The issuer has no key with its id.
    #[error("this token is signed with an unknown key")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the signature of this token is wrong")]
    Signature,
    /// It is of another issuer.
    #[error("this token is of another issuer")]
    Issuer,
    /// It is for another audience.
    #[error("this token is for another resource")]
    Audience,
    /// It has expired, or does not say when it expires.
    #[error("this token has expired")]
    Expired,
    /// It is not valid yet.
    #[error("this token is not valid yet")]
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

    /// The claims, when everything holds: algorithm, signature, issuer, times, and an audience that is ours.
    pub fn verified(
        &self,
        issuer: &str,
        keys: &KeySet,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, JwtProblem> {
        self.precheck()?;
        use_own_signatures();
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
                    let is_of_issuer = claims.text("iss") == Some(issuer);
                    let is_for_us = claims.texts("aud").any(is_ours);
                    return match (is_of_issuer, is_for_us) {
                        (false, _) => Err(JwtProblem::Issuer),
                        (_, false) => Err(JwtProblem::Audience),
                        _ => Ok(claims),
                    };
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

/// Most keys of a set: each may be tried for a token without a key id.
const MAX_KEYS: usize = 32;

/// Bytes of the modulus of an RSA key: shorter ones can be broken, longer ones take too long.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=512;

/// Public keys of an issuer.
#[derive(Debug, Default)]
pub struct KeySet(Vec<PublicKey>);

/// A public key, with the algorithms that fit its type.
#[derive(Debug)]
struct PublicKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl KeySet {
    /// The usable keys of a JWK set.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let written: Value = serde_json::from_slice(text).map_err(|_| "this is no JWK set")?;
        let written = written["keys"].as_array().ok_or("this is no JWK set")?;
        // A key of an unknown kind does not spoil the others.
        let keys = written.iter().filter_map(|key| PublicKey::read(Jwk::deserialize(key).ok()?));
        let keys: Vec<PublicKey> = keys.take(MAX_KEYS).collect();
        match keys.is_empty() {
            true => Err("the JWK set has no usable public key".into()),
            false => Ok(Self(keys)),
        }
    }

    /// The keys that may have signed a token with this algorithm and key id.
    fn candidates<'k>(
        &'k self,
        algorithm: Algorithm,
        id: Option<&'k str>,
    ) -> impl Iterator<Item = &'k PublicKey> {
        let fits = move |key: &&PublicKey| key.algorithms.contains(&algorithm) && key.may_have(id);
        self.0.iter().filter(fits)
    }
}

impl PublicKey {
    fn read(jwk: Jwk) -> Option<Self> {
        let common = &jwk.common;
        let signs = common.public_key_use.as_ref().is_none_or(|purpose| *purpose == PublicKeyUse::Signature);
        let verifies = common
            .key_operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        if !signs || !verifies {
            return None;
        }
        let mut algorithms = of_type(&jwk.algorithm).to_vec();
        if let Some(only) = common.key_algorithm {
            algorithms.retain(|algorithm| only == (*algorithm).into());
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        let is_usable = match key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, .. } => {
                RSA_BYTES.contains(&n.iter().skip_while(|byte| **byte == 0).count())
            }
            DecodingKeyKind::SecretOrDer(_) => true,
        };
        let id = common.key_id.clone();
        (is_usable && !algorithms.is_empty()).then_some(Self { id, algorithms, key })
    }

    /// Whether the key may be the one with this id; a key or a token without an id fits all.
    fn may_have(&self, id: Option<&str>) -> bool {
        match (&self.id, id) {
            (Some(own), Some(id)) => own == id,
            _ => true,
        }
    }
}

/// The algorithms of a type of key. Symmetric keys have none.
fn of_type(parameters: &AlgorithmParameters) -> &'static [Algorithm] {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => &[ES256],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => &[ES384],
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
    }
}

// Signatures of tokens, checked with the cryptography that TLS has already.

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: |algorithm, key| Ok(Box::new(Signature::new(*algorithm, key)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Has `jsonwebtoken` check signatures here, unless the program that holds us has chosen for it.
pub(super) fn use_own_signatures() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

/// A check of signatures of one algorithm with one key.
struct Signature {
    algorithm: Algorithm,
    scheme: Scheme,
    key: DecodingKey,
}

enum Scheme {
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

impl Signature {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> jsonwebtoken::errors::Result<Self> {
        let scheme = match algorithm {
            Algorithm::RS256 => Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => Scheme::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => Scheme::Rsa(&RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => Scheme::Rsa(&RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => Scheme::Rsa(&RSA_PSS_2048_8192_SHA512),
            Algorithm::ES256 => Scheme::Curve(&ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => Scheme::Curve(&ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDSA => Scheme::Curve(&ED25519),
            _ => return Err(ErrorKind::InvalidAlgorithm.into()),
        };
        Ok(Self { algorithm, scheme, key: key.clone() })
    }
}

impl Verifier<Vec<u8>> for Signature {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let checked = match (&self.scheme, self.key.kind()) {
            (Scheme::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Scheme::Curve(scheme), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(*scheme, key).verify(message, signature)
            }
            _ => return Err(Error::new()),
        };
        checked.map_err(|_| Error::new())
    }
}

impl JwtVerifier for Signature {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
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
        assert_eq!(claims.texts("aud").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(claims.texts("/realm_access/roles").collect::<Vec<_>>(), ["editor"]);
        assert_eq!(claims.texts("https://example.com/roles").collect::<Vec<_>>(), ["admin"]);
        assert_eq!((claims.texts("/nothing/there").count(), claims.texts("/").count()), (0, 0));
        assert_eq!(claims.expiry(), Some(12));
    }

    fn set(keys: Value) -> Result<KeySet, String> {
        KeySet::read(json!({ "keys": keys }).to_string().as_bytes())
    }

    fn ed(id: &str) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" })
    }

    #[test]
    fn symmetric_weak_and_encrypting_keys_are_left_out() {
        let short = "A".repeat(100);
        let encrypting = {
            let mut key = ed("a");
            key["use"] = "enc".into();
            key
        };
        let no_verifying = {
            let mut key = ed("a");
            key["key_ops"] = json!(["sign"]);
            key
        };
        for refused in [
            json!({ "kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0" }),
            json!({ "kty": "RSA", "n": short, "e": "AQAB" }),
            json!({ "kty": "EC", "crv": "P-521", "x": "AA", "y": "AA" }),
            json!({ "kty": "new" }),
            json!(7),
            encrypting,
            no_verifying,
        ] {
            assert!(set(json!([refused])).is_err(), "{refused}");
            assert_eq!(set(json!([refused, ed("a")])).unwrap().0.len(), 1);
        }
    }

    #[test]
    fn a_key_fits_the_algorithms_of_its_type_alone() {
        let keys = set(json!([ed("a"), ed("b")])).unwrap();
        let count = |algorithm, id| keys.candidates(algorithm, id).count();
        assert_eq!((count(Algorithm::EdDSA, Some("a")), count(Algorithm::EdDSA, None)), (1, 2));
        assert_eq!((count(Algorithm::EdDSA, Some("c")), count(Algorithm::HS256, Some("a"))), (0, 0));
        assert_eq!(count(Algorithm::RS256, None), 0);
    }

    #[test]
    fn a_set_has_a_limit() {
        let keys: Vec<Value> = (0..1000).map(|id| ed(&id.to_string())).collect();
        assert_eq!(set(keys.into()).unwrap().0.len(), MAX_KEYS);
    }
}
