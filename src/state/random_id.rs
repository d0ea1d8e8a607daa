//! Random ids: short, since models copy them, and impossible to guess. Secrets are longer.

use std::cell::RefCell;

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

/// Random bits, each used once. They are fetched many at a time, since that is a call of the system.
fn random() -> u64 {
    thread_local! {
        static FETCHED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }
    FETCHED.with_borrow_mut(|fetched| {
        if fetched.is_empty() {
            let mut bytes = [0; 512];
            // Without a source of randomness there is none for keys or TLS either; the clock is better than a crash.
            if getrandom::fill(&mut bytes).is_err() {
                return super::now() as u64;
            }
            fetched.extend(bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_ne_bytes(*chunk)));
        }
        fetched.pop().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::{random_id, random_secret};

    #[test]
    fn ids_are_short_and_differ() {
        let (one, other) = (random_id("tr"), random_id("tr"));
        assert!(random_secret().unwrap().len() == 64 && random_secret() != random_secret());
        assert!(one.starts_with("tr_") && one.len() == 15 && one != other, "{one} {other}");
    }
}
