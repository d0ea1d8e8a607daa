//! The names of servers, and of whose tools a name speaks.

use std::collections::HashSet;

use crate::config::{Config, live_server};
use crate::tool::Tool;
use toolcrib_definition::finding::Place;
use toolcrib_definition::slug;

/// Whether a live server has listed what is at this place.
pub(crate) fn is_live(place: &Place) -> bool {
    live_server(&place.file).is_some()
}

/// The names of all servers, whether these have answered or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ServerNames(HashSet<String>);

impl ServerNames {
    /// The servers of a configuration, and these.
    pub(crate) fn of<'s>(config: &'s Config, others: impl Iterator<Item = &'s str>) -> Self {
        let configured = config.sources.iter().filter_map(|source| source.server.as_deref());
        Self(configured.chain(others).map(slug).filter(|name| !name.is_empty()).collect())
    }

    /// The server whose tool a name means: the part before the first separator, if a server is called so.
    pub(super) fn named_by(&self, name: &str) -> Option<String> {
        let ends = [name.find("__"), name.find(['.', '/', ':'])];
        let first = slug(&name[..ends.into_iter().flatten().min()?]);
        self.0.contains(&first).then_some(first)
    }

    /// Whether a name may lead to this tool. A name that begins with the name of one server never leads to the live tool of
    /// another one, whatever that calls its tools.
    pub(crate) fn leads_to(&self, name: &str, tool: &Tool) -> bool {
        let is_other = || {
            let own = slug(tool.origin.server.as_deref().unwrap_or(&tool.origin.place.file));
            self.named_by(name).is_some_and(|server| server != own)
        };
        !is_live(&tool.origin.place) || !is_other()
    }
}
