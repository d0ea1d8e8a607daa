//! The findings of a catalog. A bundle tells their numbers and their hash, and has them; those of a catalog that was just
//! read are completed by lint. Both is done at their first use.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize, Serializer};

use super::unlinted::Unlinted;
use crate::bundle::{Bundle, checksum};
use crate::finding::{Finding, Severity};

/// Findings in the order of their places; derefs to a slice of them.
#[derive(Clone, Debug, Default)]
pub struct Findings(Arc<LazyFindings>);

#[derive(Debug, Default)]
struct LazyFindings {
    all: OnceLock<Vec<Finding>>,
    source: Source,
}

/// Where findings come from at their first use.
#[derive(Debug, Default)]
enum Source {
    /// They are there.
    #[default]
    Memory,
    Stored(Arc<Bundle>, usize, Counts),
    /// The errors among them, and what all are made of.
    Unlinted(Vec<Finding>, Mutex<Option<Unlinted>>),
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
        let source = Source::Stored(Arc::clone(bundle), part, counts);
        Self(Arc::new(LazyFindings { all: OnceLock::new(), source }))
    }

    /// The findings that lint completes.
    pub(super) fn unlinted(unlinted: Unlinted) -> Self {
        let source = match unlinted.may_find_errors() {
            true => return unlinted.linted().into(),
            false => Source::Unlinted(unlinted.errors(), Mutex::new(Some(unlinted))),
        };
        Self(Arc::new(LazyFindings { all: OnceLock::new(), source }))
    }

    /// Number of findings by severity.
    pub fn counts(&self) -> Counts {
        if let Source::Stored(_, _, counts) = self.0.source {
            return counts;
        }
        let count = |severity| self.iter().filter(|finding| finding.severity == severity).count();
        Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        }
    }

    /// The errors, which are known without lint.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        let among: &[Finding] = match &self.0.source {
            Source::Unlinted(errors, _) => errors,
            Source::Stored(_, _, counts) if counts.errors == 0 => &[],
            _ => self,
        };
        among.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Adds findings at the end.
    pub fn extend(&mut self, more: Vec<Finding>) {
        if !more.is_empty() {
            *self = self.iter().cloned().chain(more).collect();
        }
    }

    /// The findings as a bundle has them, in Postcard.
    pub(super) fn bytes(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(&**self)
    }

    /// A hash of all findings.
    pub fn hash(&self) -> [u8; 24] {
        let stored = match &self.0.source {
            Source::Stored(bundle, part, _) => bundle.checksum(*part),
            _ => None,
        };
        stored.unwrap_or_else(|| checksum(&self.bytes().unwrap_or_default()))
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        self.0.all.get_or_init(|| match &self.0.source {
            Source::Memory => Vec::new(),
            Source::Stored(bundle, part, _) => {
                let text = bundle.part(*part).ok();
                text.and_then(|text| postcard::from_bytes(&text).ok()).unwrap_or_default()
            }
            Source::Unlinted(_, unlinted) => {
                let unlinted = unlinted.lock().unwrap_or_else(PoisonError::into_inner).take();
                unlinted.map(Unlinted::linted).unwrap_or_default()
            }
        })
    }
}

impl From<Vec<Finding>> for Findings {
    fn from(findings: Vec<Finding>) -> Self {
        Self(Arc::new(LazyFindings { all: OnceLock::from(findings), source: Source::Memory }))
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
