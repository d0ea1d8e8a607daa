//! `toolcrib check`: findings.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult};
use super::eval::check_labels;
use super::features;
use super::io::Io;
use toolcrib_catalog::{Catalog, Checked};
use toolcrib_definition::finding::{
    Code, Finding, Severity, github_report, json_report, sarif_report, short_report, text_report,
};
use toolcrib_definition::grammar::counted;

/// Report the mistakes in a catalog with their places; exit 1 when there are errors.
///
/// Errors: input is missing from the catalog, or a tool cannot be called. Warnings: a tool is hard to choose or to
/// call. Infos: something was repaired or derived. `[lint]` in toolcrib.toml changes the severity of a code, or
/// leaves findings out. Every code is explained in docs/findings.md.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The form of the findings: text, short (one line each), json, github (shown at the lines of a pull request), or sarif (for code scanning).
    #[arg(long, value_enum, default_value_t = Form::Text, value_name = "FORM")]
    format: Form,
    /// Print the findings as JSON, as with `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Exit 1 on warnings too.
    #[arg(long)]
    strict: bool,
    /// Print infos too, and every finding of a code.
    #[arg(long, short)]
    verbose: bool,
    /// Print derived categories as lines for toolcrib.toml, to keep or change, instead of findings.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    suggest: bool,
}

/// A form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people, with the lines of the source.
    Text,
    /// One finding a line, as compilers have them.
    Short,
    /// One JSON object.
    Json,
    /// GitHub's workflow commands.
    Github,
    /// SARIF 2.1.0.
    Sarif,
}

impl CheckArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let mut checked = self.catalog.open(io)?;
        check_labels(&self.catalog, &mut checked);
        let tools = checked.catalog.tools.len();
        features::missing(&checked.catalog.config).iter().for_each(|note| io.note(note));
        if self.suggest {
            io.print(&suggestions(&checked.catalog))?;
        } else if self.format == Form::Sarif {
            io.print(&format!("{:#}\n", sarif_report(&self.shown(&checked), &self.place())))?;
        } else if self.format == Form::Short {
            io.print(&short_report(&self.shown(&checked), &self.place()))?;
        } else if self.format == Form::Github {
            io.print_commands(&github_report(&self.shown(&checked), &self.place()))?;
        } else if self.json || self.format == Form::Json {
            let mut report = json_report(&checked.findings);
            report["registry_version"] = checked.catalog.version.clone().into();
            report["tools"] = tools.into();
            report["files"] = files(&checked).into();
            io.print(&format!("{report:#}\n"))?;
        } else {
            let shown = self.shown(&checked);
            let limit = (!self.verbose).then_some(5);
            io.print(&text_report(&shown, &checked.documents, true, limit))?;
            let infos = checked.count(Severity::Info);
            let hidden = if self.verbose || infos == 0 {
                String::new()
            } else {
                format!(" ({} with --verbose)", counted(infos, "info"))
            };
            let errors = checked.count(Severity::Error);
            let warnings = checked.count(Severity::Warning);
            self.reading(&checked)?.iter().for_each(|note| io.note(note));
            io.note(format!(
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
    /// The findings that are printed.
    fn shown(&self, checked: &Checked) -> Vec<Finding> {
        let findings = checked.findings.iter();
        findings.filter(|finding| self.verbose || finding.severity != Severity::Info).cloned().collect()
    }

    /// The folder of the places of findings, as the command line names it.
    fn place(&self) -> String {
        self.catalog.folder().to_string_lossy().into_owned()
    }

    /// The files and tools of a folder that nothing configures, and the catalogs in it, which were left alone.
    fn reading(&self, checked: &Checked) -> Result<Vec<String>, CommandError> {
        let folder = self.catalog.path()?;
        let with_tools: BTreeSet<&str> =
            checked.catalog.tools.iter().map(|tool| tool.origin.place.file.as_str()).collect();
        let tools = counted(checked.catalog.tools.len(), "tool");
        let all = counted(files(checked), "file");
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
        categories.entry(tool.category()).or_default().push(quoted(&tool.names.canonical));
    }
    let overlay = |(category, names): (&str, Vec<String>)| {
        format!("[[overlay]]\nmatch = [{}]\ncategory = {}\n", names.join(", "), quoted(category))
    };
    categories.into_iter().map(overlay).collect::<Vec<_>>().join("\n")
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
