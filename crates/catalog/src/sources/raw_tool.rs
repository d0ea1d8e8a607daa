//! One tool as its source gives it.

use std::sync::Arc;

use super::parts::PartPlaces;
use crate::config::Trust;
use crate::sample::Sample;
use toolcrib_definition::Definition;
use toolcrib_definition::finding::Place;

/// One tool as its source gives it.
#[derive(Clone, Debug, Default)]
pub struct RawTool {
    /// The definition, in native fields.
    pub definition: Definition,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the tool.
    pub place: Place,
    /// Place of its name and description below that; a JSON Pointer from the root.
    pub body: String,
    /// Place of its parameters, where the source holds them unchanged.
    pub parameters: Option<String>,
    /// Places in other files, where its schemas are bundled from several.
    pub part_places: Option<Arc<PartPlaces>>,
    /// Whether its schema was put together of parts, each of which was checked in its place.
    pub is_assembled: bool,
    /// What of it could not be read, so that it cannot be called.
    pub unread: Option<&'static str>,
    /// The call that a registry has: it was made from more than the registry says.
    pub call: Option<Sample>,
    /// Settings of its source.
    pub origin: Arc<Origin>,
}

/// Settings of the source of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Trust in its definitions.
    pub trust: Trust,
    /// The `path` of the source, or of the file where no source is configured; `None` for a live server.
    pub path: Option<String>,
    /// The `server` of the source.
    pub server: Option<String>,
    /// Whether the names of its tools begin with the server.
    pub prefix: bool,
}
