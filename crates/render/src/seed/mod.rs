//! Seeds a workspace at job start: the docs of a profile, and a template around them.
//!
//! Files of the user are kept. A template file is written where no file is, and renewed as long as nobody has changed
//! it. After a change, only our block in it is renewed, if it has one, as `AGENTS.md` does.

mod block;
mod obstacles;
mod template;
pub(crate) mod values;

use std::path::Path;

use crate::documentation::Docs;
use crate::error::{RenderError, failed};
use crate::folder::{self, Drift, Files, write_whole};
use crate::templates::TemplateError;
use block::Change;
use obstacles::{refuse_links, refuse_others};
use template::TemplateFile;

pub use template::{DOCS, WorkspaceTemplate};
pub use values::ValueError;

/// Result of seeding.
#[derive(Debug)]
pub struct Seeded {
    /// Report on the docs.
    pub docs: folder::Written,
    /// Template files written or renewed.
    pub written: Vec<String>,
    /// Files of the user's that were left as they are.
    pub kept: Vec<String>,
    /// Files that were left as they are since their markers do not pair, or are in a code fence.
    pub unclear: Vec<String>,
    /// Whether the index of the docs, and the text about it, waits until all sources can be read again.
    pub index_kept: bool,
}

/// Seeds `workspace` with the docs of a profile and the files of a template.
pub fn seed(
    docs: Docs<'_>,
    workspace: &Path,
    template: &WorkspaceTemplate,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Seeded, RenderError> {
    let docs = &template.docs(docs);
    let rendered = rendered(docs, workspace, template)?;
    let _lock = folder::lock(workspace)?;
    let index_kept = docs.withholds_index("", &workspace.join(DOCS))?;
    let report = docs.write(&workspace.join(DOCS), progress)?;
    let plan = Plan::of(rendered, workspace, index_kept)?;
    let mut seeded =
        Seeded { docs: report, written: Vec::new(), kept: Vec::new(), unclear: Vec::new(), index_kept };
    for (name, change) in plan.of_user {
        match change {
            Change::Write(content) => {
                let target = workspace.join(&name);
                std::fs::create_dir_all(target.parent().unwrap_or(workspace))
                    .and_then(|()| write_whole(&target, &content))
                    .map_err(|error| failed(&name, error))?;
                seeded.written.push(name);
            }
            Change::Keep => seeded.kept.push(name),
            Change::Unclear => seeded.unclear.push(name),
            Change::None => {}
        }
    }
    if plan.has_owned {
        let report = folder::write(workspace, &files_of(docs, &plan.owned), &|_| {})?;
        if report.created + report.updated > 0 {
            seeded.written.extend(plan.owned.into_iter().map(|(name, _)| name));
        }
    }
    Ok(seeded)
}

/// The files that [`seed`] would write into a workspace that does not exist yet, by path.
pub fn seeded_files(
    docs: Docs<'_>,
    template: &WorkspaceTemplate,
) -> Result<Vec<folder::Content>, RenderError> {
    let docs = &template.docs(docs);
    docs.try_one()?;
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for (name, content) in template.render(docs)? {
        match String::from_utf8(content.into_owned()) {
            Ok(text) => texts.push((name, text)),
            Err(binary) => files.push((name, binary.into_bytes())),
        }
    }
    if !texts.is_empty() {
        files.extend(folder::contents(&files_of(docs, &texts))?);
    }
    let below = |(path, content)| (format!("{DOCS}/{path}"), content);
    files.extend(folder::contents(&docs.all_files("", false))?.into_iter().map(below));
    files.sort_unstable();
    Ok(files)
}

/// The changes that [`seed`] would make, without making them.
pub fn seed_drift(
    docs: Docs<'_>,
    workspace: &Path,
    template: &WorkspaceTemplate,
) -> Result<Drift, RenderError> {
    let docs = &template.docs(docs);
    let rendered = rendered(docs, workspace, template)?;
    let index_kept = docs.withholds_index("", &workspace.join(DOCS))?;
    let folder = workspace.join(DOCS);
    let mut drift = folder::check(&folder, &format!("{DOCS}/"), &docs.files(&folder)?)?;
    let plan = Plan::of(rendered, workspace, index_kept)?;
    for (name, change) in plan.of_user {
        if let Change::Write(content) = change {
            let old = std::fs::read(workspace.join(&name)).ok();
            drift.add(&name, old.as_deref(), &content);
        }
    }
    if plan.has_owned {
        drift.extend(folder::check(workspace, "", &files_of(docs, &plan.owned))?);
    }
    Ok(drift)
}

/// The files of a template with their values, once it is sure that they can be written.
fn rendered(
    docs: &Docs<'_>,
    workspace: &Path,
    template: &WorkspaceTemplate,
) -> Result<Vec<TemplateFile>, RenderError> {
    docs.try_one()?;
    let rendered = template.render(docs)?;
    refuse_links(workspace, DOCS).map_err(|error| failed(DOCS, error))?;
    for (name, _) in &rendered {
        refuse_links(workspace, name).map_err(|error| failed(name, error))?;
        refuse_others(&workspace.join(name)).map_err(|error| failed(name, error))?;
    }
    Ok(rendered)
}

/// Files of a template by their owner.
struct Plan {
    /// Files that are new, or that nobody has changed since toolcrib wrote them.
    owned: Vec<(String, String)>,
    /// Whether there are any, or were any in an earlier run.
    has_owned: bool,
    of_user: Vec<(String, Change)>,
}

impl Plan {
    fn of(rendered: Vec<TemplateFile>, workspace: &Path, index_kept: bool) -> Result<Self, RenderError> {
        let ours = folder::unedited(workspace)?;
        let mut owned = Vec::new();
        let mut of_user = Vec::new();
        for (name, content) in rendered {
            let is_new = !workspace.join(&name).exists();
            let content = match String::from_utf8(content.into_owned()) {
                Ok(text) if is_new || ours.contains(&name) && !index_kept => {
                    owned.push((name, text));
                    continue;
                }
                Ok(text) => text.into_bytes(),
                Err(binary) => binary.into_bytes(),
            };
            let change = Change::of(workspace, &name, content, index_kept);
            let change = change.map_err(|error| failed(&name, error))?;
            of_user.push((name, change));
        }
        Ok(Self { has_owned: !owned.is_empty() || !ours.is_empty(), owned, of_user })
    }
}

/// Texts as files of a set.
fn files_of<'t>(docs: &Docs<'_>, texts: &'t [(String, String)]) -> Files<'t> {
    let mut files = Files::new(docs.catalog.complete);
    for (name, text) in texts {
        files.push(name.clone(), || Ok::<_, TemplateError>(text.clone()));
    }
    files
}
