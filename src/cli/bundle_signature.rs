//! Signatures of bundles, as minisign makes them: `FILE.minisig` beside `FILE`.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox, SignatureBox};

use crate::private_file;
use crate::tool::clean_line;

/// Most bytes of a file with a key or a signature.
const MAX_BYTES: u64 = 16 << 10;
/// The variable with the password of a secret key.
const PASSWORD: &str = "TOOLCRIB_BUNDLE_PASSWORD";

/// The signature file of a bundle.
pub(super) fn signature_file(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

/// A public key, as text or in a file.
pub(super) fn public_key(written: &str) -> Result<PublicKey, String> {
    let text = match Path::new(written).is_file() {
        true => small_text(Path::new(written)).map_err(|error| format!("cannot read {written}: {error}"))?,
        false => written.to_string(),
    };
    let line = text.lines().rfind(|line| !line.trim().is_empty() && !line.starts_with("untrusted comment:"));
    let wrong = "a public key of minisign begins with RW and has 56 characters; name it, or the .pub file that has it";
    PublicKey::from_base64(line.unwrap_or_default().trim()).map_err(|_| wrong.to_string())
}

/// Checks that a key has signed these bytes, from the first on; the reason why it has not.
pub(super) fn check(mut data: impl Read + Seek, signature: &str, key: &PublicKey) -> Result<(), String> {
    let signature = SignatureBox::from_string(signature).map_err(|_| "its signature cannot be read")?;
    if signature.keynum() != key.keynum() {
        return Err(format!(
            "the key {} has signed it, and not {}",
            id(signature.keynum()),
            id(key.keynum())
        ));
    }
    data.rewind().map_err(|error| error.to_string())?;
    minisign::verify(key, &signature, data, true, false, false)
        .map_err(|_| "its signature does not fit its content".to_string())
}

/// The signature beside a bundle.
pub(super) fn read(bundle: &Path) -> Result<String, String> {
    small_text(&signature_file(bundle)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "it has no signature beside it".to_string(),
        _ => format!("its signature cannot be read: {error}"),
    })
}

/// The key that has signed, and the comment that is signed with it.
pub(super) fn signer(signature: &str) -> Option<(String, String)> {
    let signature = SignatureBox::from_string(signature).ok()?;
    Some((id(signature.keynum()), clean_line(&signature.trusted_comment().ok()?)))
}

/// The signature of a file; `comment` is signed with it.
pub(super) fn sign(file: &File, secret: &SecretKey, comment: &str) -> Result<String, String> {
    let signed = minisign::sign(None, secret, file, Some(comment), Some("signature of a toolcrib bundle"));
    signed.map(SignatureBox::into_string).map_err(|error| error.to_string())
}

/// The secret key in a file. Its password comes from a variable, else from the terminal.
pub(super) fn secret_key(file: &Path) -> Result<SecretKey, String> {
    let text = small_text(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let boxed = || SecretKeyBox::from_string(&text).map_err(|error| error.to_string());
    if let Ok(secret) = boxed()?.into_unencrypted_secret_key() {
        return Ok(secret);
    }
    #[expect(clippy::disallowed_methods, reason = "secrets come from the environment")]
    let password = std::env::var(PASSWORD).ok();
    let secret = boxed()?.into_secret_key(password);
    secret.map_err(|error| format!("{} is no secret key that can be used: {error}", file.display()))
}

/// Writes a new secret key, for its owner alone, and the public key beside it; the public key.
pub(super) fn generate(secret: &Path, public: &Path) -> Result<String, String> {
    if let Some(taken) = [secret, public].into_iter().find(|file| file.exists()) {
        return Err(format!("{} exists already, and a key is not replaced", taken.display()));
    }
    let KeyPair { pk, sk } = KeyPair::generate_unencrypted_keypair().map_err(|error| error.to_string())?;
    let boxed = sk.to_box(Some("secret key of toolcrib bundles")).map_err(|error| error.to_string())?;
    let public_text = pk.to_box().map_err(|error| error.to_string())?.into_string();
    let cannot = |file: &Path, error: std::io::Error| format!("cannot write {}: {error}", file.display());
    private_file::write(secret, boxed.into_string().as_bytes()).map_err(|error| cannot(secret, error))?;
    fs::write(public, public_text).map_err(|error| cannot(public, error))?;
    Ok(pk.to_base64())
}

/// The id of a key, as minisign shows it.
fn id(number: &[u8]) -> String {
    number.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

fn small_text(file: &Path) -> std::io::Result<String> {
    if file.metadata()?.len() > MAX_BYTES {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    fs::read_to_string(file)
}
