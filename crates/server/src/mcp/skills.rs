//! Skills at `skill://NAME/...` (the extension `io.modelcontextprotocol/skills`, SEP-2640): `skills/list`, `skills/get`
//! and `resources/directory/read`, and their files.

use std::collections::BTreeSet;

use rmcp::ErrorData;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, GetSkillResult, ListSkillsResult, ReadResourceDirectoryResult, ReadResourceResult,
    Resource, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources,
};

use super::cursor::{SKILLS, invalid_cursor, page_of};
use super::requester::{McpResult, Requester, cacheable};
use super::resources::{MARKDOWN, broken};
use toolcrib_definition::quoted;
use toolcrib_gateway::functions::{CatalogView, ServedSkill, SkillFile};
use toolcrib_render::SKILL;

/// Most skills in one answer.
const SKILLS_PER_PAGE: usize = 20;

/// The file of a skill at an address; `None` where there is no such file.
pub(super) fn read_skill(requester: &Requester, uri: &str) -> Option<ReadResourceResult> {
    let (name, path) = uri.strip_prefix(SKILLS)?.split_once('/')?;
    let skill = requester.view().skills().as_ref().ok()?.iter().find(|skill| skill.name == name)?;
    let file = skill.files.iter().find(|file| file.path == path)?;
    let text = String::from_utf8_lossy(&file.content).into_owned();
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type(&file.path));
    Some(cacheable!(ReadResourceResult::new(vec![contents]), requester))
}

/// One page of the list of skills.
pub(super) fn list_skills(requester: &Requester, after: Option<&str>) -> McpResult<ListSkillsResult> {
    let skills = skills(requester.view())?;
    let from = match after {
        None => 0,
        Some(last) => {
            let place = skills.iter().position(|skill| skill_address(skill) == last);
            place.ok_or_else(invalid_cursor)? + 1
        }
    };
    let (shown, next_cursor) = page_of(skills, from, SKILLS_PER_PAGE, |_, skill| skill_address(skill));
    let entries = shown.iter().map(skill_entry).collect();
    let result = ListSkillsResult { next_cursor, ..ListSkillsResult::with_all_items(entries) };
    Ok(cacheable!(result, requester))
}

/// The skill at an address.
pub(super) fn skill(requester: &Requester, uri: &str) -> McpResult<GetSkillResult> {
    let skill = skills(requester.view())?.iter().find(|skill| skill_address(skill) == uri);
    let missing = || refused(format!("there is no skill {}; skills/list has all", quoted(uri)));
    Ok(cacheable!(GetSkillResult::new(skill_entry(skill.ok_or_else(missing)?)), requester))
}

/// The children of a folder: the root of a skill, or a folder below it.
pub(super) fn skill_folder(requester: &Requester, uri: &str) -> McpResult<ReadResourceDirectoryResult> {
    let missing = || refused(format!("there is no folder {}", quoted(uri)));
    let path = uri.trim_end_matches('/').strip_prefix(SKILLS).ok_or_else(missing)?;
    let (name, below) = path.split_once('/').unwrap_or((path, ""));
    let skill = skills(requester.view())?.iter().find(|skill| skill.name == name).ok_or_else(missing)?;
    let mut folders = BTreeSet::new();
    let mut children = Vec::new();
    for file in &skill.files {
        let inside =
            if below.is_empty() { Some(&*file.path) } else { file.path.strip_prefix(&format!("{below}/")) };
        match inside.map(|inside| inside.split_once('/').unwrap_or((inside, ""))) {
            Some((child, "")) => {
                let resource = Resource::new(format!("{SKILLS}{path}/{child}"), child);
                let size = file.content.len() as u64;
                children.push(resource.with_mime_type(mime_type(child)).with_size(size));
            }
            Some((folder, _)) => drop(folders.insert(folder)),
            None => {}
        }
    }
    let folder = |folder| {
        Resource::new(format!("{SKILLS}{path}/{folder}"), folder).with_mime_type(DIRECTORY_MIME_TYPE)
    };
    children.extend(folders.into_iter().map(folder));
    if children.is_empty() {
        return Err(missing());
    }
    Ok(cacheable!(ReadResourceDirectoryResult::with_all_items(children), requester))
}

/// The media type of a file of a skill.
fn mime_type(path: &str) -> &'static str {
    if path.ends_with(".md") { MARKDOWN } else { "application/json" }
}

/// A skill with all its files.
fn skill_entry(skill: &ServedSkill) -> Skill {
    let file = |file: &SkillFile| {
        let uri = format!("{SKILLS}{}/{}", skill.name, file.path);
        SkillResource::new(uri, &file.digest, file.content.len() as u64)
    };
    let frontmatter = SkillFrontmatter::new(&skill.name, &skill.description);
    let files = SkillResources::Files(skill.files.iter().map(file).collect());
    Skill::new(skill_address(skill), frontmatter, files)
}

fn skill_address(skill: &ServedSkill) -> String {
    format!("{SKILLS}{}/{SKILL}", skill.name)
}

fn skills(view: &CatalogView) -> McpResult<&[ServedSkill]> {
    view.skills().as_ref().map(Vec::as_slice).map_err(broken)
}

fn refused(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
