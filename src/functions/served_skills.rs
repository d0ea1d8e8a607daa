//! The Agent Skills of a catalog view, with the bytes and the digest of each file: those that `render --skills` writes.

use bytes::Bytes;
use rmcp::model::sha256_digest;

use super::CatalogView;
use crate::render::{REFERENCES, SKILL, TemplateError, skills};

/// A skill, ready to be served.
#[derive(Debug)]
pub struct ServedSkill {
    /// Its name, and the name of its folder.
    pub name: String,
    /// Its use.
    pub description: String,
    /// `SKILL.md`, then its references.
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Debug)]
pub struct SkillFile {
    /// The path in the folder of the skill.
    pub path: String,
    /// Its content.
    pub markdown: Bytes,
    /// SHA-256 of its content, such as `sha256:9f86…`.
    pub digest: String,
}

impl SkillFile {
    fn of(path: String, markdown: Bytes) -> Self {
        Self { path, digest: sha256_digest(&markdown), markdown }
    }
}

impl ServedSkill {
    /// The skills of the tools that the caller may use.
    pub(super) fn all(view: &CatalogView) -> Result<Vec<Self>, TemplateError> {
        let profile = view.usable_profile();
        let skills = skills(view.catalog(), &profile).into_iter();
        let served = skills.map(|skill| {
            let mut files = vec![SkillFile::of(SKILL.to_string(), Bytes::from(skill.markdown))];
            for tool in skill.tools.iter().map(|&tool| profile.tools[tool].tool) {
                let page = view.catalog().position(&tool.name).and_then(|index| view.page(index));
                let Some(page) = page else { continue };
                let markdown = page.as_ref().map_err(Clone::clone)?.markdown.clone();
                files.push(SkillFile::of(format!("{REFERENCES}/{}.md", tool.safe_name), markdown));
            }
            Ok(Self { name: skill.name, description: skill.description, files })
        });
        served.collect()
    }
}
