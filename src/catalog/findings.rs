//! The findings of a catalog. Findings in a bundle are read at their first use; their numbers and their hash are known before.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize, Serializer};

use crate::bundle::{Bundle, checksum};
use crate::finding::{Finding, Severity};

/// Findings in the order of their places; derefs to a slice of them.
#[derive(Clone, Debug, Default)]
pub struct Findings(Arc<LazyFindings>);

#[derive(Debug, Default)]
struct LazyFindings {
    read: OnceLock<Vec<Finding>>,
    stored: Option<(Arc<Bundle>, usize, Counts)>,
}

/// Number of findings by severity.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Remarks.
    pub infos: usize,
}

impl Findings {
    /// The findings in this part of a bundle, of which there are so many.
    pub(super) fn stored(bundle: &Arc<Bundle>, part: usize, counts: Counts) -> Self {
        let stored = Some((Arc::clone(bundle), part, counts));
        Self(Arc::new(LazyFindings { read: OnceLock::new(), stored }))
    }

    /// Number of findings by severity.
    pub fn counts(&self) -> Counts {
        if let Some((_, _, counts)) = self.0.stored {
            return counts;
        }
        let count = |severity| self.iter().filter(|finding| finding.severity == severity).count();
        Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        }
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        let all: &[Finding] = if self.counts().errors == 0 { &[] } else { self };
        all.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Adds findings at the end.
    pub fn extend(&mut self, more: Vec<Finding>) {
        if !more.is_empty() {
            *self = self.iter().cloned().chain(more).collect();
        }
    }

    /// The findings as JSON, as a bundle has them.
    pub(super) fn json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&**self)
    }

    /// A hash of all findings.
    pub fn hash(&self) -> [u8; 24] {
        let stored = self.0.stored.as_ref().and_then(|(bundle, part, _)| bundle.checksum(*part));
        stored.unwrap_or_else(|| checksum(&self.json().unwrap_or_default()))
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        self.0.read.get_or_init(|| {
            let stored = self.0.stored.as_ref();
            let text = stored.and_then(|(bundle, part, _)| bundle.part(*part).ok());
            text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
        })
    }
}

impl From<Vec<Finding>> for Findings {
    fn from(findings: Vec<Finding>) -> Self {
        Self(Arc::new(LazyFindings { read: OnceLock::from(findings), stored: None }))
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        findings.into_iter().collect::<Vec<_>>().into()
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
