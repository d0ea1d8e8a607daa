//! The public keys of an issuer (a JWK set, RFC 7517). A key fits the algorithms of its type. Symmetric keys, weak ones
//! and those for encryption are left out, so that no token can choose them.

use std::time::Instant;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use serde::Deserialize;
use serde_json::Value;

/// Most keys of a set: each may be tried for a token without a key id.
const MAX_KEYS: usize = 32;

/// Bytes of the modulus of an RSA key: shorter ones can be broken, longer ones take too long.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=512;

/// Public keys of an issuer.
#[derive(Debug)]
pub(super) struct KeySet {
    keys: Vec<PublicKey>,
    /// When they were read.
    pub(super) since: Instant,
}

/// A public key, with the algorithms that fit its type.
#[derive(Debug)]
pub(super) struct PublicKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

impl KeySet {
    /// The usable keys of a JWK set.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
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
    pub(super) fn candidates<'k>(
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
