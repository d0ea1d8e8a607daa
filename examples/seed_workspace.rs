//! Seeds the workspace of an agent, as a job runner does at job start.

use toolcrib::{Catalog, Error, Severity};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::open("examples/universal-agent")?;
    for finding in catalog.findings().iter().filter(|finding| finding.severity == Severity::Error) {
        println!("{}: {}", finding.code, finding.message);
    }
    let workspace = std::env::temp_dir().join(format!("toolcrib-example-{}", std::process::id()));

    // Files that are current are not touched, so that seeding again is cheap.
    let written = catalog.seed(&workspace, Some("creator"))?;
    println!("{}: {} files made", workspace.display(), written.created);
    let again = catalog.seed(&workspace, Some("creator"))?;
    assert_eq!((again.created, again.updated), (0, 0));
    assert!(workspace.join("AGENTS.md").is_file() && workspace.join("tools/web_search.md").is_file());

    // A wrong profile is an error that names the profiles there are.
    let refused = catalog.seed(&workspace, Some("creatr"));
    assert!(
        matches!(refused, Err(Error::UnknownProfile(error)) if error.known.contains(&"creator".to_string()))
    );
    std::fs::remove_dir_all(workspace)?;
    Ok(())
}
