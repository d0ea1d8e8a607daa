//! Names for what is made here: short, since models carry them, and not to be guessed.

/// Letters and digits that nobody mistakes for each other.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A name such as `tr_7f3k9x2m4q5d`, with sixty random bits.
pub fn random_id(kind: &str) -> String {
    // Without a source of randomness there is none for keys or TLS either; the clock is better than an end.
    let random = getrandom::u64().unwrap_or_else(|_| super::now() as u64);
    let mut id = String::with_capacity(kind.len() + 13);
    id.push_str(kind);
    id.push('_');
    id.extend((0..12).map(|digit| char::from(DIGITS[(random >> (digit * 5)) as usize & 31])));
    id
}

#[cfg(test)]
mod tests {
    use super::random_id;

    #[test]
    fn ids_are_short_and_differ() {
        let (one, other) = (random_id("tr"), random_id("tr"));
        assert!(one.starts_with("tr_") && one.len() == 15 && one != other, "{one} {other}");
    }
}
