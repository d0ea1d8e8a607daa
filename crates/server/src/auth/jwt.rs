//! Issuers of tokens: tokens that they have signed (JWT, RFC 7519 and 9068), and their public keys (a JWK set, RFC 7517). A token
//! chooses among the keys, and a key fits the algorithms of its type. Symmetric keys, weak ones and those for encryption are left
//! out, so that no token can choose them.
//!
//! Keys are read on the first use, again after a while, and when a token has an unknown key. The last good keys stay while the
//! issuer is away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
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
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::AuthError;
use toolcrib_catalog::config::ServeIssuer;
use toolcrib_front::credentials::{document, issuer_metadata};

/// Longest token, in bytes.
pub(super) const MAX_TOKEN: usize = 16 * 1024;

/// Most keys that are tried for a token without a key id: each try is a signature.
const MAX_TRIES: usize = 4;

/// Most seconds by which the clock of an issuer may differ from ours.
const CLOCK_SKEW: u64 = 30;

/// Most values of a claim that are read.
const MAX_VALUES: usize = 1_000;

/// Age at which keys are read again: the issuer may have withdrawn one.
const MAX_AGE: Duration = Duration::from_secs(10 * 60);
/// The same for keys in a file, which cost nothing to read.
const MAX_AGE_OF_FILE: Duration = Duration::from_secs(30);
/// Shortest time between two readings for unknown keys, of which strangers can invent any number.
const UNKNOWN_EVERY: Duration = Duration::from_secs(10);
/// Shortest time between two readings while there are no keys.
const FAILED_EVERY: Duration = Duration::from_secs(5);
/// Longest time of a reading, with the metadata before the keys.
const READING: Duration = Duration::from_secs(8);
/// Most requests that wait for the keys of one issuer, so that a slow one does not hold all connections.
const MAX_WAITING: usize = 64;
/// Longest file of keys, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// An issuer, with its keys as they were read last.
#[derive(Debug)]
pub(super) struct Issuer {
    pub(super) settings: ServeIssuer,
    /// The file of its keys, where they are in one.
    file: Option<PathBuf>,
    keys: ArcSwapOption<KeySet>,
    /// The last reading that failed or was for an unknown key.
    last_reading: Mutex<Option<Instant>>,
    waiting: Semaphore,
}

impl Issuer {
    /// A configured issuer. Its file of keys is relative to `root`.
    pub(super) fn new(settings: ServeIssuer, root: &Path) -> Arc<Self> {
        // A program that holds us may have chosen the cryptography already.
        let _ = PROVIDER.install_default();
        let file = settings.jwks.as_ref().filter(|_| settings.jwks_url().is_none());
        Arc::new(Self {
            file: file.map(|file| root.join(file)),
            settings,
            keys: ArcSwapOption::empty(),
            last_reading: Mutex::default(),
            waiting: Semaphore::new(MAX_WAITING),
        })
    }

    /// Reads the keys ahead of the first token.
    pub(super) fn warm_up(self: &Arc<Self>) {
        tokio::spawn(Arc::clone(self).read_again(None));
    }

    /// The claims of a token, when everything holds: type, algorithm, signature, issuer, times, and an audience that is ours.
    pub(super) async fn verified(
        self: &Arc<Self>,
        token: &UnverifiedJwt<'_>,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, AuthError> {
        token.precheck()?;
        let issuer = self.settings.issuer.as_str();
        let known = self.keys.load_full();
        let max_age = if self.file.is_some() { MAX_AGE_OF_FILE } else { MAX_AGE };
        if known.as_ref().is_some_and(|keys| keys.since.elapsed() >= max_age) {
            tokio::spawn(Arc::clone(self).read_again(known.clone()));
        }
        let verified = match &known {
            Some(keys) => token.verified(issuer, keys, &is_ours),
            None => Err(JwtProblem::UnknownKey),
        };
        // The issuer may have another key by now. Keys without ids are replaced unseen, and an id may get another key.
        if matches!(verified, Err(JwtProblem::UnknownKey | JwtProblem::Signature)) {
            let keys = self.renewed(known.clone()).await?;
            if known.is_none_or(|known| !Arc::ptr_eq(&known, &keys)) {
                return Ok(token.verified(issuer, &keys, &is_ours)?);
            }
        }
        Ok(verified?)
    }

    /// The keys as the issuer has them now, as far as they may be read again.
    async fn renewed(self: &Arc<Self>, known: Option<Arc<KeySet>>) -> Result<Arc<KeySet>, AuthError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| AuthError::IssuerAway)?;
        // The reading goes on when the client has gone: otherwise clients that leave early could use up the readings.
        let reading = tokio::spawn(Arc::clone(self).read_again(known));
        reading.await.ok().flatten().ok_or(AuthError::IssuerAway)
    }

    /// The keys, read again unless another request has done so since `known`, or it is too early.
    async fn read_again(self: Arc<Self>, known: Option<Arc<KeySet>>) -> Option<Arc<KeySet>> {
        let mut last = self.last_reading.lock().await;
        let current = self.keys.load_full();
        let is_known = current.as_ref().map(Arc::as_ptr) == known.as_ref().map(Arc::as_ptr);
        if is_known && is_due(*last, known.is_some(), Instant::now()) {
            let read = timeout(READING, self.read()).await;
            let read = read.unwrap_or_else(|_| Err("there was no answer in time".into()));
            if known.is_some() || read.is_err() {
                *last = Some(Instant::now());
            }
            match read {
                Ok(keys) => self.keys.store(Some(Arc::new(keys))),
                Err(problem) => {
                    let issuer = self.settings.issuer.as_str();
                    tracing::warn!(issuer, problem, "the keys of an issuer cannot be read");
                }
            }
        }
        self.keys.load_full()
    }

    async fn read(&self) -> Result<KeySet, String> {
        let text = match (&self.file, self.settings.jwks_url()) {
            (Some(file), _) => read_file(file.clone()).await?,
            (None, Some(url)) => document(url).await.map_err(|error| error.to_string())?,
            (None, None) => {
                let found = issuer_metadata(&self.settings.issuer, "jwks_uri").await;
                let (url, _) =
                    found.map_err(|problem| format!("its metadata cannot be read: {}", problem.reason))?;
                document(&url).await.map_err(|error| error.to_string())?
            }
        };
        KeySet::read(&text)
    }
}

/// Whether keys may be read again now.
fn is_due(last: Option<Instant>, has_keys: bool, now: Instant) -> bool {
    let pause = if has_keys { UNKNOWN_EVERY } else { FAILED_EVERY };
    last.is_none_or(|last| now.saturating_duration_since(last) >= pause)
}

async fn read_file(file: PathBuf) -> Result<Vec<u8>, String> {
    let reading = move || {
        let size = std::fs::metadata(&file).map_err(|error| error.to_string())?.len();
        if size > MAX_BYTES {
            return Err("the file is too long".to_string());
        }
        std::fs::read(&file).map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(reading).await.map_err(|error| error.to_string())?
}

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
        let claim = self.0.get(name).or_else(|| self.0.pointer(name).filter(|_| !name.is_empty()));
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

/// The mistake in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtProblem {
    /// It is not a signed access token.
    #[error("this is no access token")]
    Malformed,
    /// Its algorithm is not allowed.
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
pub(super) struct UnverifiedJwt<'t> {
    token: &'t str,
    header: Header,
}

impl<'t> UnverifiedJwt<'t> {
    /// Reads a signed token. An opaque token, or one of another form, is an unknown one.
    pub(super) fn read(token: &'t str) -> Result<Self, AuthError> {
        let header = decode_header(token).ok().filter(|_| token.len() <= MAX_TOKEN);
        let is_like_a_signed_one = token.matches('.').count() == 2 && token.starts_with("ey");
        match header {
            Some(header) => Ok(Self { token, header }),
            None if is_like_a_signed_one => Err(JwtProblem::Malformed.into()),
            None => Err(AuthError::Wrong),
        }
    }

    /// The issuer that it claims.
    pub(super) fn claimed_issuer(&self) -> Option<String> {
        let claims: Value = jsonwebtoken::dangerous::insecure_decode_claims(self.token).ok()?;
        Some(claims.get("iss")?.as_str()?.to_string())
    }

    /// Checks it without a key: its type, its algorithm.
    fn precheck(&self) -> Result<(), JwtProblem> {
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
    fn verified(
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

/// Most keys of a set: each may be tried for a token without a key id.
const MAX_KEYS: usize = 32;

/// Bytes of the modulus of an RSA key: shorter ones can be broken, longer ones take too long.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=512;

/// Public keys of an issuer.
#[derive(Debug)]
struct KeySet {
    keys: Vec<PublicKey>,
    /// When they were read.
    since: Instant,
}

/// A public key, with the algorithms that fit its type.
#[derive(Debug)]
struct PublicKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl KeySet {
    /// The usable keys of a JWK set.
    fn read(text: &[u8]) -> Result<Self, String> {
        let written: Value = serde_json::from_slice(text).map_err(|_| "this is no JWK set")?;
        let written = written["keys"].as_array().ok_or("this is no JWK set")?;
        // A key of an unknown kind does not spoil the others.
        let keys = written.iter().filter_map(|key| PublicKey::read(Jwk::deserialize(key).ok()?));
        let keys: Vec<PublicKey> = keys.take(MAX_KEYS).collect();
        if keys.is_empty() {
            Err("the JWK set has no usable public key".into())
        } else {
            Ok(Self { keys, since: Instant::now() })
        }
    }

    /// The keys that may have signed a token with this algorithm and key id. A key or a token without an id fits all.
    fn candidates<'k>(
        &'k self,
        algorithm: Algorithm,
        id: Option<&'k str>,
    ) -> impl Iterator<Item = &'k PublicKey> {
        let may_have = move |key: &PublicKey| key.id.as_deref().zip(id).is_none_or(|(own, id)| own == id);
        self.keys.iter().filter(move |key| key.algorithms.contains(&algorithm) && may_have(key))
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
    verifier_factory: |algorithm, key| Ok(Box::new(Signature { algorithm: *algorithm, key: key.clone() })),
    key_utils: KeyUtils::new_unimplemented(),
};

/// A check of signatures of one algorithm with one key.
struct Signature {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Signature {
    fn rsa(&self) -> Option<&'static RsaParameters> {
        Some(match self.algorithm {
            Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
            Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
            Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
            Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
            Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
            Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
            _ => return None,
        })
    }

    fn curve(&self) -> Option<&'static dyn VerificationAlgorithm> {
        Some(match self.algorithm {
            Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
            Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
            Algorithm::EdDSA => &ED25519,
            _ => return None,
        })
    }
}

impl Verifier<Vec<u8>> for Signature {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let checked = match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let scheme = self.rsa().ok_or_else(Error::new)?;
                RsaPublicKeyComponents { n, e }.verify(scheme, message, signature)
            }
            DecodingKeyKind::SecretOrDer(key) => {
                let scheme = self.curve().ok_or_else(Error::new)?;
                UnparsedPublicKey::new(scheme, key).verify(message, signature)
            }
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
            assert_eq!(set(json!([refused, ed("a")])).unwrap().keys.len(), 1);
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
        assert_eq!(set(keys.into()).unwrap().keys.len(), MAX_KEYS);
    }

    #[test]
    fn unknown_keys_are_looked_up_every_ten_seconds() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        assert!(is_due(None, true, start) && is_due(None, false, start));
        assert!(!is_due(Some(start), true, after(9)) && is_due(Some(start), true, after(10)));
        assert!(!is_due(Some(start), false, after(4)) && is_due(Some(start), false, after(5)));
    }

    #[test]
    fn a_file_of_keys_is_read_and_the_last_good_keys_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        std::fs::write(&file, keys).unwrap();
        let configured = ServeIssuer { jwks: Some("keys.json".into()), ..ServeIssuer::default() };
        let issuer = Issuer::new(configured, folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let read_again = |known| runtime.block_on(Arc::clone(&issuer).read_again(known));
        let first = read_again(None);
        assert!(first.is_some());
        std::fs::remove_file(&file).unwrap();
        assert!(read_again(first).is_some());
    }
}
