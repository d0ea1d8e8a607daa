//! Opens a file of the user as a document.

use std::io::Read;
use std::path::Path;

use super::mended_json::mended;
use super::source::{Document, Format, MAX_BYTES, Unread, located};
use crate::finding::{Code, Finding, Place, Severity};

/// Reads and parses a file. `shown` is its name in findings; the format follows from its extension.
pub fn open(path: &Path, shown: &str) -> Result<Document, Box<Unread>> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let format = Format::of_extension(&extension).ok_or_else(|| {
        if is_database(path) {
            let message =
                format!("{shown} is a database, such as toolcrib's state, and holds no definitions");
            let help = "name the catalog; its state is `url` in `[state]`, or --state";
            return Finding::new(Code::OwnOutput, message).help(help).at(Place::new(shown, ""));
        }
        let message = format!("cannot tell the format of {shown} by its name");
        Finding::new(Code::FileUnreadable, message)
            .help("use a name that ends in .json, .jsonl, .sse, .yaml, .yml or .toml")
            .at(Place::new(shown, ""))
    })?;
    let bytes = read(path, MAX_BYTES).map_err(|error| {
        Finding::new(Code::FileUnreadable, format!("cannot read {shown}: {error}")).at(Place::new(shown, ""))
    })?;
    let unread = match Document::read(shown, bytes, format) {
        Err(unread) if format == Format::Json => unread,
        document => return document,
    };
    let mended = unread.document.as_ref().and_then(|document| mended(&document.text));
    let Some((text, value, notes)) = mended else { return Err(unread) };
    let finding = |(offset, code, message)| {
        let mut finding = Finding::new(code, message).at(located(shown, &text, offset));
        finding.severity = finding.severity.min(Severity::Warning);
        finding
    };
    let repairs = notes.into_iter().map(finding).collect();
    Ok(Document { file: shown.to_owned(), format, text: text.into(), value, repairs })
}

fn is_database(path: &Path) -> bool {
    const HEADER: &[u8] = b"SQLite format 3\0";
    read(path, HEADER.len() as u64).is_ok_and(|bytes| bytes.starts_with(HEADER))
}

/// Reads at most one byte over the limit, so that a file that grows, or never ends, is refused all the same.
fn read(path: &Path, max_bytes: u64) -> std::io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::Error::other("it is a folder"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(max_bytes + 1) as usize);
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
