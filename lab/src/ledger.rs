//! The tokens of a task, request by request. Every request carries the host's context, the section of the prompt, the
//! tools, and all calls and answers before it.

/// The prompt cache of the provider. Reading a token from it costs 0.1 of a plain one, writing it 1.25, as Anthropic
/// publishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PromptCache {
    #[default]
    None,
    /// The first request writes everything to it.
    Cold,
    /// Earlier tasks have written the context of the host, the prompt and the tools.
    Warm,
}

/// The requests of one task.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Tokens of calls and answers before each request, and of the call that it returns.
    requests: Vec<(usize, usize)>,
    history: usize,
    /// Tokens of calls.
    pub calls: usize,
    /// Tokens of answers.
    pub answers: usize,
}

impl Ledger {
    /// A request that returns calls, and the answers that follow.
    pub fn turn(&mut self, calls: usize, answers: usize) {
        self.requests.push((self.history, calls));
        self.history += calls + answers;
        self.calls += calls;
        self.answers += answers;
    }

    /// Adds definitions to the context of all later requests.
    pub fn add_to_context(&mut self, tokens: usize) {
        self.history += tokens;
        self.answers += tokens;
    }

    /// The last request, which returns text to the person.
    pub fn end(&mut self) {
        self.requests.push((self.history, 0));
    }

    /// Tokens of the calls of each request but the last, and of what came into the context after them.
    pub fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let later = self.requests.iter().skip(1);
        self.requests.iter().zip(later).map(|((before, call), (after, _))| (*call, after - before - call))
    }

    /// Number of requests.
    pub fn turns(&self) -> usize {
        self.requests.len()
    }

    /// The cost of all requests, in tokens at the plain price, with so many tokens in each of them.
    pub fn cost(&self, fixed: usize, cache: PromptCache) -> f64 {
        let mut cached = if cache == PromptCache::Warm { fixed } else { 0 };
        let mut cost = 0.0;
        for (history, calls) in &self.requests {
            let sent = fixed + history;
            cost += *calls as f64;
            cost += match cache {
                PromptCache::None => sent as f64,
                _ => 0.1 * cached as f64 + 1.25 * (sent - cached) as f64,
            };
            cached = sent;
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_carries_what_came_before_it() {
        let mut ledger = Ledger::default();
        ledger.turn(10, 50);
        ledger.turn(20, 30);
        ledger.end();
        assert_eq!(ledger.turns(), 3);
        assert_eq!(ledger.cost(1000, PromptCache::None), 3000.0 + 60.0 + 110.0 + 30.0);
        assert_eq!(ledger.cost(1000, PromptCache::Cold), 1250.0 + (100.0 + 75.0) + (106.0 + 62.5) + 30.0);
        assert_eq!(ledger.cost(1000, PromptCache::Warm), 100.0 + (100.0 + 75.0) + (106.0 + 62.5) + 30.0);
    }
}
