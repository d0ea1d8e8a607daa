//! The templates: the built-in ones, which the program embeds and passes in, and the user's in place of any of them. Tool
//! text is passed in as values and is never a template. The assets of web pages are replaced in the same way.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use serde::Serialize;
use tera::{Context, Kwargs, State, StringInput, Tera, Value};

use toolcrib_catalog::config::Render;
use toolcrib_definition::ground::is_within;

/// A template that cannot be read or rendered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("template {name}: {problem}")]
pub struct TemplateError {
    /// The template, by its path below the templates folder.
    pub name: String,
    /// The mistake, with its line where it is known.
    pub problem: String,
    /// The value of the job that the template names and the job lacks, where that is the reason.
    pub missing: Option<String>,
}

/// Files that the program embeds: the path of each below its folder, and its text.
pub type EmbeddedFiles = &'static [(&'static str, &'static str)];

/// The files that users may copy and edit, as the program embeds them.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The templates of pages, prompts and web pages, and their assets, sorted by their names.
    pub templates: EmbeddedFiles,
    /// The workspace template.
    pub workspace: EmbeddedFiles,
}

/// All templates and the assets.
#[derive(Debug)]
pub struct Templates {
    built_in: BuiltIn,
    /// The texts by their names; parsed when one is rendered first, where they are the built-in ones.
    texts: Vec<(&'static str, String)>,
    tera: OnceLock<Tera>,
    /// The same without the web pages, which are most of the texts.
    markdown: OnceLock<Tera>,
    assets: BTreeMap<String, String>,
    hash: String,
}

/// The folder of the assets.
const ASSETS: &str = "assets/";

impl From<BuiltIn> for Templates {
    fn from(built_in: BuiltIn) -> Self {
        Self::replacing(built_in, BTreeMap::new())
    }
}

impl Templates {
    /// The built-in templates, with those of `folder` in place of the ones of the same name.
    pub fn load(built_in: BuiltIn, folder: &Path) -> Result<Self, TemplateError> {
        Self::with(built_in, own_templates(built_in, folder, folder)?)
    }

    /// The templates of the folder that a configuration names; the built-in ones where it names none.
    pub fn of(built_in: BuiltIn, render: &Render, root: &Path) -> Result<Self, TemplateError> {
        let Some(configured) = &render.templates else { return Ok(built_in.into()) };
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let folder = root.join(configured);
        // A path that leads elsewhere is the operator's word; a link that does so is not.
        let outermost = if configured.components().all(is_plain) { root } else { &folder };
        Self::with(built_in, own_templates(built_in, &folder, outermost)?)
    }

    /// User templates may have mistakes, so they are parsed at once to report them early.
    fn with(built_in: BuiltIn, own: BTreeMap<String, String>) -> Result<Self, TemplateError> {
        let is_own = !own.is_empty();
        let mut templates = Self::replacing(built_in, own);
        if is_own {
            templates.tera = OnceLock::from(parsed(templates.texts.iter())?);
        }
        Ok(templates)
    }

    fn replacing(built_in: BuiltIn, mut own: BTreeMap<String, String>) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut texts = Vec::with_capacity(built_in.templates.len());
        let mut assets = BTreeMap::new();
        for &(name, embedded) in built_in.templates {
            let text = own.remove(name).unwrap_or_else(|| embedded.to_string());
            hasher.update(name.as_bytes()).update(text.as_bytes());
            if name.starts_with(ASSETS) {
                assets.insert(name.to_string(), text);
            } else {
                texts.push((name, text));
            }
        }
        let hash = hasher.finalize().to_hex()[..16].to_string();
        Self { built_in, texts, tera: OnceLock::new(), markdown: OnceLock::new(), assets, hash }
    }

    /// The files of the built-in workspace template.
    pub(super) fn workspace(&self) -> EmbeddedFiles {
        self.built_in.workspace
    }

    /// A hash of all templates.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The assets of web pages with their paths, such as `assets/site.css`.
    pub fn assets(&self) -> &BTreeMap<String, String> {
        &self.assets
    }

    /// Renders one template; values inserted into a template whose name ends with `.html` are escaped.
    pub fn render(&self, name: &str, values: &impl Serialize) -> Result<String, TemplateError> {
        let context = Context::from_serialize(values).map_err(|error| problem(name, error))?;
        let is_needed = |(other, _): &(&str, String)| name.ends_with(".html") || other.ends_with(".md");
        let needed = if name.ends_with(".html") { &self.tera } else { &self.markdown };
        let tera = match self.tera.get().or(needed.get()) {
            Some(tera) => tera,
            None => {
                let tera = parsed(self.texts.iter().filter(|text| is_needed(text)))?;
                needed.get_or_init(|| tera)
            }
        };
        tera.render(name, &context).map_err(|error| problem(name, error))
    }
}

/// Longest template, in bytes, and most branches of all its conditions. Tera parses the branches of a condition recursively and
/// without a limit of its own, so that many of them would overflow the stack.
const MAX_TEMPLATE: usize = 1 << 20;
const MAX_BRANCHES: usize = 200;

/// Refuses a template that would overwhelm the parser.
fn check_size(name: &str, text: &str) -> Result<(), TemplateError> {
    let branches = text.matches("elif").count();
    if text.len() > MAX_TEMPLATE || branches > MAX_BRANCHES {
        let message = format!(
            "expected at most {MAX_TEMPLATE} bytes and {MAX_BRANCHES} `elif`, found {} bytes and {branches} `elif`",
            text.len()
        );
        return Err(problem(name, message));
    }
    Ok(())
}

/// Parses templates together, since one may extend another.
fn parsed<'t>(
    texts: impl Iterator<Item = &'t (&'static str, String)> + Clone,
) -> Result<Tera, TemplateError> {
    texts.clone().try_for_each(|(name, text)| check_size(name, text))?;
    let mut tera = Tera::new();
    tera.register_filter("breakable", breakable);
    tera.add_raw_templates(texts.clone().map(|(name, text)| (*name, text.as_str()))).map_err(|error| {
        let message = error.to_string();
        let named = texts.clone().find(|(name, _)| message.contains(name));
        problem(named.map_or("", |(name, _)| name), message)
    })?;
    Ok(tera)
}

/// The templates in a folder, by their names. No link leads out of the outermost folder.
fn own_templates(
    built_in: BuiltIn,
    folder: &Path,
    outermost: &Path,
) -> Result<BTreeMap<String, String>, TemplateError> {
    refuse_unknown_files(built_in, folder)?;
    let own = built_in
        .templates
        .iter()
        .map(|(name, _)| (*name, folder.join(name)))
        .filter(|(_, file)| file.exists());
    let read = |(name, file): (&str, PathBuf)| {
        if !is_within(outermost, &file) {
            return Err(problem(
                name,
                "it is behind a symbolic link out of its folder; put the file itself there",
            ));
        }
        let text = std::fs::read_to_string(file).map_err(|error| problem(name, error))?;
        Ok((name.to_string(), text))
    };
    own.map(read).collect()
}

/// A name as HTML that may break between its words: behind `_`, `.`, `-` and `/`, and before a capital.
fn breakable(name: StringInput<'_>, _: Kwargs, _: &State<'_>) -> Value {
    let name = name.as_str();
    let mut html = String::with_capacity(name.len() * 2);
    for (c, next) in name.chars().zip(name.chars().skip(1).map(Some).chain([None])) {
        html.push_str(&escaped(c.encode_utf8(&mut [0; 4])));
        let is_end = |next: char| match c {
            '_' | '.' | '-' | '/' => next.is_alphanumeric(),
            c => c.is_lowercase() && next.is_uppercase(),
        };
        if next.is_some_and(is_end) {
            html.push_str("<wbr>");
        }
    }
    Value::safe_string(&html)
}

/// Text escaped as HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Reads a text that is itself the template, such as a file of a workspace template.
fn parsed_text(name: &str, text: &str) -> Result<Tera, TemplateError> {
    check_size(name, text)?;
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_template(name, text).map_err(|error| {
        let raw = "text that is meant to hold braces goes between {% raw %} and {% endraw %}";
        problem(name, format!("{error}\nCorrect it; {raw}."))
    })?;
    Ok(tera)
}

/// The mistake in the syntax of such a text.
pub(super) fn check_text(name: &str, text: &str) -> Result<(), TemplateError> {
    parsed_text(name, text).map(drop)
}

/// Renders such a text.
pub(super) fn render_text(name: &str, text: &str, context: &Context) -> Result<String, TemplateError> {
    let tera = parsed_text(name, text)?;
    tera.render(name, context).map_err(|error| {
        let told = error.to_string();
        let named = tera.get_template_variables(name).unwrap_or_default();
        let is_missing =
            |value: &&str| !context.contains_key(value) && told.contains(&format!("Variable `{value}` "));
        let missing = named.into_iter().find(is_missing).map(str::to_string);
        let help = match missing {
            Some(_) => "\nGive a value of the job with `--var NAME=VALUE`, or over HTTP in the query.",
            None => "",
        };
        TemplateError { missing, ..problem(name, format!("{told}{help}")) }
    })
}

/// A file that replaces no built-in template probably has a wrong name.
fn refuse_unknown_files(built_in: BuiltIn, folder: &Path) -> Result<(), TemplateError> {
    if !folder.is_dir() {
        return Err(problem(&folder.to_string_lossy(), "the templates folder does not exist"));
    }
    let names: Vec<&str> = built_in.templates.iter().map(|(name, _)| *name).collect();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok) {
        let Ok(relative) = entry.path().strip_prefix(folder) else { continue };
        let name = relative.to_string_lossy().replace('\\', "/");
        let is_ours = name.ends_with(".md") || name.ends_with(".html") || name.starts_with(ASSETS);
        if entry.file_type().is_file() && is_ours && !names.contains(&name.as_str()) {
            let near = toolcrib_definition::finding::nearest(&name, names.iter().copied());
            let hint = near.first().map_or(format!("templates are: {}", names.join(", ")), |near| {
                format!("did you mean {near}?")
            });
            return Err(problem(&name, format!("there is no template of this name to replace; {hint}")));
        }
    }
    Ok(())
}

fn problem(name: &str, error: impl std::fmt::Display) -> TemplateError {
    TemplateError { name: name.to_string(), problem: error.to_string(), missing: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_would_overflow_the_parser_is_refused() {
        for text in [
            format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(100_000)),
            " ".repeat(MAX_TEMPLATE + 1),
        ] {
            let refused = check_text("page.md", &text).unwrap_err();
            assert!(refused.to_string().contains("expected at most"), "{refused}");
        }
        let longest = format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(MAX_BRANCHES));
        assert!(check_text("page.md", &longest).is_ok());
    }
}
