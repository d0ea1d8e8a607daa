//! Finds the tools for a job by words, and reads the doc of the best.

use toolcrib::Catalog;
use toolcrib::search::Verdict;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::open("examples/buildos")?;
    let found = catalog.search("move a document under a folder", 3, None)?;
    assert_ne!(found.verdict, Verdict::NoMatch);
    for hit in &found.hits {
        println!("{:.2}  {}  {}  ({})", hit.confidence, hit.tool.op, hit.tool.summary, hit.reason);
    }
    let best = &found.hits[0].tool;
    assert_eq!(best.op, "onto.document.tree.move");
    println!("{}", catalog.doc(&best.name, None)?);
    println!("{}", serde_json::to_string_pretty(&catalog.help(&best.op, None)?)?);

    // A search that no tool fits says so, with the nearest tools.
    let none = catalog.search("water the plants", 3, None)?;
    assert_eq!(none.verdict, Verdict::NoMatch);
    Ok(())
}
