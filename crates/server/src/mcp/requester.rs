//! One request with the catalog and the caller that it is answered for, and for how long its answer may be cached.

use rmcp::ErrorData;
use rmcp::model::{CacheScope, MetaObject};

use crate::RequestCatalog;

/// The answer to a request, or its error.
pub(super) type McpResult<T> = Result<T, ErrorData>;

/// Milliseconds that a client may cache a list, a doc or our instructions. Clients obey it to the letter, and not all
/// of them listen for changes, so this is how stale they may become.
pub(super) const FRESH_FOR: u64 = 5_000;

/// Sets how long and by whom a result may be cached, and the registry version that it belongs to.
macro_rules! cacheable {
    ($result:expr, $requester:expr) => {{
        let mut result = $result;
        result.ttl_ms = Some($crate::mcp::requester::FRESH_FOR);
        result.cache_scope = Some($requester.scope());
        result.meta = Some($requester.meta());
        result
    }};
}
pub(super) use cacheable;

/// One request, with the catalog as its caller sees it.
pub(super) type Requester = RequestCatalog;

impl Requester {
    /// The scope in which the answer may be cached.
    pub(super) fn scope(&self) -> CacheScope {
        if self.caller.roles.is_none() { CacheScope::Public } else { CacheScope::Private }
    }

    /// Metadata of results: the registry version of their catalog.
    pub(super) fn meta(&self) -> MetaObject {
        let version = self.view().catalog().version.as_str();
        MetaObject([("toolcrib/registry_version".to_string(), version.into())].into_iter().collect())
    }
}
