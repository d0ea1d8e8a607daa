//! The formats of one tool, by the keys of their objects (docs/reference/formats.md).

use std::collections::VecDeque;

use indexmap::IndexSet;
use serde_json::{Map, Value};

use toolcrib_definition::finding::nearest;
use toolcrib_definition::schema::walk::keyword;

/// The keys of a format. What a new format needs that has `name` and its other fields in one object is a row of [`FORMATS`].
pub(super) struct ToolFormat {
    /// The format in messages.
    pub(super) name: &'static str,
    /// Lists of tools, and maps of tools by name.
    lists: &'static [&'static str],
    /// The schema of the arguments.
    schemas: &'static [&'static str],
    /// The description, next to `description`.
    texts: &'static [&'static str],
    /// The title, next to `title`.
    titles: &'static [&'static str],
    /// Other keys that no native definition has.
    signs: &'static [&'static str],
}

/// The formats, the first of those that share a key first.
#[rustfmt::skip]
pub(super) const FORMATS: [ToolFormat; 11] = [
    ToolFormat { name: "MCP tools/list", lists: &["tools", "tool"], schemas: &["inputSchema"], signs: &["outputSchema", "annotations", "_meta"], ..ROW },
    ToolFormat { name: "VS Code languageModelTools", lists: &["languageModelTools"], texts: &["modelDescription", "userDescription"], titles: &["displayName"], signs: &["toolReferenceName"], ..ROW },
    ToolFormat { name: "Anthropic", schemas: &["input_schema"], signs: &["defer_loading", "cache_control"], ..ROW },
    ToolFormat { name: "toolcrib's own", lists: &["operations", "definitions", "actions"], schemas: &["parameters"], ..ROW },
    ToolFormat { name: "OpenAI", lists: &["functions"], signs: &["function"], ..ROW },
    ToolFormat { name: "Gemini and Vertex", lists: &["functionDeclarations", "function_declarations"], schemas: &["parametersJsonSchema", "parameters_json_schema"], signs: &["response"], ..ROW },
    ToolFormat { name: "Bedrock", signs: &["toolSpec"], ..ROW },
    ToolFormat { name: "Bedrock agents", signs: &["requireConfirmation"], ..ROW },
    ToolFormat { name: "LangChain", schemas: &["args_schema", "args"], signs: &["metadata"], ..ROW },
    ToolFormat { name: "OpenAPI", signs: &["openapi", "swagger", "paths"], ..ROW },
    ToolFormat { name: "MCP client configuration", signs: &["mcpServers"], ..ROW },
];

pub(super) const ROW: ToolFormat =
    ToolFormat { name: "", lists: &[], schemas: &[], texts: &[], titles: &[], signs: &[] };

/// Keys of sets of tools, which name them.
pub(super) const SETS: [&str; 3] = ["languageModelToolSets", "toolSets", "toolsets"];

/// Keys of a schema that stands in an object of its own: Bedrock's, and that of the AI SDK.
pub(super) const SCHEMA_WRAPPERS: [&str; 2] = ["json", "jsonSchema"];

/// Keys under which formats keep the schema of a result.
pub(super) const RESULT_KEYS: [&str; 5] =
    ["outputSchema", "output_schema", "response", "responseJsonSchema", "result_schema"];

/// Fields of a native definition, besides `parameters`, that other objects have too.
pub(super) const COMMON_KEYS: [&str; 8] =
    ["type", "name", "description", "title", "tags", "notes", "cost", "deprecated"];

/// Fields of a native definition that other objects do not have.
pub(super) const TELLING_KEYS: [&str; 24] = [
    "category", "short_description", "description_mode", "op", "aliases", "returns", "result_schema",
    "errors", "examples", "policy", "effect", "safe", "approval", "dry_run", "context_shift",
    "allowed_roles", "when_forbidden", "capabilities", "strict", "provider_schema", "replaced_by", "backend",
    "allow_no_schema", "no_schema_mode",
];

/// Keys beside them that are read.
const OTHER_KEYS: [&str; 6] =
    ["arguments", "parameters", "allowed_callers", "input_examples", "execution", "icons"];

/// Whether a key is that of a list or map of tools.
pub(super) fn is_list_key(key: &str) -> bool {
    FORMATS.iter().any(|format| format.lists.contains(&key))
}

/// The keys of schemas, in the order in which they are looked for.
pub(super) fn schema_keys() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.schemas).copied()
}

/// The keys of a tool that are read in some format of others.
pub(super) fn known_keys() -> impl Iterator<Item = &'static str> {
    let of_formats =
        |format: &'static ToolFormat| [format.schemas, format.texts, format.titles, format.signs];
    FORMATS
        .iter()
        .flat_map(of_formats)
        .chain([&COMMON_KEYS[..], &RESULT_KEYS, &OTHER_KEYS])
        .flatten()
        .copied()
}

/// Whether a key shows that a definition is not a native one.
pub(super) fn is_foreign(key: &str) -> bool {
    let keys = |format: &ToolFormat| [format.schemas, format.texts, format.titles, format.signs];
    key != "parameters" && FORMATS.iter().flat_map(keys).any(|keys| keys.contains(&key))
}

/// The text of a field, under any of its keys.
pub(super) fn text_of<'o>(object: &'o Map<String, Value>, field: &'static str) -> Option<&'o str> {
    let others = |format: &'static ToolFormat| match field {
        "description" => format.texts,
        "title" => format.titles,
        _ => &[],
    };
    let keys = [field].into_iter().chain(FORMATS.iter().flat_map(others).copied());
    keys.filter_map(|key| keyword(object, key)?.as_str()).next()
}

/// The format that shares most keys with a document, and these keys.
pub(super) fn nearest_format(document: &Value) -> Option<(&'static str, Vec<&str>)> {
    /// Most different keys that are compared.
    const MOST: usize = 500;
    let mut keys = IndexSet::new();
    let mut queue = VecDeque::from([document]);
    while let Some(value) = queue.pop_front()
        && keys.len() < MOST
    {
        match value {
            Value::Object(object) => {
                keys.extend(object.keys().map(String::as_str));
                queue.extend(object.values());
            }
            Value::Array(items) => queue.extend(items.iter().take(MOST)),
            _ => {}
        }
    }
    keys.retain(|key| !COMMON_KEYS.contains(key));
    let shared = |format: &'static ToolFormat| {
        let all =
            || [format.lists, format.schemas, format.texts, format.signs].into_iter().flatten().copied();
        let is_near = |key: &str| all().any(|known| known == key) || !nearest(key, all()).is_empty();
        (format.name, keys.iter().copied().filter(|key| is_near(key)).take(3).collect::<Vec<_>>())
    };
    let near = FORMATS.iter().map(shared).filter(|(_, shared)| !shared.is_empty());
    near.rev().max_by_key(|(_, shared)| shared.len())
}
