//! A doc by sections, for readers who want a part of it or have room only for a part.

use super::doc::Doc;
use super::markdown::{fence, prose};
use crate::catalog::Tool;
use crate::tool::Schema;

/// A section of a doc, in the order of the doc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Section {
    /// The purpose of the tool.
    Summary,
    /// The whole description.
    Description,
    /// Arguments, and a complete call.
    Arguments,
    /// The result, and possible errors.
    Returns,
    /// Further examples.
    Examples,
    /// When to use it and when not to, and notes.
    Policy,
    /// The JSON Schemas.
    Schema,
}

impl Section {
    /// The sections of a whole doc: all but the schemas, which the arguments express in words.
    pub const DOC: [Section; 6] = [
        Section::Summary,
        Section::Description,
        Section::Arguments,
        Section::Returns,
        Section::Examples,
        Section::Policy,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Doc {
    /// The name of the tool, as markdown.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// A section as markdown; empty where the tool has none.
    pub fn section(&self, section: Section, tool: &Tool) -> Option<String> {
        match section {
            Section::Summary => Some(self.summary()),
            Section::Description => {
                let long = prose(&tool.long);
                let is_told = long.trim_end_matches('.') == self.short.trim_end_matches('.');
                Some(long).filter(|text| !text.is_empty() && !is_told)
            }
            Section::Arguments => {
                let call = self.call.as_ref().map(|call| format!("\n\n**Call:**\n{call}"));
                let whole = "\n\nShortened; section `schema` of `read_tool_doc` has the whole schema.";
                let whole = if self.folded { whole } else { "" };
                let call = call.unwrap_or_default();
                Some(format!("**Arguments:**\n{}{whole}{call}", self.arguments))
            }
            Section::Returns => {
                let returns = self.returns.as_ref().map(|text| format!("**Returns:**{text}"));
                joined([returns, labelled("Errors", self.raises.as_ref())])
            }
            Section::Examples => self.examples.as_ref().map(|text| format!("**Examples:**\n\n{text}")),
            Section::Policy => {
                joined([labelled("Notes", self.notes.as_ref()), labelled("Policy", self.policy.as_ref())])
            }
            Section::Schema => Some(schemas(tool)),
        }
    }

    fn summary(&self) -> String {
        let head = format!(
            "# {}\n\n**Category:** {} · **Op:** {} · **Effect:** {}",
            self.heading, self.category, self.op, self.effect
        );
        let replaced = self.replaced_by.as_ref().map(|name| format!(" Use {name} instead."));
        let deprecated = self.deprecated.then(|| format!("**Deprecated.**{}", replaced.unwrap_or_default()));
        let not_callable = self.not_callable.as_ref().map(|reason| format!("**Not callable:** {reason}"));
        let approval = self.approval.then(|| "**Approval:** a person approves each call.".to_string());
        let parts = [Some(head), deprecated, not_callable, approval, Some(self.short.clone())];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    /// The last line: versions and receipt, as proof that the doc was read.
    pub fn versions(&self, with_receipt: bool, registry_version: &str) -> String {
        let receipt = if with_receipt { format!(", receipt {}", self.receipt) } else { String::new() };
        format!("Doc {}{receipt}, registry {registry_version}", self.doc_version)
    }
}

fn labelled(label: &str, text: Option<&String>) -> Option<String> {
    text.map(|text| format!("**{label}:**\n{text}"))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn schemas(tool: &Tool) -> String {
    let written = |schema: &Schema| fence("json", &schema.value().to_string());
    let parameters = match &tool.definition.parameters {
        Some(schema) => written(schema),
        None => "Not given by the source.".into(),
    };
    let result = tool
        .definition
        .result_schema
        .as_ref()
        .map(|schema| format!("\n\n**Result schema:**\n{}", written(schema)));
    format!("**Schema:**\n{parameters}{}", result.unwrap_or_default())
}
