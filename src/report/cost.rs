//! The cost of tokens over a job: a request costs 100 per token, in hundredths of the price of one token.

use crate::tokens::Count;

/// The price of an input token.
const PLAIN: u128 = 100;
/// Price of writing a token to the prompt cache, as Anthropic publishes it.
const CACHE_WRITE: u128 = 125;
/// Price of reading a token from the prompt cache, as Anthropic publishes it.
const CACHE_READ: u128 = 10;

/// Pricing of requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum Price {
    /// Every token of every request in full.
    Plain,
    /// The first request writes to the prompt cache, later ones read from it.
    Cached,
}

impl Price {
    /// Cost of one token that stands in `requests` requests, in hundredths.
    fn of(self, requests: u128) -> u128 {
        let later = requests.saturating_sub(1);
        match self {
            Price::Plain => PLAIN * requests,
            Price::Cached => CACHE_WRITE * requests.min(1) + CACHE_READ * later,
        }
    }
}

/// Cost of a job, in tokens at the plain price, with these tokens in every request.
pub(super) fn job(tokens: Count, iterations: u32, price: Price) -> Count {
    let hundredths = price.of(iterations.into());
    tokens.map(|tokens| usize::try_from((tokens as u128 * hundredths + 50) / 100).unwrap_or(usize::MAX))
}

/// The break-even: reads of the doc from which it is cheaper to bind a tool in full.
///
/// Binding costs the extra tokens of the full tool in every request. A read costs its tokens in the request that
/// makes it, and in the ones after it: half of them on average, since it may come at any time.
pub(super) fn reads_to_break_even(
    full: usize,
    deferred: usize,
    read: usize,
    iterations: u32,
    price: Price,
) -> u64 {
    let Some(more) = full.checked_sub(deferred) else { return 0 };
    let iterations = u128::from(iterations);
    // Both sides are doubled, so that half of the requests is a whole number.
    let binding = 2 * more as u128 * price.of(iterations);
    let reading = read as u128 * (price.of(1) + price.of(iterations));
    binding.checked_div(reading).map_or(0, |reads| u64::try_from(reads + 1).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_costs_its_requests() {
        let tokens = Count { o200k: 1000, cl100k: 200 };
        assert_eq!(job(tokens, 84, Price::Plain), Count { o200k: 84_000, cl100k: 16_800 });
        assert_eq!(job(tokens, 84, Price::Cached), Count { o200k: 9_550, cl100k: 1_910 });
        assert_eq!(job(tokens, 1, Price::Cached), Count { o200k: 1_250, cl100k: 250 });
        assert_eq!(job(Count { o200k: usize::MAX, cl100k: 0 }, u32::MAX, Price::Plain).o200k, usize::MAX);
    }

    #[test]
    fn reads_break_even_when_they_cost_more_than_binding() {
        let reads = |full, deferred, read, price| reads_to_break_even(full, deferred, read, 84, price);
        // 84 requests of 300 tokens are 25,200; a read of 400 tokens costs 400 * 42.5 = 17,000.
        assert_eq!(reads(350, 50, 400, Price::Plain), 2);
        // 300 * 9.55 = 2,865; 400 * (1.25 + 0.1 * 41.5) = 2,160.
        assert_eq!(reads(350, 50, 400, Price::Cached), 2);
        assert_eq!(reads(1000, 50, 100, Price::Plain), 19);
        assert_eq!(reads(50, 50, 100, Price::Plain), 1, "the same price; the first read decides");
        assert_eq!(reads(40, 50, 100, Price::Plain), 0, "dearer without any read");
    }
}
