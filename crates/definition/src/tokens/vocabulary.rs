//! The vocabulary of o200k as it lies in the program: sorted, so that nothing is built before the first count.

use std::cmp::Ordering;
use std::sync::LazyLock;

/// How many tokens there are of each length from 1 to [`LONGEST`] (32 bits each), then the tokens by length and content, then the
/// rank of each (24 bits). Numbers begin with their lowest byte.
static FILE: &[u8] = include_bytes!("o200k.bin");
/// Bytes of the longest token.
const LONGEST: usize = 128;

/// The tokens of one length, one after the other, and their ranks.
struct OfLength {
    tokens: &'static [u8],
    ranks: &'static [[u8; 3]],
}

static BY_LENGTH: LazyLock<Vec<OfLength>> = LazyLock::new(|| {
    let (counts, rest) = FILE.split_at(4 * LONGEST);
    let counts: Vec<usize> =
        counts.as_chunks().0.iter().map(|count| u32::from_le_bytes(*count) as usize).collect();
    let bytes = counts.iter().zip(1..).map(|(count, length)| count * length).sum();
    let (mut tokens, ranks) = rest.split_at(bytes);
    let mut ranks = ranks.as_chunks().0;
    let of_length = |(count, length)| OfLength {
        tokens: tokens.split_off(..count * length).unwrap_or_default(),
        ranks: ranks.split_off(..count).unwrap_or_default(),
    };
    counts.into_iter().zip(1..).map(of_length).collect()
});

/// The rank of a token, which is the order in which pairs become tokens; `None` for other bytes.
pub(super) fn rank(token: &[u8]) -> Option<u32> {
    let OfLength { tokens, ranks } = BY_LENGTH.get(token.len().checked_sub(1)?)?;
    let (mut low, mut high) = (0, ranks.len());
    while low < high {
        let middle = (low + high) / 2;
        match tokens[middle * token.len()..][..token.len()].cmp(token) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => {
                let [first, second, third] = ranks[middle];
                return Some(u32::from_le_bytes([first, second, third, 0]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_encoding() {
        let o200k = tiktoken::encoding::o200k_base();
        let count = o200k.vocab_size();
        assert!((0..count as u32).all(|known| rank(&o200k.decode(&[known])) == Some(known)));
        assert_eq!(BY_LENGTH.iter().map(|of| of.ranks.len()).sum::<usize>(), count);
    }
}
