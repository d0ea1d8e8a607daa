//! What live servers say of themselves, for a client that connects: titles, icons, addresses, and extensions.

use rmcp::model::{Icon, ServerConfig};
use serde::Deserialize;
use serde_json::{Map, json};

use toolcrib_catalog::sources::{Introduction, ServerInfo};

/// Key of what each server says, in the metadata of the greeting.
const SERVERS: &str = "toolcrib/servers";

/// Extensions whose requests are all passed on: what they add stands in tools and resources.
const PASSED_ON: [&str; 1] = ["io.modelcontextprotocol/ui"];

/// The greeting with what these servers say of themselves. One that is alone lends us its title, icons and address.
pub(super) fn introduced(
    mut greeting: ServerConfig,
    servers: &[(String, Introduction)],
    is_alone: bool,
) -> ServerConfig {
    let mut said = Map::new();
    for (name, introduction) in servers {
        let passed = PASSED_ON.iter().filter_map(|extension| {
            Some((extension.to_string(), introduction.extensions.get(*extension)?.as_object()?.clone()))
        });
        greeting.capabilities.extensions.get_or_insert_default().extend(passed);
        said.insert(name.clone(), json!(introduction));
    }
    if let [(_, only)] = servers
        && is_alone
    {
        let ServerInfo { title, description, website_url, icons, .. } = only.server_info.clone();
        let ours = &mut greeting.server_info;
        ours.title = title.or(ours.title.take());
        ours.description = description.or(ours.description.take());
        ours.website_url = website_url;
        let icons: Vec<_> = icons.iter().filter_map(|icon| Icon::deserialize(icon).ok()).collect();
        ours.icons = Some(icons).filter(|icons| !icons.is_empty());
    }
    if !said.is_empty() {
        greeting.meta.get_or_insert_default().0.insert(SERVERS.into(), said.into());
    }
    greeting
}

#[cfg(test)]
mod tests {
    use rmcp::model::{Implementation, ServerCapabilities};

    use super::*;

    #[test]
    fn one_server_lends_its_title_and_several_are_named() {
        let introduction = |title: &str| Introduction {
            server_info: ServerInfo { title: Some(title.into()), ..ServerInfo::default() },
            extensions: Map::from_iter([(PASSED_ON[0].into(), json!({"a": 1})), ("own".into(), json!({}))]),
            instructions: None,
        };
        let greeting = || {
            ServerConfig::new(ServerCapabilities::default())
                .with_server_info(Implementation::new("toolcrib", "1"))
        };
        let sky = ("sky".to_string(), introduction("Sky"));
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
        let two = introduced(greeting(), &[sky, ("sea".to_string(), introduction("Sea"))], false);
        assert_eq!(two.server_info.title, None);
        let named = json!(two.meta);
        assert_eq!(named[SERVERS]["sea"]["serverInfo"]["title"], "Sea");
        assert_eq!(named[SERVERS]["sky"]["extensions"]["own"], json!({}));
        assert_eq!(introduced(greeting(), &[], false).meta, None);
    }
}
