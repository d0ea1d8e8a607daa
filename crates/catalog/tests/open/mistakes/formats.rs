//! Good definitions: the same three tools in each format that is read.

use serde_json::{Value, json};

/// A good document, and the places of what a mistake may damage in it.
pub struct Format {
    pub name: &'static str,
    pub file: &'static str,
    pub document: Value,
    /// The list or map of the tools.
    pub container: &'static str,
    /// The object with the name and the description of the tool that is damaged.
    pub tool: String,
    /// Its schema.
    pub schema: String,
}

/// The schema that is damaged.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City of the forecast.", "minLength": 2},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "Unit of temperatures."},
            "days": {"type": "integer", "description": "Days ahead.", "minimum": 1, "maximum": 14},
            "hours": {"type": "boolean", "description": "Whether hours are shown.", "default": false},
            "parts": {"type": "array", "items": {"type": "string"}, "description": "Parts of the report."},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Labels."},
            "place": {
                "type": "object", "description": "Exact place.",
                "properties": {
                    "lat": {"type": "number", "description": "Latitude."},
                    "lon": {"type": "number", "description": "Longitude."},
                },
                "required": ["lat", "lon"],
            },
        },
        "required": ["city", "unit"],
    })
}

/// The names of the tools, with descriptions; the second one is damaged.
const TOOLS: [(&str, &str); 3] = [
    ("list_cities", "Lists all cities of a country with their population."),
    ("get_forecast", "Gets the weather forecast of a city for some days."),
    ("add_note", "Adds a short note to the notebook of the user."),
];

fn schemas() -> [Value; 3] {
    let of = |name: &str, about: &str| json!({"type": "object", "properties": {name: {"type": "string", "description": about}}, "required": [name]});
    [of("country", "Code of the country."), schema(), of("text", "Text of the note.")]
}

/// The tools with their schemas below a key.
fn with(key: &str) -> Vec<Value> {
    let tool = |((name, about), schema): ((&str, &str), Value)| json!({"name": name, "description": about, key: schema});
    TOOLS.into_iter().zip(schemas()).map(tool).collect()
}

/// The tools as values of a map.
fn map(tools: Vec<Value>) -> Value {
    let entry = |mut tool: Value| {
        let name = tool.as_object_mut().unwrap().shift_remove("name").unwrap();
        (name.as_str().unwrap().to_string(), tool)
    };
    Value::Object(tools.into_iter().map(entry).collect())
}

fn each(tools: Vec<Value>, wrap: impl Fn(Value) -> Value) -> Value {
    tools.into_iter().map(wrap).collect()
}

/// All formats of tools.
pub fn formats() -> Vec<Format> {
    let format = |name, file, document, container, tool: &str, schema: &str| Format {
        name,
        file,
        document,
        container,
        tool: format!("{container}{tool}"),
        schema: format!("{container}{tool}{schema}"),
    };
    let function = |tool| json!({"type": "function", "function": tool});
    let typed = |mut tool: Value| {
        tool["type"] = "function".into();
        tool
    };
    let spec = |mut tool: Value| {
        tool["inputSchema"] = json!({"json": tool["inputSchema"].take()});
        json!({"toolSpec": tool})
    };
    let wrapped = |mut tool: Value| {
        tool["inputSchema"] = json!({"jsonSchema": tool["inputSchema"].take()});
        tool
    };
    let native = |mut tool: Value| {
        tool["category"] = "Weather".into();
        tool["effect"] = "read".into();
        tool
    };
    vec![
        format("native list", "tools.yaml", each(with("parameters"), native), "", "/1", "/parameters"),
        format(
            "native toml",
            "tools.toml",
            json!({"tools": each(with("parameters"), native)}),
            "/tools",
            "/1",
            "/parameters",
        ),
        format("plain list", "tools.json", each(with("parameters"), |tool| tool), "", "/1", "/parameters"),
        format("MCP", "tools.json", json!({"tools": with("inputSchema")}), "/tools", "/1", "/inputSchema"),
        format(
            "MCP result",
            "tools.json",
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": with("inputSchema")}}),
            "/result/tools",
            "/1",
            "/inputSchema",
        ),
        format(
            "MCP servers",
            "tools.json",
            json!({"weather": {"tools": with("inputSchema")}}),
            "/weather/tools",
            "/1",
            "/inputSchema",
        ),
        format(
            "Anthropic",
            "tools.json",
            json!({"model": "m", "tools": with("input_schema")}),
            "/tools",
            "/1",
            "/input_schema",
        ),
        format(
            "OpenAI chat",
            "tools.json",
            json!({"tools": each(with("parameters"), function)}),
            "/tools",
            "/1/function",
            "/parameters",
        ),
        format(
            "OpenAI list",
            "tools.json",
            each(with("parameters"), function),
            "",
            "/1/function",
            "/parameters",
        ),
        format(
            "OpenAI responses",
            "tools.json",
            json!({"tools": each(with("parameters"), typed)}),
            "/tools",
            "/1",
            "/parameters",
        ),
        format(
            "OpenAI functions",
            "tools.json",
            json!({"functions": with("parameters")}),
            "/functions",
            "/1",
            "/parameters",
        ),
        format(
            "Gemini",
            "tools.json",
            json!({"tools": [{"functionDeclarations": with("parameters")}]}),
            "/tools/0/functionDeclarations",
            "/1",
            "/parameters",
        ),
        format(
            "Bedrock",
            "tools.json",
            json!({"toolConfig": {"tools": each(with("inputSchema"), spec)}}),
            "/toolConfig/tools",
            "/1/toolSpec",
            "/inputSchema/json",
        ),
        format("LangChain", "tools.json", each(with("args_schema"), |tool| tool), "", "/1", "/args_schema"),
        format(
            "AI SDK",
            "tools.json",
            json!({"tools": map(with("inputSchema"))}),
            "/tools",
            "/get_forecast",
            "/inputSchema",
        ),
        format(
            "AI SDK wrapped",
            "tools.json",
            json!({"tools": map(each(with("inputSchema"), wrapped).as_array().unwrap().clone())}),
            "/tools",
            "/get_forecast",
            "/inputSchema/jsonSchema",
        ),
        format(
            "VS Code",
            "package.json",
            json!({"name": "x", "version": "1.0.0", "contributes": {"languageModelTools": each(with("inputSchema"), |mut tool| {
                tool["modelDescription"] = tool["description"].take();
                tool.as_object_mut().unwrap().shift_remove("description");
                tool
            })}}),
            "/contributes/languageModelTools",
            "/1",
            "/inputSchema",
        ),
    ]
}

/// A good OpenAPI document with the same tools: 3.1, 3.0 or Swagger 2.0.
pub fn openapi(version: &str) -> Format {
    let [cities, forecast, note] = schemas();
    let parameter = |name: &str, about: &str, schema: Value| {
        let mut parameter = json!({"name": name, "in": "query", "required": true, "description": about});
        if version == "2.0" {
            parameter.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
        } else {
            parameter["schema"] = schema;
        }
        parameter
    };
    let operation = |(name, about): (&str, &str), parameters: Vec<Value>, schema: Value| {
        let mut operation = json!({
            "operationId": name, "description": about, "tags": ["Weather"],
            "parameters": parameters,
            "responses": {"200": {"description": "It worked."}},
        });
        if version == "2.0" {
            let body = json!({"name": "body", "in": "body", "required": true, "schema": schema});
            operation["parameters"].as_array_mut().unwrap().push(body);
        } else {
            operation["requestBody"] =
                json!({"required": true, "content": {"application/json": {"schema": schema}}});
        }
        operation
    };
    let none = Vec::new;
    let level = parameter("level", "Level of detail.", json!({"type": "string", "enum": ["low", "high"]}));
    let page = parameter("page", "Page of the list.", json!({"type": "integer", "minimum": 1}));
    let mut document = json!({
        "openapi": version, "info": {"title": "Weather", "version": "1"},
        "paths": {
            "/cities": {"post": operation(TOOLS[0], none(), cities)},
            "/forecast": {"post": operation(TOOLS[1], vec![level, page], forecast)},
            "/notes": {"post": operation(TOOLS[2], none(), note)},
        },
    });
    let (schema, name) = match version {
        "2.0" => {
            document.as_object_mut().unwrap().shift_remove("openapi");
            document.as_object_mut().unwrap().shift_insert(0, "swagger".into(), "2.0".into());
            ("/parameters/2/schema", "Swagger 2.0")
        }
        "3.0.3" => ("/requestBody/content/application~1json/schema", "OpenAPI 3.0"),
        _ => ("/requestBody/content/application~1json/schema", "OpenAPI 3.1"),
    };
    let tool = "/paths/~1forecast/post";
    Format {
        name,
        file: "api.json",
        document,
        container: "/paths",
        tool: tool.into(),
        schema: format!("{tool}{schema}"),
    }
}
