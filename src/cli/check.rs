//! `toolcrib check`: findings.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{CatalogArgs, counted};
use super::eval::check_labels;
use super::{CommandError, CommandResult, print, print_note};
use crate::catalog::{Catalog, Checked};
use crate::finding::{Code, Severity, json_report, text_report};

/// Report the mistakes in a catalog with their places; exit 1 when there are errors.
///
/// Errors: input is missing from the catalog, or a tool cannot be called. Warnings: a tool is hard to choose or to
/// call. Infos: something was repaired or derived. `[lint]` in toolcrib.toml changes the severity of a code, or
/// leaves findings out. Every code is explained in docs/findings.md.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
    /// Exit 1 on warnings too.
    #[arg(long)]
    strict: bool,
    /// Print infos too, and every finding of a code.
    #[arg(long, short)]
    verbose: bool,
    /// Print derived categories as lines for toolcrib.toml, to keep or change, instead of findings.
    #[arg(long, conflicts_with = "json")]
    suggest: bool,
}

impl CheckArgs {
    pub(super) fn run(self) -> CommandResult {
        let mut checked = self.catalog.open()?;
        check_labels(&self.catalog, &mut checked);
        let tools = checked.catalog.tools.len();
        if self.suggest {
            print(&suggestions(&checked.catalog))?;
        } else if self.json {
            let mut report = json_report(&checked.findings);
            report["registry_version"] = checked.catalog.version.clone().into();
            report["tools"] = tools.into();
            report["files"] = files(&checked).into();
            print(&format!("{report:#}\n"))?;
        } else {
            let shown: Vec<_> = checked
                .findings
                .iter()
                .filter(|finding| self.verbose || finding.severity != Severity::Info)
                .cloned()
                .collect();
            let limit = (!self.verbose).then_some(5);
            print(&text_report(&shown, &checked.documents, true, limit))?;
            let infos = checked.count(Severity::Info);
            let hidden = if self.verbose || infos == 0 {
                String::new()
            } else {
                format!(" ({} with --verbose)", counted(infos, "info"))
            };
            let (errors, warnings) = (checked.count(Severity::Error), checked.count(Severity::Warning));
            self.reading(&checked)?.iter().for_each(print_note);
            print_note(format!(
                "{}: {}, {}{hidden}",
                counted(tools, "tool"),
                counted(errors, "error"),
                counted(warnings, "warning")
            ));
        }
        let failing =
            checked.count(Severity::Error) > 0 || (self.strict && checked.count(Severity::Warning) > 0);
        if failing { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

impl CheckArgs {
    /// The files and tools of a folder that nothing configures, and the catalogs in it, which were left alone.
    fn reading(&self, checked: &Checked) -> Result<Vec<String>, CommandError> {
        let folder = self.catalog.path()?;
        let with_tools: BTreeSet<&str> =
            checked.catalog.tools.iter().map(|tool| tool.place.file.as_str()).collect();
        let (tools, all) = (counted(checked.catalog.tools.len(), "tool"), counted(files(checked), "file"));
        let is_unconfigured = folder.is_dir() && !folder.join("toolcrib.toml").exists();
        let read = is_unconfigured.then(|| {
            let with_tools = with_tools.len();
            format!(
                "no toolcrib.toml configures this folder; {tools} in {with_tools} of the {all} that were read"
            )
        });
        let nested = checked.findings.iter().find(|finding| finding.code == Code::CatalogNested);
        let nested = nested
            .map(|finding| format!("{}; {}", finding.message, finding.help.as_deref().unwrap_or_default()));
        Ok(read.into_iter().chain(nested).collect())
    }
}

/// Number of the files that were read.
fn files(checked: &Checked) -> usize {
    checked.documents.len()
}

/// The overlays that say what was derived, one for each category.
fn suggestions(catalog: &Catalog) -> String {
    let mut categories: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in catalog.tools.iter().filter(|tool| tool.has_derived_category()) {
        categories.entry(tool.category()).or_default().push(quoted(&tool.name));
    }
    let overlay = |(category, names): (&str, Vec<String>)| {
        format!("[[overlay]]\nmatch = [{}]\ncategory = {}\n", names.join(", "), quoted(category))
    };
    categories.into_iter().map(overlay).collect::<Vec<_>>().join("\n")
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
