//! Tools that were tried before a pick, and an earlier question for the same job.
//!
//! A tool that another try will not mend comes after all others, and each score says what was tried. A question in
//! other words keeps its own first hit; behind it, tools are ranked by the words of both questions.

use serde_json::{Value, json};

use super::{Input, Score};

/// Share of its score that a tool keeps which goes down.
const DOWN: f32 = 0.2;
/// Best tools of two questions that are compared, and how many both must have to be about the same job.
const COMPARED: usize = 10;
const COMMON: usize = 3;

/// A tool that was tried before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its canonical name.
    pub tool: String,
    /// The outcome of the last try: `ok`, the code of an error, or words of the caller; `None` when unknown.
    pub outcome: Option<String>,
    /// Whether another try would end alike, so that other tools come first.
    pub goes_down: bool,
}

impl Tried {
    /// Adds what was tried to the score of the tool. `least` is the least score of the tools that do not go down.
    pub(super) fn adjust(&self, score: &mut Score, least: f32) {
        let before = score.score;
        if self.goes_down {
            score.score = (score.score * DOWN).min(least);
        }
        score.add_reason(&self.text());
        score.add_detail("tried", json!({ "outcome": self.outcome, "score_before": super::rounded(before) }));
    }

    fn text(&self) -> String {
        match self.outcome.as_deref() {
            None => "tried before".into(),
            Some("ok") => "tried before: ok".into(),
            Some(code) if code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') => {
                format!("tried before: failed with {code}")
            }
            Some(words) => format!("tried before: {words}"),
        }
    }
}

impl Score {
    fn add_reason(&mut self, more: &str) {
        self.reason = Some(match self.reason.take() {
            Some(reason) => format!("{reason}; {more}"),
            None => more.to_string(),
        });
    }

    fn add_detail(&mut self, name: &str, value: Value) {
        if !self.details.is_object() {
            self.details = json!({});
        }
        self.details[name] = value;
    }
}

impl Input {
    /// This question with an earlier one behind it, whose words count less.
    pub fn with_earlier(&self, earlier: &str) -> Self {
        Self::new(format!("{}. {earlier}", self.text()).into())
    }
}

/// Whether two questions ask for the same job, by the scores that words give for each.
pub fn ask_for_the_same(one: &[Score], other: &[Score]) -> bool {
    let best = |scores| ranked(scores).into_iter().take(COMPARED).collect::<Vec<usize>>();
    let (one, other) = (best(one), best(other));
    one.iter().filter(|place| other.contains(place)).count() >= COMMON
}

/// Places of tools with a score, best first.
fn ranked(scores: &[Score]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).filter(|&place| scores[place].score > 0.0).collect();
    places.sort_by(|&one, &other| scores[other].score.total_cmp(&scores[one].score));
    places
}

/// Scores of a question together with an earlier one: those of `both`, except that the first hit of the question alone
/// stays first.
pub fn with_earlier(alone: &[Score], mut both: Vec<Score>) -> Vec<Score> {
    let ranked_by_both = ranked(&both);
    for &place in &ranked_by_both {
        let before = alone.get(place).map_or(0.0, |score| score.score);
        if both[place].score > before {
            both[place].add_reason("with the earlier question");
        }
        both[place].add_detail("score_without_earlier_question", super::rounded(before).into());
    }
    let Some(first) = ranked(alone).first().copied().filter(|&first| first < both.len()) else { return both };
    if both[first].score < alone[first].score {
        both[first] = alone[first].clone();
    }
    // Each stays below the one before, in the order of both questions.
    let mut most = both[first].score;
    for place in ranked_by_both.into_iter().filter(|&place| place != first) {
        most = most.next_down();
        both[place].score = both[place].score.min(most);
    }
    both
}
