//! Scores by meaning: the cosine of the input's vector and the tool's, relative to the cosines of unrelated texts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::{Input, Score, Scorer, rounded};
use crate::catalog::Tool;
use crate::model::EmbeddingModel;
use crate::search::semantic::{Similarities, UNRELATED, cosine, text};

/// Most texts in one request to the model.
const AT_ONCE: usize = 64;
/// Most vectors that are kept.
const REMEMBERED: usize = 100_000;

/// Scores by meaning. Vectors of tools are asked for once.
pub struct Embedding {
    model: Arc<dyn EmbeddingModel>,
    timeout: Duration,
    known: Mutex<HashMap<String, Arc<[f32]>>>,
}

impl Embedding {
    /// A scorer with this model, and this timeout for each answer.
    pub fn new(model: Arc<dyn EmbeddingModel>, timeout: Duration) -> Self {
        Self { model, timeout, known: Mutex::default() }
    }

    fn embed_unknown(&self, texts: &[String]) -> Result<(), String> {
        let is_known = |text: &String| self.known().contains_key(text);
        let unknown: Vec<String> = texts.iter().filter(|text| !is_known(text)).cloned().collect();
        for texts in unknown.chunks(AT_ONCE) {
            let vectors = self.model.embed(texts, self.timeout).map_err(|error| error.brief())?;
            let mut known = self.known();
            if known.len() > REMEMBERED {
                known.clear();
            }
            known.extend(texts.iter().cloned().zip(vectors.into_iter().map(Arc::from)));
        }
        Ok(())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<[f32]>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scorer for Embedding {
    fn name(&self) -> &str {
        "embedding"
    }

    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Result<Vec<Score>, String> {
        if input.text().is_empty() {
            return Ok(vec![Score::default(); tools.len()]);
        }
        let texts: Vec<String> = tools.iter().map(|tool| text(tool)).collect();
        self.embed_unknown(&UNRELATED.map(String::from))?;
        self.embed_unknown(&texts)?;
        let asked = self.model.embed(&[input.text().into()], self.timeout).map_err(|error| error.brief())?;
        let asked = asked.first().ok_or("the model gave no vector")?;
        let known = self.known();
        let near = |text: &str| {
            let vector = known.get(text).ok_or("the model gave too few vectors")?;
            cosine(vector, asked).ok_or("the model gave vectors of different lengths")
        };
        let tools: Result<Vec<f32>, &str> = texts.iter().map(|text| near(text)).collect();
        let unrelated: Result<Vec<f32>, &str> = UNRELATED.into_iter().map(near).collect();
        Ok(Vec::from(&Similarities::new(tools?, unrelated?)))
    }
}

impl From<&Similarities> for Vec<Score> {
    fn from(near: &Similarities) -> Self {
        let score = |(place, cosine): (usize, &f32)| {
            let score = near.normalized(place);
            let reason = (score > 0.0).then(|| format!("near in meaning ({cosine:.2})"));
            let details = json!({ "cosine": rounded(*cosine), "unrelated": rounded(near.unrelated) });
            Score { score, reason, details }
        };
        near.cosine.iter().enumerate().map(score).collect()
    }
}
