//! What live servers say of themselves, for a client that connects: titles, icons, addresses, and extensions.

use rmcp::model::{Implementation, ServerConfig};
use serde::Deserialize;
use serde_json::{Map, json};

use toolcrib_catalog::sources::Listing;

/// Key of what each server says, in the metadata of the greeting.
const SERVERS: &str = "toolcrib/servers";

/// Extensions whose requests are all passed on: what they add stands in tools and resources.
const PASSED_ON: [&str; 1] = ["io.modelcontextprotocol/ui"];

/// The greeting with what these servers say of themselves. One that is alone lends us its title, icons and address.
pub(super) fn introduced(
    mut greeting: ServerConfig,
    servers: &[(String, Listing)],
    is_alone: bool,
) -> ServerConfig {
    let mut said = Map::new();
    for (name, Listing { about, instructions, .. }) in servers {
        let passed = PASSED_ON.iter().filter_map(|extension| {
            Some((extension.to_string(), about["extensions"].get(extension)?.as_object()?.clone()))
        });
        greeting.capabilities.extensions.get_or_insert_default().extend(passed);
        if let Some(of_server) = about["serverInfo"].as_object() {
            let extensions = &about["extensions"];
            said.insert(
                name.clone(),
                json!({"serverInfo": of_server, "extensions": extensions, "instructions": instructions}),
            );
        }
    }
    let only = if is_alone { servers.first() } else { None };
    if let Some(of_server) =
        only.and_then(|(_, listing)| Implementation::deserialize(&listing.about["serverInfo"]).ok())
    {
        let ours = &mut greeting.server_info;
        ours.title = of_server.title.or(ours.title.take());
        ours.description = of_server.description.or(ours.description.take());
        ours.icons = of_server.icons;
        ours.website_url = of_server.website_url;
    }
    if !said.is_empty() {
        greeting.meta.get_or_insert_default().0.insert(SERVERS.into(), said.into());
    }
    greeting
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerCapabilities;

    use super::*;

    #[test]
    fn one_server_lends_its_title_and_several_are_named() {
        let listing = |title: &str| Listing {
            about: json!({"serverInfo": {"name": "s", "version": "1", "title": title}, "extensions": {PASSED_ON[0]: {"a": 1}, "own": {}}}),
            ..Listing::default()
        };
        let greeting = || {
            ServerConfig::new(ServerCapabilities::default())
                .with_server_info(Implementation::new("toolcrib", "1"))
        };
        let sky = ("sky".to_string(), listing("Sky"));
        let one = introduced(greeting(), std::slice::from_ref(&sky), true);
        assert_eq!(
            (one.server_info.name.as_str(), one.server_info.title.as_deref()),
            ("toolcrib", Some("Sky"))
        );
        assert_eq!(
            json!(one.capabilities.extensions),
            json!({PASSED_ON[0]: {"a": 1}}),
            "nobody answers for `own`"
        );
        let two = introduced(greeting(), &[sky, ("sea".to_string(), listing("Sea"))], false);
        assert_eq!(two.server_info.title, None);
        let named = json!(two.meta);
        assert_eq!(named[SERVERS]["sea"]["serverInfo"]["title"], "Sea");
        assert_eq!(named[SERVERS]["sky"]["extensions"]["own"], json!({}));
        assert_eq!(introduced(greeting(), &[], false).meta, None);
    }
}
