//! `llms.txt` and `llms-full.txt` (llmstxt.org): the list of tools by category, and all docs in one file. Made piece
//! by piece, since the whole of a large catalog is megabytes.

use super::markdown::{inline, name};
use crate::catalog::{Catalog, Profile, by_category};

/// Tools in a piece.
const PIECE: usize = 64;

/// The layout of both files.
#[derive(Debug)]
pub struct Llms {
    head: String,
    pieces: Vec<Piece>,
    tools: Vec<usize>,
}

#[derive(Debug)]
struct Piece {
    heading: Option<String>,
    tools: Vec<usize>,
}

impl Llms {
    /// Lays out a profile. Tools are known by their positions in [`Catalog::tools`].
    pub fn lay_out(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let place = |entry: &crate::catalog::ProfileTool<'_>| catalog.position(&entry.tool.name);
        let tools: Vec<usize> = profile.tools.iter().filter_map(place).collect();
        let categories = by_category(tools.iter().map(|&index| (&*catalog.tools[index], index)));
        let mut pieces = Vec::new();
        for (category, tools) in categories {
            for (part, tools) in tools.chunks(PIECE).enumerate() {
                let heading = (part == 0).then(|| inline(&category.as_str().replace('/', " / ")));
                pieces.push(Piece { heading, tools: tools.to_vec() });
            }
        }
        let title = catalog.title().or(profile.name.map(str::to_string)).unwrap_or_else(|| "Tools".into());
        let count = tools.len();
        let summary = profile.description.map(inline).unwrap_or_else(|| {
            format!("{count} tool{}, each with documentation of its own.", if count == 1 { "" } else { "s" })
        });
        let head = format!(
            "# {}\n\n> {summary}\n\nRead the documentation of a tool before its first call. The index is \
             [tools/README.md](tools/README.md). Registry version: {}.\n",
            inline(&title),
            catalog.version
        );
        Self { head, pieces, tools }
    }

    /// Number of pieces of `llms.txt`.
    pub fn brief_pieces(&self) -> usize {
        self.pieces.len() + 1
    }

    /// A piece of `llms.txt`: a link and a line for each tool, below its category.
    pub fn brief(&self, catalog: &Catalog, piece: usize) -> String {
        let Some(piece) = piece.checked_sub(1).and_then(|piece| self.pieces.get(piece)) else {
            return self.head.clone();
        };
        let heading = piece.heading.iter().map(|heading| format!("\n## {heading}\n\n"));
        let lines = piece.tools.iter().filter_map(|&index| catalog.tools.get(index)).map(|tool| {
            format!("- [{}](tools/{}.md): {}\n", name(&tool.name), tool.safe_name, inline(&tool.short))
        });
        heading.chain(lines).collect()
    }

    /// Number of pieces of `llms-full.txt`.
    pub fn full_pieces(&self) -> usize {
        self.tools.len() + 1
    }

    /// A piece of `llms-full.txt`: the doc of one tool, which `doc` makes for its place.
    pub fn full(&self, doc: impl Fn(usize) -> Option<String>, piece: usize) -> String {
        match piece.checked_sub(1).and_then(|piece| self.tools.get(piece)) {
            Some(&index) => {
                doc(index).map(|doc| format!("\n---\n\n{}\n", doc.trim_end())).unwrap_or_default()
            }
            None => self.head.clone(),
        }
    }
}
