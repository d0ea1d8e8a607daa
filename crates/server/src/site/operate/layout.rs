//! What the pages about the running server share. All their texts come from callers and tools, and are cleaned;
//! templates escape them.

use serde_json::{Value, json};

use super::super::context::{Page, Site};
use super::super::frame::{AT_ROOT, Frame, IN_FOLDER, Link};
use super::super::text::clipped;
use toolcrib_definition::clean_line;
use toolcrib_render::TemplateError;

/// Most characters of a value in a list.
const MAX_VALUE: usize = 300;

/// Fields as the query of an address; empty ones are left out.
pub(super) fn query_of(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

/// The address of a session, or of something of it, from the root of the site. Names of sessions need no escapes.
pub(super) fn session_href(session: &str, caller: &str, more: &str) -> String {
    let caller = form_urlencoded::byte_serialize(caller.as_bytes()).collect::<String>();
    format!("sessions/{session}{more}?caller={caller}")
}

impl Site<'_> {
    /// The page of a template. A page in a folder links to the list `above` it, by its title and address.
    pub(super) fn operate(
        &self,
        template: &str,
        (at, title): (&'static str, &str),
        above: Option<(&str, &str)>,
        values: Value,
    ) -> Result<Page, TemplateError> {
        let position = if above.is_some() { IN_FOLDER } else { AT_ROOT };
        let crumb = above.map(|(text, href)| Link { text: text.into(), href: href.into() });
        let frame = Frame::new(self, at, title, String::new(), position).with_crumbs(crumb);
        self.render(&format!("site/{template}.html"), frame, json!({ "page": values }))
    }

    /// The link to a tool, by any of its names, if its page is there.
    pub(super) fn tool_link(&self, name: &str, root: &str) -> Option<Link> {
        let tool = self.catalog.find(name)?;
        self.index.tool_file(&tool.safe_name)?;
        Some(Link { text: line(name), href: format!("{root}tools/{}.html", tool.safe_name) })
    }
}

pub(super) fn line(text: &str) -> String {
    clipped(&clean_line(text), MAX_VALUE)
}
