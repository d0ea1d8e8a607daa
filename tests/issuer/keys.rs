//! The keys of an issuer, one for each algorithm.

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};

/// A key for tests: making one takes long. It protects nothing.
const RSA: &[u8] = include_bytes!("test_key_rsa.pem");

/// The beginning of a PKCS #8 document (RFC 8410), before the 32 bytes of an Ed25519 key.
const ED25519_PREFIX: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/// A key of each kind, with the id that tokens name.
pub(super) struct Keys(Vec<(Algorithm, String, EncodingKey)>);

impl Keys {
    /// New keys with new ids.
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let ec = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let mut ed = ED25519_PREFIX.to_vec();
        ed.extend(random_bytes::<32>());
        let named = |algorithm: Algorithm, key| (algorithm, random_text("k"), key);
        Self(vec![
            named(Algorithm::RS256, EncodingKey::from_rsa_pem(RSA).unwrap()),
            named(Algorithm::ES256, EncodingKey::from_ec_der(ec.as_ref())),
            named(Algorithm::EdDSA, EncodingKey::from_ed_der(&ed)),
        ])
    }

    /// The key of an algorithm, with its id.
    pub(super) fn of(&self, algorithm: Algorithm) -> (&str, &EncodingKey) {
        let found = self.0.iter().find(|(known, _, _)| *known == algorithm);
        found.map(|(_, id, key)| (id.as_str(), key)).unwrap()
    }

    /// The key set, as `/jwks` has it.
    pub(super) fn public(&self) -> Value {
        let keys = self.0.iter().map(|(algorithm, id, key)| {
            let mut jwk = Jwk::from_encoding_key(key, *algorithm).unwrap();
            jwk.common.key_id = Some(id.clone());
            jwk.common.public_key_use = Some(jsonwebtoken::jwk::PublicKeyUse::Signature);
            serde_json::to_value(jwk).unwrap()
        });
        json!({ "keys": keys.collect::<Vec<Value>>() })
    }
}

/// A random text, with the kind of thing that it stands for.
pub(super) fn random_text(kind: &str) -> String {
    let digits: String = random_bytes::<16>().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}-{digits}")
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    ring::rand::SecureRandom::fill(&SystemRandom::new(), &mut bytes).unwrap();
    bytes
}
