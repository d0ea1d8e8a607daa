//! The extension `io.modelcontextprotocol/skills` (SEP-2640): `skills/list`, `skills/get` and `resources/directory/read`, and the files
//! of skills at `skill://NAME/...`.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, DIRECTORY_MIME_TYPE, GetSkillResult, JsonObject, ListSkillsResult,
    ReadResourceDirectoryResult, ReadResourceResult, Resource, ResourceContents, Skill, SkillFrontmatter,
    SkillResource, SkillResources,
};

use super::uri::{SKILLS as ROOT, broken};
use super::{FRESH_FOR, meta, uri};
use crate::functions::{CatalogView, ServedSkill, SkillFile};
use crate::render::{REFERENCES, SKILL};
use crate::tool::quoted;

/// Most skills in one answer.
const PER_PAGE: usize = 20;

const MARKDOWN: &str = "text/markdown";

/// The settings of the extension, for our capabilities.
pub(super) fn settings() -> JsonObject {
    JsonObject::from_iter([("directoryRead".to_string(), true.into())])
}

/// The file at an address; `None` where we have none.
pub(super) fn read(view: &CatalogView, uri: &str, scope: CacheScope) -> Option<ReadResourceResult> {
    let (name, path) = uri.strip_prefix(ROOT)?.split_once('/')?;
    let skill = view.skills().as_ref().ok()?.iter().find(|skill| skill.name == name)?;
    let file = skill.files.iter().find(|file| file.path == path)?;
    let text = String::from_utf8_lossy(&file.markdown).into_owned();
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    let mut result = ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_FOR).with_cache_scope(scope);
    result.meta = Some(meta(view));
    Some(result)
}

/// One page of the list.
pub(super) fn list(
    view: &CatalogView,
    after: Option<&str>,
    scope: CacheScope,
) -> Result<ListSkillsResult, ErrorData> {
    let skills = skills(view)?;
    let from = match after {
        None => 0,
        Some(last) => {
            let place = skills.iter().position(|skill| address(skill) == last);
            place.ok_or_else(uri::invalid_cursor)? + 1
        }
    };
    let shown = &skills[from..skills.len().min(from + PER_PAGE)];
    let mut result = ListSkillsResult::with_all_items(shown.iter().map(entry).collect())
        .with_ttl_ms(FRESH_FOR)
        .with_cache_scope(scope);
    let is_last = from + shown.len() >= skills.len();
    result.next_cursor = shown.last().filter(|_| !is_last).map(|last| uri::cursor_after(&address(last)));
    result.meta = Some(meta(view));
    Ok(result)
}

/// The skill at an address.
pub(super) fn get(view: &CatalogView, uri: &str, scope: CacheScope) -> Result<GetSkillResult, ErrorData> {
    let skill = skills(view)?.iter().find(|skill| address(skill) == uri);
    let missing = || refused(format!("there is no skill {}; skills/list has all", quoted(uri)));
    let result = GetSkillResult::new(entry(skill.ok_or_else(missing)?));
    Ok(result.with_ttl_ms(FRESH_FOR).with_cache_scope(scope).with_meta(meta(view)))
}

/// The children of a folder: the root of a skill, or its references.
pub(super) fn read_folder(
    view: &CatalogView,
    uri: &str,
    scope: CacheScope,
) -> Result<ReadResourceDirectoryResult, ErrorData> {
    let missing = || refused(format!("there is no folder {}", quoted(uri)));
    let path = uri.trim_end_matches('/').strip_prefix(ROOT).ok_or_else(missing)?;
    let (name, below) = path.split_once('/').unwrap_or((path, ""));
    let skill = skills(view)?.iter().find(|skill| skill.name == name).ok_or_else(missing)?;
    let files = skill.files.iter().filter(|file| file.path.contains('/') != below.is_empty());
    let mut children: Vec<Resource> = files.map(|file| child(skill, file)).collect();
    match below {
        "" => {
            let references = Resource::new(format!("{ROOT}{name}/{REFERENCES}"), REFERENCES);
            children.push(references.with_mime_type(DIRECTORY_MIME_TYPE));
        }
        REFERENCES => {}
        _ => return Err(missing()),
    }
    let mut result =
        ReadResourceDirectoryResult::with_all_items(children).with_ttl_ms(FRESH_FOR).with_cache_scope(scope);
    result.meta = Some(meta(view));
    Ok(result)
}

fn child(skill: &ServedSkill, file: &SkillFile) -> Resource {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let resource = Resource::new(format!("{ROOT}{}/{}", skill.name, file.path), name);
    resource.with_mime_type(MARKDOWN).with_size(file.markdown.len() as u64)
}

/// A skill with all its files.
fn entry(skill: &ServedSkill) -> Skill {
    let file = |file: &SkillFile| {
        let uri = format!("{ROOT}{}/{}", skill.name, file.path);
        SkillResource::new(uri, &file.digest, file.markdown.len() as u64)
    };
    let frontmatter = SkillFrontmatter::new(&skill.name, &skill.description);
    Skill::new(address(skill), frontmatter, SkillResources::Files(skill.files.iter().map(file).collect()))
}

fn address(skill: &ServedSkill) -> String {
    format!("{ROOT}{}/{SKILL}", skill.name)
}

fn skills(view: &CatalogView) -> Result<&[ServedSkill], ErrorData> {
    view.skills().as_ref().map(Vec::as_slice).map_err(broken)
}

fn refused(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
