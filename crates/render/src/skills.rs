//! Agent Skills (<https://agentskills.io/specification>): one skill per category of a profile. Its `SKILL.md` lists the tools
//! of the category, and its references are their docs.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use super::doc::{Around, Doc, schema_file, schema_path};
use super::documentation::Docs;
use super::error::RenderError;
use super::folder::Files;
use super::markdown::{inline, name};
use super::templates::{TemplateError, Templates};
use toolcrib_catalog::{Catalog, CategoryTree, Profile, Tool};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{clean_line, clipped, is_reserved};

/// The file of a skill that an agent reads first.
pub const SKILL: &str = "SKILL.md";

/// The folder of the docs of its tools.
pub const REFERENCES: &str = "references";

/// Most characters of a name.
const MAX_NAME: usize = 64;
/// Words that a name must not contain at Claude; docs/rendering.md has the source.
const RESERVED: [&str; 2] = ["anthropic", "claude"];
/// Most characters of a description.
const MAX_DESCRIPTION: usize = 1024;
/// Most tools of a skill: its text stays below 500 lines, and its files below 512.
const MAX_TOOLS: usize = 400;

/// A skill: tools of one category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name, and the name of its folder: lower-case ASCII letters, digits and single hyphens.
    pub name: String,
    /// Its use, for an agent that decides whether to read it.
    pub description: String,
    /// Content of `SKILL.md`.
    pub markdown: String,
    /// Positions of its tools in the profile.
    pub tools: Vec<usize>,
}

/// The skills of a profile, in the order of its categories.
pub fn skills(catalog: &Catalog, profile: &Profile<'_>) -> Vec<Skill> {
    let positions: Vec<usize> =
        profile.tools.iter().filter_map(|entry| catalog.position(&entry.tool.names.canonical)).collect();
    let in_profile: HashMap<usize, usize> =
        positions.iter().enumerate().map(|(index, &position)| (position, index)).collect();
    let tree = CategoryTree::of_tools(catalog, positions);
    let mut taken = HashSet::new();
    let mut skills = Vec::new();
    for (number, &child) in (1..).zip(&tree.node(0).children) {
        let node = tree.node(child);
        let tools: Vec<usize> =
            node.descendant_tools.iter().filter_map(|tool| in_profile.get(tool).copied()).collect();
        for part in tools.chunks(MAX_TOOLS) {
            let name = free_name(&node.name, number, &mut taken);
            skills.push(skill(name, (&node.name, &node.summary), part, profile));
        }
    }
    skills
}

fn skill(name: String, (title, summary): (&str, &str), tools: &[usize], profile: &Profile<'_>) -> Skill {
    let names: Vec<String> =
        tools.iter().map(|&index| clean_line(&profile.tools[index].tool.names.safe)).collect();
    let description = format!(
        "{}: {}. Use it before a call of one of its tools: {}",
        clean_line(title),
        clean_line(summary).trim_end_matches('.'),
        names.join(", ")
    );
    // Claude takes no tag in a description.
    let description =
        if description.contains('<') { description.replace(['<', '>'], "") } else { description };
    // Some readers end the front matter at three hyphens, wherever they are.
    let description = clipped(&description.replace("---", "–"), MAX_DESCRIPTION - 1).into_owned();
    let mut markdown = format!(
        "{}\n# {}\n\n{}\n\nRead the page of a tool before its first call: it has \
         the arguments, the rules and a ready-made call.\n\n",
        front_matter(&name, &description),
        inline(title),
        inline(summary)
    );
    for &index in tools {
        markdown += &line(profile, index);
    }
    Skill { name, description, markdown, tools: tools.to_vec() }
}

/// A skill for a whole server, at its root: how to find and call the tools, and the skill of each category, by name and
/// description.
pub fn overview_skill<'s>(
    catalog: &Catalog,
    profile: &Profile<'_>,
    mcp: &str,
    skills: impl Iterator<Item = (&'s str, &'s str)>,
) -> String {
    let title = catalog.title().unwrap_or_else(|| "Tools".into());
    let tools = counted(profile.tools.len(), "tool");
    let skills: Vec<(&str, &str)> = skills.collect();
    let names = skills.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let description = format!("{}: {tools} to find, read about and call: {names}", clean_line(&title));
    let description = clipped(&description.replace("---", "–"), MAX_DESCRIPTION - 1).into_owned();
    let mut markdown = format!(
        "{}\n# {}\n\n{tools}. Read the page of a tool before its first call: it has the arguments, the rules and a \
         ready-made call.\n\n\
         - Find a tool: [llms.txt](llms.txt) lists all, and so does [tools/README.md](tools/README.md) by category.\n\
         - Call a tool: over MCP at <{mcp}>, or over HTTP as [openapi.json](openapi.json) describes.\n\n## Skills\n\n",
        front_matter(&free_name(&title, 1, &mut HashSet::new()), &description),
        inline(&title),
    );
    for (name, description) in skills {
        markdown +=
            &format!("- [{name}](.well-known/agent-skills/{name}/{SKILL}): {}\n", inline(description));
    }
    markdown
}

/// The front matter. Readers of YAML 1.1 and 1.2 read both values as text.
fn front_matter(name: &str, description: &str) -> String {
    let name = if is_plain_word(name) { name.into() } else { in_quotes(name) };
    format!("---\nname: {name}\ndescription: {}\n---\n", in_quotes(description))
}

/// Whether YAML reads a name as text without quotes. YAML 1.1 also reads `no` as a flag, and `1e3` or `2024-01-01` as a number
/// or a date.
fn is_plain_word(name: &str) -> bool {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    name.starts_with(|c: char| c.is_ascii_lowercase()) && !WORDS.contains(&name)
}

/// A text as YAML, which takes JSON, but no noncharacters.
fn in_quotes(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    json.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff")
}

fn line(profile: &Profile<'_>, index: usize) -> String {
    let tool = profile.tools[index].tool;
    let short = inline(&tool.texts.short);
    format!("- [{}]({}): {short}\n", name(&tool.names.canonical), page_path(tool))
}

/// The path of the page of a tool in a skill. No other file of a skill has the name of its `SKILL.md`, in whatever letter case.
pub fn page_path(tool: &Tool) -> String {
    let marked = if format!("{}.md", tool.names.safe).eq_ignore_ascii_case(SKILL) { ".tool" } else { "" };
    format!("{REFERENCES}/{}{marked}.md", tool.names.safe)
}

impl Skill {
    /// The page of one of its tools: links lead to pages of the skill alone.
    pub fn page(
        &self,
        tool: &Tool,
        (catalog, profile): (&Catalog, &Profile<'_>),
        templates: &Templates,
    ) -> Result<String, TemplateError> {
        let mut pages = self.tools.iter().map(|&index| profile.tools[index].tool);
        let link = |other: &Tool| {
            let is_here = pages.any(|tool| tool.names.canonical == other.names.canonical);
            is_here
                .then(|| page_path(other).trim_start_matches(REFERENCES).trim_start_matches('/').to_string())
        };
        Doc::of_skill(tool, catalog, link).render(templates, &catalog.version, Around::default())
    }
}

/// Words of a title in lower-case ASCII letters and digits, without diacritics, joined by hyphens.
fn hyphenated(title: &str) -> String {
    let is_mark = |part: &char| unicode_normalization::char::is_combining_mark(*part);
    let plain: String = title.to_lowercase().nfd().filter(|part| !is_mark(part)).collect();
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// A name by the rules of the specification that no other skill has.
fn free_name(title: &str, number: usize, taken: &mut HashSet<String>) -> String {
    let mut name = RESERVED.iter().fold(hyphenated(title), |name, word| name.replace(word, ""));
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    // Room for a number.
    name.truncate(MAX_NAME - 6);
    let name = match name.trim_matches('-') {
        "" => format!("category-{number}"),
        name if is_reserved(name) => format!("{name}-tools"),
        name => name.to_string(),
    };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

/// The files of the skills of a documentation, for a folder of their own.
pub fn skill_files<'f>(docs: &'f Docs<'_>, skills: &'f [Skill]) -> Result<Files<'f>, RenderError> {
    docs.try_one()?;
    let Docs { catalog, profile, templates, .. } = docs;
    let mut files = Files::new(catalog.complete);
    for skill in skills {
        let markdown = || Ok::<_, TemplateError>(skill.markdown.clone());
        files.push(format!("{}/{SKILL}", skill.name), markdown);
        for tool in skill.tools.iter().map(|&index| profile.tools[index].tool) {
            let page = move || skill.page(tool, (catalog, profile), templates);
            files.push(format!("{}/{}", skill.name, page_path(tool)), page);
            if let Some(path) = schema_path(tool) {
                let schema = move || Ok::<_, TemplateError>(schema_file(tool));
                files.push(format!("{}/{REFERENCES}/{path}", skill.name), schema);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use toolcrib_definition::document::{Document, Format};

    #[test]
    fn a_name_has_lower_case_words_and_is_taken_once() {
        let mut taken = HashSet::new();
        let mut name = |title: &str| free_name(title, 3, &mut taken);
        assert_eq!(name("Pull Requests & Reviews"), "pull-requests-reviews");
        assert_eq!(name("pull_requests--reviews"), "pull-requests-reviews-2");
        assert_eq!(name("长长"), "category-3");
        assert_eq!(name("Überweisungen"), "uberweisungen");
        assert_eq!(name("CON"), "con-tools");
        assert_eq!(name("Claude Code for Anthropic's API"), "code-for-s-api");
        assert_eq!(name("Claude"), "category-3-2");
        assert!(name(&"word ".repeat(40)).len() <= MAX_NAME);
    }

    #[test]
    fn a_name_that_some_reader_of_yaml_takes_for_another_value_is_in_quotes() {
        for name in [
            "yes", "no", "on", "off", "y", "n", "true", "false", "null", "2024", "1e3", "0x1f", "0b1",
            "2024-01-01",
        ] {
            assert!(!is_plain_word(name), "{name}");
        }
        for name in ["issues", "pull-requests", "no-shows", "e3", "nan", "x1f"] {
            assert!(is_plain_word(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn front_matter_reads_back(
            name in "[a-z0-9]{1,4}(-[a-z0-9]{1,3}){0,2}|[0-9]{1,4}(e[0-9]{1,3})?|0[xob][0-9a-f]{1,3}",
            description in "\\PC{0,20}|[-#:'\"\\\\{}\\[\\]&*!|>%@`,? a~=<\u{fffe}\u{ffff}]{0,12}",
        ) {
            let text = front_matter(&name, &description);
            let yaml = text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\n")).unwrap();
            let document = Document::parse("front.yaml", yaml.into(), Format::Yaml).unwrap();
            prop_assert_eq!(document.value, json!({"name": name, "description": description}), "{}", text);
        }
    }
}
