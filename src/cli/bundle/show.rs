//! `toolcrib bundle show` and `verify`: the facts of a bundle, and whether all of it is as it was built.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::bundle::{Bundle, BundleError};
use crate::catalog::{Manifest, bundled, restored};
use crate::cli::bundle_file::{KeyArgs, Use, open, told};
use crate::cli::bundle_signature as signature;
use crate::cli::catalog::counted;
use crate::cli::{CommandError, CommandResult, print, print_note};
use crate::config::{BundledConfig, unreadable_bundle};

/// Names of the parts before the contents of tools.
const PARTS: [&str; 5] = ["manifest", "tools", "findings", "shared texts", "configuration"];

/// Show the versions, tools, findings, parts and signature of a bundle.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The bundle.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Check every part of a bundle, that each tool comes back as it was built and, with --key, who signed it.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// The bundle.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
}

impl ShowArgs {
    pub(super) fn run(self) -> CommandResult {
        let bundle = existing(&self.file, &self.key)?;
        let facts = facts(&self.file, &bundle, &self.key).map_err(|error| broken(&self.file, &error))?;
        match self.json {
            true => print(&format!("{facts:#}\n")),
            false => print(&text(&facts)),
        }
    }
}

impl VerifyArgs {
    pub(super) fn run(self) -> CommandResult {
        let bundle = Arc::new(existing(&self.file, &self.key)?);
        let tools = round_trip(&bundle).map_err(|error| broken(&self.file, &error))?;
        let signed = if self.key.key.is_some() { ", and the signature is right" } else { "" };
        let (parts, tools) = (counted(bundle.parts(), "part"), counted(tools, "tool"));
        print_note(format!("{}: {parts} and {tools} are as they were built{signed}", self.file.display()));
        Ok(())
    }
}

/// The bundle at a path, with its signature and every part checked.
pub(super) fn existing(file: &Path, key: &KeyArgs) -> Result<Bundle, CommandError> {
    if !file.is_file() {
        return Err(CommandError::Usage(format!("there is no bundle at {}", file.display())));
    }
    open(file, key.key.as_ref(), Use::Once).map_err(|finding| told(&finding))
}

fn broken(file: &Path, error: &BundleError) -> CommandError {
    told(&unreadable_bundle(file, error))
}

/// Makes every part from the catalog of a bundle again; the number of tools.
fn round_trip(bundle: &Arc<Bundle>) -> Result<usize, BundleError> {
    let BundledConfig { config, templates } = BundledConfig::read(bundle)?;
    let checked = restored(bundle, config)?;
    let lossy = |part: &str| BundleError::Invalid(format!("{part} does not come back as it was built"));
    if checked.catalog.version != Manifest::of(bundle)?.registry_version {
        return Err(lossy("the registry version"));
    }
    let again = bundled(&checked, templates).ok_or_else(|| lossy("a tool"))?;
    let again = Bundle::from_bytes(again.finish())?;
    for number in PARTS.len()..bundle.parts() {
        if again.part(number)? != bundle.part(number)? {
            return Err(lossy(&format!("part {number}")));
        }
    }
    Ok(checked.catalog.tools.len())
}

/// The facts of a bundle as JSON.
fn facts(file: &Path, bundle: &Bundle, key: &KeyArgs) -> Result<Value, BundleError> {
    let manifest = Manifest::of(bundle)?;
    let mut parts: Vec<Value> = PARTS
        .iter()
        .enumerate()
        .map(|(number, name)| json!({ "name": name, "bytes": bundle.length(number) }))
        .collect();
    let contents: u64 = (PARTS.len()..bundle.parts()).map(|number| bundle.length(number)).sum();
    parts.push(
        json!({ "name": "content of tools", "bytes": contents, "parts": bundle.parts() - PARTS.len() }),
    );
    let signer = signature::read(file).ok().and_then(|signature| signature::signer(&signature));
    let signature = signer
        .map(|(id, comment)| json!({ "key_id": id, "comment": comment, "is_checked": key.key.is_some() }));
    Ok(json!({
        "version": bundle.version(),
        "registry_version": manifest.registry_version,
        "toolcrib": manifest.toolcrib,
        "tools": manifest.tools,
        "findings": manifest.findings,
        "parts": parts,
        "signature": signature,
    }))
}

/// The facts for people.
fn text(facts: &Value) -> String {
    let word = |name: &str| facts[name].as_str().unwrap_or_default().to_string();
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let counts = ["error", "warning", "info"]
        .map(|severity| counted(number(&facts["findings"][format!("{severity}s")]) as usize, severity));
    let signature = match &facts["signature"] {
        Value::Null => "none".to_string(),
        signed => {
            let is_checked = signed["is_checked"] == true;
            let state = if is_checked { "right" } else { "not checked; give the key with --key" };
            format!(
                "key {} ({state}): {}",
                signed["key_id"].as_str().unwrap_or_default(),
                signed["comment"].as_str().unwrap_or_default()
            )
        }
    };
    let mut text = format!(
        "version    {}\nregistry   {}\ntoolcrib   {}\ntools      {}\nfindings   {}\nsignature  {signature}\nparts\n",
        word("version"),
        word("registry_version"),
        word("toolcrib"),
        facts["tools"],
        counts.join(", "),
    );
    for part in facts["parts"].as_array().into_iter().flatten() {
        let name = part["name"].as_str().unwrap_or_default();
        text.push_str(&format!("  {:>10}  {name}\n", number(&part["bytes"])));
    }
    text
}
