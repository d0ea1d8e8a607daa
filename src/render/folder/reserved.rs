//! The names in a folder of docs that are toolcrib's own.

/// The manifest: what was generated, and the hash of each file.
pub const MANIFEST: &str = ".toolcrib.json";

/// The folder in which files are written before they are moved to their places.
pub(super) const STAGE: &str = ".toolcrib-tmp";
