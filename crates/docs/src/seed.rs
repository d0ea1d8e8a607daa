//! Seeds a workspace at job start: the docs of a profile, and a template around them.
//!
//! Files of the user are kept. A template file is written where no file is, and renewed as long as nobody has changed
//! it. After a change, only our block in it is renewed, if it has one, as `AGENTS.md` does.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tera::Context;
use walkdir::WalkDir;

use super::folder::{self, Drift, Files, write_whole};
use super::markdown::without_markers;
use super::templates::{TemplateError, check_text, render_text};
use super::{Around, Docs, PromptSection, RenderError};
use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::Mode;
use toolcrib_definition::embedded_files;

/// The folder of the docs in a workspace.
pub const DOCS: &str = "tools";

/// Names that a workspace template has besides the values of the job.
const PLACEHOLDERS: [&str; 6] =
    ["title", "profile", "description", "tool_count", "registry_version", "tools"];

/// Our own workspace template.
const EMBEDDED: [(&str, &str); 1] = embedded_files! { "workspace-template": "AGENTS.md" };

/// Result of seeding.
#[derive(Debug)]
pub struct Seeded {
    /// Report on the docs.
    pub docs: folder::Report,
    /// Template files written or renewed.
    pub written: Vec<String>,
    /// Files of the user's that were left as they are.
    pub kept: Vec<String>,
    /// Files that were left as they are since their markers do not pair, or are in a code fence.
    pub unclear: Vec<String>,
    /// Whether the index of the docs, and the text about it, waits until all sources can be read again.
    pub index_kept: bool,
}

/// The files around the docs of a workspace.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceTemplate {
    /// The folder of the files; `None` uses the built-in template.
    pub folder: Option<PathBuf>,
    /// Values of the job that the files name, such as `job_id`.
    pub values: Map<String, Value>,
    /// The mode of the agent's requests, which the text about tools explains; `None` is that of the configuration, and `files`
    /// without one.
    pub mode: Option<Mode>,
    /// Whether `registry.json` is among the pages.
    pub registry: bool,
}

/// Reason why a value of the job cannot have its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The name is one of toolcrib's own.
    #[error("`{0}` is filled in by toolcrib; give the value another name")]
    Placeholder(String),
    /// No template can name the value.
    #[error("`{0}` is no name for a value: use letters, digits and `_`")]
    Name(String),
    /// In this file, toolcrib's own block could not be found again.
    #[error(
        "a value of the job hides toolcrib's block in {0}, such as by a code fence that it does not close; without it, the block \
         could not be renewed"
    )]
    Block(String),
}

impl WorkspaceTemplate {
    /// The first of the values whose name a template cannot have.
    pub fn check_values(&self) -> Result<(), ValueError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in self.values.keys() {
            if PLACEHOLDERS.contains(&name.as_str()) {
                return Err(ValueError::Placeholder(name.clone()));
            }
            if !name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) || !name.chars().all(is_word) {
                return Err(ValueError::Name(toolcrib_definition::quoted(name).to_string()));
            }
        }
        Ok(())
    }

    /// The values of a template. Our own come last, so that a value of the job never takes the place of one.
    fn placeholders(&self, docs: &Docs<'_>) -> Result<Context, TemplateError> {
        let profile = &docs.profile;
        let title = docs.catalog.config.title.as_deref();
        let mut context = Context::new();
        let values = self.values.iter();
        values.for_each(|(name, value)| context.insert(name.clone(), &without_our_markers(value)));
        context.insert("title", title.or(profile.name).unwrap_or("Workspace"));
        context.insert("profile", profile.name.unwrap_or("all"));
        context.insert("description", profile.description.unwrap_or("The working folder of one agent."));
        context.insert("tool_count", &profile.tools.len());
        context.insert("registry_version", &docs.catalog.version);
        let settings = docs.catalog.config.payload;
        let section = PromptSection {
            mode: self.mode(docs.catalog),
            deferred: settings.deferred,
            folder: DOCS,
            discovery: settings.discovery,
            tokens: settings.prompt_tokens,
        };
        context.insert("tools", &section.render(docs.catalog, profile, docs.templates)?);
        Ok(context)
    }

    fn mode(&self, catalog: &Catalog) -> Mode {
        self.mode.or(Mode::named(catalog.config.payload.mode)).unwrap_or(Mode::Files)
    }

    /// The pages for an agent of this mode.
    fn docs<'d>(&self, docs: Docs<'d>) -> Docs<'d> {
        let mode = self.mode(docs.catalog);
        let functions = matches!(mode, Mode::Hybrid | Mode::Gateway);
        docs.around(Around { ops: mode == Mode::Gateway, functions, registry: self.registry })
    }

    /// The files with their values filled in.
    fn render(&self, docs: &Docs<'_>) -> Result<Vec<TemplateFile>, RenderError> {
        let context = self.placeholders(docs)?;
        let files = template_files(self.folder.as_deref())?;
        files.into_iter().map(|file| render_file(file, &context)).collect()
    }

    /// The first mistake in the files, which are not filled in.
    pub fn check_files(&self) -> Result<(), RenderError> {
        for (name, content) in template_files(self.folder.as_deref())? {
            if let Some(text) = template_text(&content) {
                check_text(&name, text)?;
            }
        }
        Ok(())
    }
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

/// The change that seeding makes to one file.
#[derive(Debug, PartialEq)]
enum Change {
    Write(Vec<u8>),
    /// It is the user's, and the template has no block for it.
    Keep,
    /// The markers of our block do not pair.
    Unclear,
    None,
}

impl Change {
    /// A file is written where none is, and our block in one of the user's is renewed unless that has to `wait`.
    fn of(workspace: &Path, name: &str, content: Vec<u8>, wait: bool) -> std::io::Result<Self> {
        let target = workspace.join(name);
        refuse_others(&target)?;
        let existing = match std::fs::read(&target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Write(content)),
            existing => existing?,
        };
        if existing == content {
            return Ok(Self::None);
        }
        let (Ok(existing), Ok(content)) = (std::str::from_utf8(&existing), std::str::from_utf8(&content))
        else {
            return Ok(Self::Keep);
        };
        Ok(match renew(existing, content) {
            Self::Write(_) if wait => Self::Keep,
            change => change,
        })
    }
}

fn failed(path: &str, source: std::io::Error) -> RenderError {
    RenderError::Workspace { path: path.to_string(), source }
}

/// A file of a workspace template: its relative name and its content.
type TemplateFile = (String, Cow<'static, [u8]>);

fn template_files(template: Option<&Path>) -> Result<Vec<TemplateFile>, RenderError> {
    let Some(folder) = template else {
        let file = |(name, text): (&str, &'static str)| (name.to_string(), Cow::Borrowed(text.as_bytes()));
        return Ok(EMBEDDED.map(file).into());
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| failed(&folder.to_string_lossy(), error.into()))?;
        let Ok(relative) = entry.path().strip_prefix(folder) else { continue };
        if entry.file_type().is_file() {
            let content = std::fs::read(entry.path())
                .map_err(|error| failed(&entry.path().to_string_lossy(), error))?;
            files.push((relative.to_string_lossy().replace('\\', "/"), Cow::Owned(content)));
        }
    }
    Ok(files)
}

/// The text of a file with placeholders.
fn template_text(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|text| text.contains("{{") || text.contains("{%"))
}

/// Fills in the placeholders of a text; any other content is copied as it is.
fn render_file((name, content): TemplateFile, context: &Context) -> Result<TemplateFile, RenderError> {
    let Some(text) = template_text(&content) else { return Ok((name, content)) };
    let rendered = render_text(&name, text, context)?;
    if hides_block(text, &rendered) {
        return Err(ValueError::Block(name).into());
    }
    Ok((name, Cow::Owned(rendered.into_bytes())))
}

/// A job value for templates, without toolcrib's markers, which no foreign text may contain.
fn without_our_markers(value: &Value) -> Value {
    match value {
        Value::String(text) => without_markers(text).into(),
        Value::Array(items) => items.iter().map(without_our_markers).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                (without_markers(name).into_owned(), without_our_markers(value))
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// Reading a pipe or a device could block forever.
fn refuse_others(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Err(std::io::Error::other("it is not a regular file; move it away"))
        }
        _ => Ok(()),
    }
}

/// Nothing is written through a symbolic link, whoever made it.
fn refuse_links(workspace: &Path, name: &str) -> std::io::Result<()> {
    let mut path = PathBuf::from(workspace);
    for part in name.split('/') {
        path.push(part);
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(std::io::Error::other(
                "it is, or lies behind, a symbolic link; replace the link by a file or folder",
            ));
        }
    }
    Ok(())
}

// Our block in a file of the user: only the text between two marker lines is ours.

const BEGIN: &str = "<!-- toolcrib:begin -->";
const END: &str = "<!-- toolcrib:end -->";

/// Renews the block of the template in the user's text. Outside of one well-formed block no byte changes.
fn renew(existing: &str, template: &str) -> Change {
    let Block::One(ours) = find(template) else { return Change::Keep };
    let block = &template[ours];
    let renewed = match find(existing) {
        Block::One(old) => format!("{}{block}{}", &existing[..old.start], &existing[old.end..]),
        Block::None if existing.is_empty() => format!("{block}\n"),
        Block::None => format!("{existing}{}{block}\n", gap(existing)),
        Block::Unclear => return Change::Unclear,
    };
    // A block at the end of a code fence that is still open would not be found again.
    match find(&renewed) {
        Block::One(range) if renewed[range.clone()] == *block => {
            if renewed == existing {
                Change::None
            } else {
                Change::Write(renewed.into_bytes())
            }
        }
        _ => Change::Unclear,
    }
}

/// Whether values hide the block of a template: where it was clear which part of a file is ours, it no longer is.
fn hides_block(template: &str, rendered: &str) -> bool {
    matches!(find(template), Block::One(_)) && matches!(find(rendered), Block::Unclear)
}

/// Line breaks that put one blank line after a text.
fn gap(text: &str) -> &'static str {
    let mut ends = text.rsplit('\n').map(|line| line.trim_end_matches('\r').is_empty());
    match (ends.next(), ends.next()) {
        (Some(true), Some(true)) => "",
        (Some(true), _) => "\n",
        _ => "\n\n",
    }
}

enum Block {
    None,
    One(Range<usize>),
    Unclear,
}

fn find(text: &str) -> Block {
    let mut fence: Option<(char, usize)> = None;
    let mut begin = None;
    let mut end = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let inner = line.trim_start_matches('\u{feff}').trim();
        let start = offset + line.find(inner).unwrap_or_default();
        offset += line.len();
        if inner == BEGIN || inner == END {
            let place = if inner == BEGIN { &mut begin } else { &mut end };
            if fence.is_some() || is_code(line) || place.replace(start..start + inner.len()).is_some() {
                return Block::Unclear;
            }
        } else if !is_code(line) {
            fence = after(fence, inner);
        }
    }
    match (begin, end) {
        (None, None) => Block::None,
        (Some(begin), Some(end)) if begin.end < end.start => Block::One(begin.start..end.end),
        _ => Block::Unclear,
    }
}

/// Whether markdown takes the line for code because of its indent.
fn is_code(line: &str) -> bool {
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    indent.len() > 3 || indent.contains('\t')
}

/// The code fence that is open after a line: its character and its length.
fn after(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let Some(mark) = line.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return open };
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    match open {
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        Some((opened, least)) if mark == opened && length >= least && rest.is_empty() => None,
        _ => open,
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, renew};

    const TEMPLATE: &str = "# T\n\n<!-- toolcrib:begin -->\nnew\n<!-- toolcrib:end -->\n";

    #[track_caller]
    fn check(existing: &str, expect: &str) {
        let [existing, expect] = [existing, expect]
            .map(|text| text.replace("[[", "<!-- toolcrib:begin -->").replace("]]", "<!-- toolcrib:end -->"));
        assert_eq!(renew(&existing, TEMPLATE), Change::Write(expect.clone().into_bytes()));
        assert_eq!(renew(&expect, TEMPLATE), Change::None, "not stable");
    }

    #[test]
    fn only_our_block_of_the_users_file_changes() {
        check("Mine.\n", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.", "Mine.\n\n[[\nnew\n]]\n");
        check("Mine.\r\n\r\n\n", "Mine.\r\n\r\n\n[[\nnew\n]]\n");
        check("", "[[\nnew\n]]\n");
        check("\n", "\n[[\nnew\n]]\n");
        check("a\n[[\nold\n]]\nb\n", "a\n[[\nnew\n]]\nb\n");
        check("\u{feff}  [[ \r\nold\r\n]]\t\r\nb", "\u{feff}  [[\nnew\n]]\t\r\nb");
        assert_eq!(renew("Mine.\n", "no block"), Change::Keep);
    }

    #[test]
    fn a_line_that_only_mentions_a_marker_is_the_users_text() {
        check(
            "Keep `[[` as it is.\nMine.\n- [[\n> ]]\n\n[[\nold\n]]\n",
            "Keep `[[` as it is.\nMine.\n- [[\n> ]]\n\n[[\nnew\n]]\n",
        );
        check("Mind the [[ line.\n", "Mind the [[ line.\n\n[[\nnew\n]]\n");
    }

    #[test]
    fn markers_that_do_not_pair_or_are_code_leave_the_file_alone() {
        for existing in [
            "[[\nold\n\nMine.\n",
            "Mine.\n]]\n",
            "]]\nMine.\n[[\n",
            "[[\nold\n\nMine.\n\n[[\nold\n]]\n",
            "[[\nold\n]]\nMine.\n[[\nold\n]]\n",
            "[[\nold\n]]\nMine.\n]]\n",
            "```html\n[[\n]]\n```\n",
            "~~~~\n~~~\n[[\n]]\n",
            "Like this:\n\n    [[\n    ]]\n",
            "\t[[\n\t]]\n",
            "[[\nold\n]]\n```\n[[\n]]\n```\n",
            "[[\nold\n```\nopen\n]]",
            "```\na fence that is never closed\n",
        ] {
            let text = existing.replace("[[", super::BEGIN).replace("]]", super::END);
            assert_eq!(renew(&text, TEMPLATE), Change::Unclear, "{existing:?}");
        }
    }
}
