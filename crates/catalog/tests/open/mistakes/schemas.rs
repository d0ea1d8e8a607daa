//! Mistakes in a schema.

use serde_json::{Value, json};

use super::edit::{object, remove, rename};

/// A mistake, and what it does to a good schema.
pub type Mistake = (String, Box<dyn Fn(&mut Value)>);

fn mistake(name: impl Into<String>, change: impl Fn(&mut Value) + 'static) -> Mistake {
    (name.into(), Box::new(change))
}

/// Keywords of the whole schema in other words.
const OF_OBJECTS: [(&str, &[&str]); 3] = [
    (
        "properties",
        &[
            "propertys", "property", "Properties", "PROPERTIES", "props", "fields", "params", "parameters",
            "args", "arguments", "attributes", "properties ",
        ],
    ),
    (
        "required",
        &[
            "requried", "require", "Required", "mandatory", "required_fields", "requiredFields", "requires",
            "needed", "required ",
        ],
    ),
    ("type", &["tpye", "typ", "Type", "kind", "dataType", "data_type", "type_"]),
];

/// Keywords of a property in other words: the property, the keyword, the words.
const OF_PROPERTIES: [(&str, &str, &[&str]); 11] = [
    (
        "city",
        "type",
        &["tpye", "typ", "Type", "kind", "dataType", "data_type", "datatype", "type_", "schema"],
    ),
    ("city", "description", &["desc", "descripton", "Description", "help", "doc", "summary", "about"]),
    ("city", "minLength", &["min_length", "minlength", "minLen", "min"]),
    (
        "unit",
        "enum",
        &[
            "enums", "Enum", "ENUM", "choices", "options", "values", "allowed", "allowed_values",
            "allowedValues", "one_of", "enumeration", "enum_values", "oneOf", "anyOf", "const",
        ],
    ),
    ("days", "minimum", &["min", "minumum", "Minimum", "min_value", "minValue", "ge"]),
    ("days", "maximum", &["max", "maxmum", "Maximum", "max_value", "maxValue", "le"]),
    ("hours", "default", &["defualt", "Default", "default_value", "defaultValue"]),
    ("parts", "items", &["item", "Items", "itmes", "elements", "element", "of", "itemType"]),
    (
        "labels",
        "additionalProperties",
        &["additional_properties", "additionalproperties", "additionalProperty", "values"],
    ),
    (
        "place",
        "properties",
        &["propertys", "property", "props", "fields", "params", "children", "attributes"],
    ),
    ("place", "required", &["requried", "mandatory", "require", "required_fields"]),
];

/// Types of other languages that mean the type of a property.
const TYPES: [(&str, &[&str]); 6] = [
    (
        "city",
        &[
            "str", "String", "STRING", "text", "char", "varchar", "&str", "*string", "?string", "string?",
            "Optional[str]", "str | None", "string | null", "string|undefined", "Union[str, None]",
            "Annotated[str, 'x']", "std::string", "java.lang.String", "uuid", "date", "datetime", "strng",
            "NSString", "System.String", "(str)", "string ",
        ],
    ),
    (
        "unit",
        &[
            "enum",
            "Literal['celsius', 'fahrenheit']",
            "'celsius' | 'fahrenheit'",
            "\"celsius\" | \"fahrenheit\"",
            "celsius|fahrenheit",
            "enum(celsius, fahrenheit)",
        ],
    ),
    (
        "days",
        &[
            "int", "Integer", "INTEGER", "int64", "i32", "u32", "uint", "long", "int?", "?int",
            "Optional[int]", "integr", "bigint", "*int",
        ],
    ),
    ("hours", &["bool", "Boolean", "BOOLEAN", "boolen", "flag", "bool?", "?bool", "true/false", "Bool"]),
    (
        "parts",
        &[
            "string[]", "List[str]", "list[str]", "Array<string>", "[]string", "array<string>",
            "Vec<String>", "Sequence[str]", "Set[str]", "Tuple[str, ...]", "Optional[List[str]]",
            "array of strings", "array of string", "list of strings", "list", "[string]", "Iterable[str]",
            "tuple", "ReadonlyArray<string>", "[str]",
        ],
    ),
    (
        "labels",
        &[
            "dict",
            "Dict[str, str]",
            "dict[str, str]",
            "Record<string, string>",
            "map[string]string",
            "Map<string, string>",
            "HashMap<String, String>",
            "object",
            "map",
            "array<string, string>",
            "Mapping[str, str]",
            "{[key: string]: string}",
            "hash",
            "struct",
        ],
    ),
];

/// Values of other kinds in place of that of a property's keyword.
fn values() -> Vec<(&'static str, &'static str, &'static [&'static str], Vec<Value>)> {
    vec![
        (
            "unit",
            "enum",
            &[],
            vec![
                json!("celsius|fahrenheit"),
                json!("celsius, fahrenheit"),
                json!("celsius,fahrenheit"),
                json!("celsius | fahrenheit"),
                json!("['celsius', 'fahrenheit']"),
                json!("[\"celsius\", \"fahrenheit\"]"),
                json!({"celsius": "Metric.", "fahrenheit": "Imperial."}),
                json!({"0": "celsius", "1": "fahrenheit"}),
                json!({"celsius": "celsius", "fahrenheit": "fahrenheit"}),
                json!([{"value": "celsius", "label": "C"}, {"value": "fahrenheit", "label": "F"}]),
                json!([{"const": "celsius"}, {"const": "fahrenheit"}]),
                json!([["celsius", "fahrenheit"]]),
                json!("celsius\nfahrenheit"),
                json!({"values": ["celsius", "fahrenheit"]}),
                json!(true),
            ],
        ),
        (
            "city",
            "type",
            &[],
            vec![
                json!(["string"]),
                json!(["string", null]),
                json!({"type": "string"}),
                json!(["str"]),
                json!(["strng"]),
                json!(5),
                json!({}),
                json!(["string", "undefined"]),
                json!(["string", ["null"]]),
                json!("'string'"),
                json!("string, required"),
                json!("string (required)"),
                json!("required string"),
                json!({"string": "City"}),
                json!([]),
            ],
        ),
        (
            "parts",
            "items",
            &[],
            vec![
                json!("string"),
                json!("str"),
                json!(["string"]),
                json!("{\"type\": \"string\"}"),
                json!(["str"]),
                json!("strng"),
                json!(5),
            ],
        ),
        (
            "days",
            "minimum",
            &[],
            vec![json!("1"), json!("one"), json!([1]), json!(true), json!({"value": 1})],
        ),
        ("days", "maximum", &[], vec![json!("14"), json!("14 days"), json!(">= 14")]),
        ("city", "minLength", &[], vec![json!("2"), json!(-2), json!(2.5), json!("two"), json!([2])]),
        (
            "city",
            "description",
            &[],
            vec![json!(["City", "of the forecast."]), json!({"en": "City of the forecast."})],
        ),
        (
            "labels",
            "additionalProperties",
            &[],
            vec![json!("string"), json!(["string"]), json!("str"), json!([{"type": "string"}]), json!(5)],
        ),
    ]
}

/// All mistakes in the schema of `formats::schema`.
pub fn mistakes() -> Vec<Mistake> {
    let mut all = Vec::new();
    for (keyword, words) in OF_OBJECTS {
        for word in words {
            all.push(mistake(format!("{word} for {keyword}"), move |schema| rename(schema, keyword, word)));
        }
    }
    for (property, keyword, words) in OF_PROPERTIES {
        for word in words {
            let name = format!("{word} for {keyword} of {property}");
            all.push(mistake(name, move |schema| rename(&mut schema["properties"][property], keyword, word)));
        }
    }
    for (property, types) in TYPES {
        for word in types {
            all.push(mistake(format!("{word} as type of {property}"), move |schema| {
                let property = &mut schema["properties"][property];
                // A whole type has the rest of the schema in it.
                if word.contains(['[', '<', '|', '(']) || word.contains(" of ") {
                    ["items", "additionalProperties", "enum"].iter().for_each(|key| {
                        object(property).shift_remove(*key);
                    });
                }
                property["type"] = (*word).into();
            }));
        }
        let is_bare = |word: &str| !word.contains(['[', '<']) && !word.contains(" of ");
        let is_short = matches!(property, "parts" | "labels");
        for word in types.iter().filter(|word| property != "unit" && !(is_short && is_bare(word))) {
            all.push(mistake(format!("{word} in place of {property}"), move |schema| {
                schema["properties"][property] = (*word).into();
            }));
        }
    }
    for (property, keyword, _, values) in values() {
        for value in values {
            all.push(mistake(format!("{keyword} {value} of {property}"), move |schema| {
                schema["properties"][property][keyword] = value.clone();
            }));
        }
    }
    all.extend(required());
    all.extend(lists());
    all.extend(nesting());
    all.extend(wholes());
    all
}

/// Ways to say which properties are required, in place of the list.
fn required() -> Vec<Mistake> {
    let mut all = Vec::new();
    let values = [
        json!({"city": true, "unit": true}),
        json!("city, unit"),
        json!("city,unit"),
        json!("city unit"),
        json!("[\"city\", \"unit\"]"),
        json!(true),
        json!("all"),
        json!([["city", "unit"]]),
        json!([{"name": "city"}, {"name": "unit"}]),
        json!({"0": "city", "1": "unit"}),
        json!(["City", "Unit"]),
        json!(["city", "units"]),
        json!(["city", "unit", 5]),
        json!(2),
        json!({"properties": ["city", "unit"]}),
        json!("yes"),
        json!(["*"]),
    ];
    for value in values {
        all.push(mistake(format!("required {value}"), move |schema| schema["required"] = value.clone()));
    }
    let flags = [
        ("required", json!(true)),
        ("required", json!("true")),
        ("required", json!("yes")),
        ("required", json!(1)),
        ("required", json!("required")),
        ("Required", json!(true)),
        ("mandatory", json!(true)),
        ("mandatory", json!("yes")),
        ("optional", json!(false)),
        ("optional", json!("false")),
        ("is_required", json!(true)),
        ("isRequired", json!(true)),
        ("requried", json!(true)),
        ("require", json!(true)),
        ("needed", json!(true)),
    ];
    for (key, flag) in flags {
        all.push(mistake(format!("{key} {flag} on properties"), move |schema| {
            remove(schema, "required");
            for property in ["city", "unit"] {
                schema["properties"][property][key] = flag.clone();
            }
        }));
    }
    all.push(mistake("optional true on the others", |schema| {
        remove(schema, "required");
        for property in ["days", "hours", "parts", "labels", "place"] {
            schema["properties"][property]["optional"] = true.into();
        }
    }));
    all
}

/// Properties as a list, or in another form.
fn lists() -> Vec<Mistake> {
    fn listed(schema: &Value, name: impl Fn(&str, &mut Value)) -> Value {
        let entry = |(key, property): (&String, &Value)| {
            let mut property = property.clone();
            name(key, &mut property);
            property
        };
        schema["properties"].as_object().unwrap().iter().map(entry).collect()
    }
    let mut all = Vec::new();
    for key in ["name", "key", "id", "field", "title", "param", "argument"] {
        all.push(mistake(format!("properties as a list with {key}"), move |schema| {
            schema["properties"] = listed(schema, |name, property| property[key] = name.into());
        }));
    }
    all.push(mistake("a list of arguments in place of the schema", |schema| {
        let required = schema["required"].clone();
        *schema = listed(schema, |name, property| {
            property["name"] = name.into();
            property["required"] = required.as_array().unwrap().contains(&name.into()).into();
        });
    }));
    all.push(mistake("properties as a list of maps", |schema| {
        schema["properties"] = listed(schema, |name, property| *property = json!({name: property.take()}));
    }));
    all.push(mistake("properties as a list of names", |schema| {
        schema["properties"] = schema["properties"].as_object().unwrap().keys().cloned().collect();
    }));
    all.push(mistake("properties as text", |schema| {
        schema["properties"] = schema["properties"].to_string().into();
    }));
    all.push(mistake("properties as a text of names", |schema| {
        schema["properties"] = "city, unit, days".into()
    }));
    all.push(mistake("descriptions for properties", |schema| {
        for property in object(&mut schema["properties"]).values_mut() {
            *property = property["description"].take();
        }
    }));
    for (name, value) in [
        ("null", Value::Null),
        ("a number", json!(3)),
        ("a list", json!(["string", "City."])),
        ("a text", json!("The city of the forecast")),
        ("an example", json!("Berlin")),
        ("a list of values", json!(["Berlin", "Paris"])),
    ] {
        all.push(mistake(format!("{name} as a property"), move |schema| {
            schema["properties"]["city"] = value.clone();
        }));
    }
    all
}

/// Parts of a schema at a wrong level.
fn nesting() -> Vec<Mistake> {
    vec![
        mistake("required among the properties", |schema| {
            let required = remove(schema, "required");
            schema["properties"]["required"] = required;
        }),
        mistake("type among the properties", |schema| {
            let kind = remove(schema, "type");
            schema["properties"]["type"] = kind;
        }),
        mistake("a whole schema below properties", |schema| {
            *schema = json!({"type": "object", "properties": schema.take()});
        }),
        mistake("a property beside properties", |schema| {
            let days = remove(&mut schema["properties"], "days");
            schema["days"] = days;
        }),
        mistake("properties at the top", |schema| {
            let properties = remove(schema, "properties");
            object(schema).extend(properties.as_object().unwrap().clone());
        }),
        mistake("only properties", |schema| *schema = schema["properties"].take()),
        mistake("a property within another", |schema| {
            let days = remove(&mut schema["properties"], "days");
            schema["properties"]["hours"]["days"] = days;
        }),
        mistake("enum in an object of its own", |schema| {
            let unit = &mut schema["properties"]["unit"];
            let values = remove(unit, "enum");
            unit["schema"] = json!({"enum": values});
        }),
        mistake("enum in the type", |schema| {
            let unit = &mut schema["properties"]["unit"];
            let values = remove(unit, "enum");
            unit["type"] = json!({"enum": values});
        }),
        mistake("values as type", |schema| {
            let unit = &mut schema["properties"]["unit"];
            unit["type"] = remove(unit, "enum");
        }),
        mistake("type and items in one", |schema| {
            schema["properties"]["parts"]["type"] = json!({"array": "string"});
        }),
        mistake("properties without properties", |schema| {
            let place = &mut schema["properties"]["place"];
            let properties = remove(place, "properties");
            object(place).extend(properties.as_object().unwrap().clone());
        }),
        mistake("required of a part beside its name", |schema| {
            let required = remove(&mut schema["properties"]["place"], "required");
            schema["properties"]["place"]["properties"]["required"] = required;
        }),
        mistake("limits in an object of their own", |schema| {
            let days = &mut schema["properties"]["days"];
            let range = json!({"minimum": remove(days, "minimum"), "maximum": remove(days, "maximum")});
            days["validation"] = range;
        }),
        mistake("a range", |schema| {
            let days = &mut schema["properties"]["days"];
            remove(days, "minimum");
            remove(days, "maximum");
            days["range"] = json!([1, 14]);
        }),
        mistake("a property of the wrong letters in required", |schema| {
            rename(&mut schema["properties"], "unit", "Unit");
        }),
        mistake("properties below items", |schema| {
            let properties = remove(&mut schema["properties"]["place"], "properties");
            schema["properties"]["place"]["items"] = json!({"properties": properties});
        }),
        mistake("a reference to nothing", |schema| {
            schema["properties"]["city"] = json!({"$ref": "#/definitions/City"});
        }),
        mistake("a reference by name", |schema| schema["properties"]["city"] = json!({"$ref": "City"})),
        mistake("ref for $ref", |schema| {
            schema["definitions"] = json!({"City": schema["properties"]["city"].take()});
            schema["properties"]["city"] = json!({"ref": "#/definitions/City"});
        }),
    ]
}

/// Something else in place of a whole schema.
fn wholes() -> Vec<Mistake> {
    vec![
        mistake("a schema as text", |schema| *schema = schema.to_string().into()),
        mistake("a schema in a list", |schema| *schema = json!([schema.take()])),
        mistake("a schema below schema", |schema| *schema = json!({"schema": schema.take()})),
        mistake("a schema below json_schema", |schema| {
            *schema = json!({"type": "json_schema", "json_schema": schema.take()})
        }),
        mistake("a schema below its name", |schema| *schema = json!({"Forecast": schema.take()})),
        mistake("a schema below json", |schema| *schema = json!({"json": schema.take()})),
        mistake("a schema below jsonSchema", |schema| *schema = json!({"jsonSchema": schema.take()})),
        mistake("a schema as a type", |schema| *schema = json!({"type": schema.take()})),
        mistake("the type array", |schema| schema["type"] = "array".into()),
        mistake("the type dict", |schema| schema["type"] = "dict".into()),
        mistake("the type function", |schema| schema["type"] = "function".into()),
        mistake("the type string", |schema| schema["type"] = "string".into()),
        mistake("the type OBJECT", |schema| schema["type"] = "OBJECT".into()),
        mistake("the type objekt", |schema| schema["type"] = "objekt".into()),
        mistake("no type", |schema| drop(remove(schema, "type"))),
        mistake("a text", |schema| *schema = "city and unit".into()),
        mistake("a number", |schema| *schema = 5.into()),
        mistake("a list of names", |schema| *schema = json!(["city", "unit"])),
        mistake("types by name", |schema| {
            *schema =
                json!({"city": "string", "unit": "celsius|fahrenheit", "days": "int", "parts": "string[]"});
        }),
        mistake("texts by name", |schema| {
            *schema = json!({"city": "City of the forecast", "unit": "Unit of temperatures"});
        }),
        mistake("an example", |schema| *schema = json!({"city": "Berlin", "days": 3})),
        mistake("types and texts by name", |schema| {
            *schema = json!({"city": "string - City of the forecast", "days": "integer (optional)"});
        }),
        mistake("zod in text", |schema| *schema = "z.object({ city: z.string(), days: z.number() })".into()),
        mistake("a signature", |schema| *schema = "(city: str, unit: str, days: int = 3)".into()),
        mistake("typescript", |schema| *schema = "{ city: string; unit?: string }".into()),
    ]
}
