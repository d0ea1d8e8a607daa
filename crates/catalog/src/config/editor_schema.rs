//! JSON Schemas of definitions and of the configuration, for editors.

use serde_json::{Value, json};

use super::settings::Config;
use toolcrib_definition::Definition;
use toolcrib_definition::document::schema_of;

/// The schemas of definitions and of the configuration for editors: the fields that a definition and an overlay share are in the first.
pub fn schemas_for_editors() -> (Value, Value) {
    let mut definition = schema_of::<Definition>();
    let mut config = schema_of::<Config>();
    let mut name = json!({});
    if let Some(all) = definition.as_object_mut() {
        let mut fields = all.shift_remove("properties").unwrap_or_default();
        name["name"] =
            fields.as_object_mut().and_then(|fields| fields.shift_remove("name")).unwrap_or_default();
        if let Some(overlay) = config["$defs"]["Overlay"].as_object_mut() {
            overlay.shift_remove("additionalProperties");
            overlay.shift_remove("title");
            overlay.insert("$ref".into(), "definition.schema.json#/$defs/Fields".into());
            overlay.insert("unevaluatedProperties".into(), false.into());
            let shared = |field: &String| fields.get(field).is_some();
            overlay["properties"]
                .as_object_mut()
                .into_iter()
                .for_each(|own| own.retain(|field, _| !shared(field)));
        }
        all.shift_remove("additionalProperties");
        all.insert("$ref".into(), "#/$defs/Fields".into());
        all.insert("properties".into(), name);
        all.insert("unevaluatedProperties".into(), false.into());
        all["$defs"]["Fields"] =
            json!({"type": "object", "description": "Fields of a tool.", "properties": fields});
    }
    drop_unused(&mut config);
    (definition, config)
}

/// Removes parts of a schema that nothing refers to.
fn drop_unused(schema: &mut Value) {
    loop {
        let text = schema.to_string();
        let Some(parts) = schema["$defs"].as_object_mut() else { return };
        let before = parts.len();
        parts.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if parts.len() == before {
            return;
        }
    }
}
