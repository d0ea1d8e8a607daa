//! Random ids: short, since models copy them, and impossible to guess. Secrets are longer.

use super::clock::now;

/// Letters and digits that nobody confuses with each other.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// An id such as `tr_7f3k9x2m4q5d`, with sixty random bits.
pub fn random_id(kind: &str) -> String {
    let random = random();
    let mut id = String::with_capacity(kind.len() + 13);
    id.push_str(kind);
    id.push('_');
    id.extend((0..12).map(|digit| char::from(DIGITS[(random >> (digit * 5)) as usize & 31])));
    id
}

/// A secret of 256 random bits, for a cookie; `None` where the system has no randomness.
pub fn random_secret() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Random bits. Falls back to the clock: without randomness, keys and TLS do not work either.
fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| now() as u64)
}

#[cfg(test)]
mod tests {
    use super::{random_id, random_secret};

    #[test]
    fn ids_are_short_and_differ() {
        let one = random_id("tr");
        let other = random_id("tr");
        assert!(random_secret().unwrap().len() == 64 && random_secret() != random_secret());
        assert!(one.starts_with("tr_") && one.len() == 15 && one != other, "{one} {other}");
    }
}
