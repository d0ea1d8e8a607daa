//! Category paths: the positions of a tool in the tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clean_line;

/// A path such as `Storage/Buckets`; its segments are clean, non-empty lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(transparent)]
pub struct CategoryPath(String);

impl CategoryPath {
    /// Reads a path; `None` when no segment is left after cleaning.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_segments(text.split('/'))
    }

    /// Joins segments; a slash inside a segment becomes a space.
    pub fn from_segments<'a>(segments: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let clean: Vec<String> = segments
            .into_iter()
            .map(|segment| clean_line(&segment.replace('/', " ")))
            .filter(|segment| !segment.is_empty())
            .collect();
        (!clean.is_empty()).then(|| Self(clean.join("/")))
    }

    /// The path as one string, segments joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path, then its ancestors, the nearest first.
    pub fn with_parents(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.as_str()), |path| path.rsplit_once('/').map(|(parent, _)| parent))
    }

    /// The first segment.
    pub fn root(&self) -> &str {
        self.0.split('/').next().unwrap_or(&self.0)
    }

    /// The segments, root first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for CategoryPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CategoryPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a category path has at least one segment"))
    }
}

/// One path or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum OneOrMany {
    One(CategoryPath),
    Many(Vec<CategoryPath>),
}

pub(crate) mod one_or_many {
    use super::CategoryPath;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[CategoryPath], serializer: S) -> Result<S::Ok, S::Error> {
        match paths {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<CategoryPath>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(String),
            Many(Vec<String>),
        }
        let written = match Written::deserialize(deserializer) {
            Ok(Written::One(path)) => vec![path],
            Ok(Written::Many(paths)) => paths,
            Err(_) => return Err(D::Error::custom("`category` is a path, or a list of paths")),
        };
        let path = |path: &String| {
            let empty = "`category`: a path has at least one segment, such as `Storage/Buckets`; leave it out otherwise";
            CategoryPath::parse(path).ok_or_else(|| D::Error::custom(empty))
        };
        written.iter().map(path).collect()
    }
}
