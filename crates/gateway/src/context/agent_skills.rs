//! The Agent Skills of a catalog view, with the bytes and the digest of each file: those that `render --skills` writes.

use bytes::Bytes;
use rmcp::model::sha256_digest;

use toolcrib_catalog::{Catalog, Profile};
use toolcrib_render::{
    REFERENCES, SKILL, TemplateError, Templates, page_path, schema_file, schema_path, skills,
};

/// A skill, ready to be served.
#[derive(Debug)]
pub struct ServedSkill {
    /// Its name, and the name of its folder.
    pub name: String,
    /// Its use.
    pub description: String,
    /// `SKILL.md`, then its references: pages, and the schemas that pages shorten.
    pub files: Vec<SkillFile>,
}

#[derive(Debug)]
pub struct SkillFile {
    /// The path in the folder of the skill.
    pub path: String,
    /// Its content.
    pub content: Bytes,
    /// SHA-256 of its content, such as `sha256:9f86…`.
    pub digest: String,
}

impl SkillFile {
    fn of(path: String, content: Bytes) -> Self {
        Self { path, digest: sha256_digest(&content), content }
    }
}

impl ServedSkill {
    /// The skills of a profile.
    pub(super) fn all(
        catalog: &Catalog,
        profile: &Profile<'_>,
        templates: &Templates,
    ) -> Result<Vec<Self>, TemplateError> {
        let skills = skills(catalog, profile).into_iter();
        let served = skills.map(|skill| {
            let mut files = vec![SkillFile::of(SKILL.to_string(), Bytes::from(skill.markdown.clone()))];
            for tool in skill.tools.iter().map(|&tool| profile.tools[tool].tool) {
                let page = skill.page(tool, (catalog, profile), templates)?;
                files.push(SkillFile::of(page_path(tool), Bytes::from(page)));
                let schema = schema_path(tool).map(|path| format!("{REFERENCES}/{path}"));
                files.extend(schema.map(|path| SkillFile::of(path, Bytes::from(schema_file(tool)))));
            }
            Ok(Self { name: skill.name, description: skill.description, files })
        });
        served.collect()
    }
}
