//! What a catalog holds once it is opened: tools of every format, their names, ops and categories, and findings.

mod calls;
mod catalogs;
mod findings;
mod fixture;
mod formats;
mod mistakes;
mod nodes;
mod ops;
mod patterns;
mod structure;
