//! The search for secrets, byte by byte and in every spelling.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

/// Parts of a secret by which it would be recognized, in every spelling: of a signed token its claims and its signature.
fn parts(secret: &str) -> Vec<Vec<u8>> {
    let pieces: Vec<&str> = match secret.split('.').collect::<Vec<_>>()[..] {
        [header, claims, signature] if header.starts_with("eyJ") => vec![claims, signature],
        _ => vec![secret],
    };
    let ends = |piece: &str| {
        let piece: Vec<char> = piece.chars().collect();
        let most = piece.len().min(24);
        [piece[..most].iter().collect::<String>(), piece[piece.len() - most..].iter().collect()]
    };
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).flat_map(ends);
    let spelled = pieces.flat_map(|piece| {
        let form: String = form_urlencoded::byte_serialize(piece.as_bytes()).collect();
        let escaped = json!(piece).to_string().trim_matches('"').to_string();
        let encoded = [STANDARD.encode(&piece), URL_SAFE_NO_PAD.encode(&piece)];
        // The last letters of an encoded text depend on what follows.
        let encoded = encoded.map(|text| text.trim_end_matches('=').chars().take(24).collect::<String>());
        [piece, form, escaped].into_iter().chain(encoded)
    });
    spelled.map(String::into_bytes).collect()
}

/// Every file below a folder, with its bytes.
pub fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().display().to_string(), fs::read(entry.path()).unwrap())).collect()
}

/// Whether a text has this part; shorter ones are no secrets.
fn holds(text: &[u8], part: &[u8]) -> bool {
    part.len() >= 12 && text.windows(part.len()).any(|window| window == part)
}

/// Fails with the places of all secrets that are found.
#[track_caller]
pub fn search(places: &[(String, Vec<u8>)], secrets: &[String]) {
    let mut leaks = Vec::new();
    for secret in secrets {
        let parts = parts(secret);
        for (place, bytes) in places {
            if let Some(part) = parts.iter().find(|part| holds(bytes, part)) {
                let at = bytes.windows(part.len()).position(|window| window == part.as_slice()).unwrap_or(0);
                let around = &bytes[at.saturating_sub(160)..(at + 60).min(bytes.len())];
                leaks.push(format!("{secret:.30} in {place}: ...{}", String::from_utf8_lossy(around)));
            }
        }
    }
    leaks.truncate(12);
    assert!(leaks.is_empty(), "{} of {} places: {leaks:#?}", leaks.len(), places.len());
}

#[test]
fn the_search_finds_a_secret_in_every_spelling() {
    let secret = "known-secret-of-the-robot:%&/+";
    let signed = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbXkiLCJhdWQiOiJ4In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
    let spelled = [
        (secret, format!("a {secret} b")),
        (secret, form_urlencoded::byte_serialize(secret.as_bytes()).collect()),
        (secret, STANDARD.encode(secret)),
        (signed, "eyJzdWIiOiJhbXkiLCJhdWQiOiJ4In0".into()),
        (signed, "...c2lnbmF0dXJlLW9mLXRoZS10b2tlbg".into()),
    ];
    for (secret, text) in spelled {
        assert!(parts(secret).iter().any(|part| holds(text.as_bytes(), part)), "{text}");
    }
    assert!(!parts(signed).iter().any(|part| holds(b"eyJhbGciOiJub25lIn0", part)));
}
