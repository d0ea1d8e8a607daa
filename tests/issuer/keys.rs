//! The keys of an issuer, one for each algorithm.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::Algorithm;
use ring::rand::{SecureRandom, SystemRandom};
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

/// A key for tests: making one takes long. It protects nothing.
const RSA: &str = include_str!("test_key_rsa.pem");

/// A key of each kind, with the id that tokens name.
pub(super) struct Keys(Vec<(Algorithm, String, SigningKey)>);

/// A private key.
pub(super) enum SigningKey {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Keys {
    /// New keys with new ids.
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let rsa: String = RSA.lines().filter(|line| !line.starts_with('-')).collect();
        let rsa = RsaKeyPair::from_der(&STANDARD.decode(rsa).unwrap()).unwrap();
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let p256 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let p256 = EcdsaKeyPair::from_pkcs8(kind, p256.as_ref(), &random).unwrap();
        let ed25519 = Ed25519KeyPair::from_seed_unchecked(&random_bytes::<32>()).unwrap();
        let named = |algorithm: Algorithm, key| (algorithm, random_text("k"), key);
        Self(vec![
            named(Algorithm::RS256, SigningKey::Rsa(rsa)),
            named(Algorithm::ES256, SigningKey::P256(p256)),
            named(Algorithm::EdDSA, SigningKey::Ed25519(ed25519)),
        ])
    }

    /// The key of an algorithm, with its id.
    pub(super) fn of(&self, algorithm: Algorithm) -> (&str, &SigningKey) {
        let found = self.0.iter().find(|(known, _, _)| *known == algorithm);
        found.map(|(_, id, key)| (id.as_str(), key)).unwrap()
    }

    /// The key set, as `/jwks` has it.
    pub(super) fn public(&self) -> Value {
        let keys = self.0.iter().map(|(algorithm, id, key)| {
            let mut jwk = key.public();
            jwk["alg"] = format!("{algorithm:?}").into();
            jwk["kid"] = id.clone().into();
            jwk["use"] = "sig".into();
            jwk
        });
        json!({ "keys": keys.collect::<Vec<Value>>() })
    }
}

impl SigningKey {
    /// The signature of a message.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Self::P256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// The public key as a JWK, without its names.
    fn public(&self) -> Value {
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Rsa(key) => {
                let PublicKeyComponents::<Vec<u8>> { n, e } = key.public().into();
                json!({ "kty": "RSA", "n": number(&n), "e": number(&e) })
            }
            Self::P256(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": number(x), "y": number(y) })
            }
            Self::Ed25519(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": number(key.public_key().as_ref()) })
            }
        }
    }
}

/// A random text, with the kind of thing that it stands for.
pub(super) fn random_text(kind: &str) -> String {
    let digits: String = random_bytes::<16>().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}-{digits}")
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).unwrap();
    bytes
}
