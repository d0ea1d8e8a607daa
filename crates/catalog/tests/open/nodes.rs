//! What the nodes of a schema say of its values agrees with the judge, `jsonschema`.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_catalog::{Callable, Checked};
use toolcrib_definition::schema::Node;
use toolcrib_definition::schema::walk::type_of;

/// Deepest value that is compared.
const DEEPEST: usize = 12;

/// Whether a value is one of those that a node says: its type, values, required fields and limits, and all within it.
fn says(node: &Node<'_>, value: &Value, depth: usize) -> bool {
    if node.is_never || depth > DEEPEST || (value.is_null() && node.is_nullable) {
        return !node.is_never;
    }
    let kind = type_of(value);
    let is_type = |word: &str| word == kind || (word == "number" && kind == "integer");
    let limits = &node.limits;
    let count = match value {
        Value::String(text) => Some((limits.length, text.chars().count())),
        Value::Array(items) => Some((limits.items, items.len())),
        Value::Object(fields) => Some((limits.fields, fields.len())),
        _ => None,
    };
    let is_counted = count.is_none_or(|(limit, count)| {
        limit.least.unwrap_or(0) <= count as u64 && count as u64 <= limit.most.unwrap_or(u64::MAX)
    });
    let is_between = value.as_f64().is_none_or(|number| {
        limits.minimum.and_then(|least| least.as_f64()).is_none_or(|least| least <= number)
            && limits.maximum.and_then(|most| most.as_f64()).is_none_or(|most| number <= most)
    });
    let is_within = match value {
        Value::Object(fields) => {
            node.required().iter().all(|name| fields.contains_key(*name))
                && fields.iter().all(|(name, field)| {
                    let own = node.property(name);
                    let is_closed = || node.is_closed() && node.other_values().is_none();
                    own.map_or_else(|| !is_closed(), |own| says(&own, field, depth + 1))
                })
        }
        Value::Array(items) if node.tuple().len() == 0 => {
            node.items().is_none_or(|of| items.iter().all(|item| says(&of, item, depth + 1)))
        }
        _ => true,
    };
    (!node.is_typed() || node.type_words().any(is_type))
        && node.only.is_none_or(|only| only == value)
        && node.values.is_none_or(|values| values.contains(value))
        && is_counted
        && is_between
        && is_within
        && (node.variants().len() == 0 || node.variants().any(|variant| says(&variant, value, depth + 1)))
}

/// The ready-made call of each tool fits its nodes. No call does without a required argument, or with a value that the
/// node of an argument excludes, and the judge refuses these too.
pub fn check(file: &str, checked: &Checked) {
    for tool in
        checked.catalog.tools.iter().filter(|tool| *tool.input.parameters.callable() == Callable::Checked)
    {
        let root = tool.input.parameters.root();
        let Some(call) = tool.input.call.clone() else { continue };
        let valid = Value::Object(call.clone());
        assert!(says(&root, &valid, 0), "{file}: {}: {valid}", tool.names.canonical);
        for name in root.required() {
            let mut without = call.clone();
            without.remove(*name);
            assert!(
                !tool.input.parameters.accepts(&without.into()),
                "{file}: {} needs no {name}",
                tool.names.canonical
            );
        }
        for property in root.properties() {
            for other in
                [json!("\u{1}"), json!(-0.5), json!([[]]), json!({"\u{1}": 1}), json!(true), json!(null)]
            {
                let mut with = call.clone();
                with.insert(property.name.into(), other.clone());
                let is_accepted = tool.input.parameters.accepts(&with.into());
                let is_said = says(&property.node(), &other, 0);
                assert!(
                    is_said || !is_accepted,
                    "{file}: {}: {} takes {other}",
                    tool.names.canonical,
                    property.name
                );
            }
        }
    }
}

/// Schemas that say one thing at each place. With `combined`, also through references, `allOf` and unions.
fn schema(combined: bool) -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!({})),
        prop::sample::select(vec!["string", "integer", "number", "boolean", "null"])
            .prop_map(|kind| json!({"type": kind})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"enum": ["a", 1]})),
        Just(json!({"const": "a"})),
        (0..3, 0..3).prop_map(|(least, more)| json!({"minimum": least, "maximum": least + more})),
        (0..2_u64).prop_map(|most| json!({"maxLength": most, "maxItems": most, "maxProperties": most})),
    ];
    scalar.prop_recursive(3, 16, 3, move |inner| {
        let named = prop::collection::btree_map("[ab]", inner.clone(), 0..3);
        let object = (named, prop::collection::btree_set("[ab]", 0..3), any::<bool>()).prop_map(|(named, required, open)| {
            json!({"type": "object", "properties": named, "required": required, "additionalProperties": open})
        });
        let list = inner.clone().prop_map(|items| json!({"type": "array", "items": items, "minItems": 1}));
        let several = prop::collection::vec(inner, 1..3);
        let word = prop::sample::select(vec!["allOf", "anyOf", "oneOf"]);
        let union = (word, several).prop_map(|(word, several)| json!({word: several}));
        let beside_null = Just(json!({"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}], "description": "D."}));
        let combinations = if combined { 2 } else { 0 };
        prop_oneof![3 => object, 2 => list, combinations => union, combinations => beside_null]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let scalars = vec![json!("a"), json!("aa"), json!(1), json!(2.5), json!(4), json!(true), json!(null)];
    prop::sample::select(scalars).prop_recursive(3, 12, 3, |inner| {
        let fields =
            prop::collection::btree_map("[abc]", inner.clone(), 0..3).prop_map(|fields| json!(fields));
        prop_oneof![2 => fields, 1 => prop::collection::vec(inner, 0..3).prop_map(Value::from)]
    })
}

fn compiled(schema: Value, definition: Value) -> (Value, Validator) {
    let mut whole = json!({"$defs": {"d": definition}});
    whole.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
    let judge = jsonschema::validator_for(&whole).unwrap();
    (whole, judge)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nodes_exclude_no_value_that_the_judge_accepts(schema in schema(true), definition in schema(false), values in prop::collection::vec(value(), 12)) {
        let (schema, judge) = compiled(schema, definition);
        let root = Node::root(&schema);
        for value in values.iter().filter(|value| judge.is_valid(value)) {
            prop_assert!(says(&root, value, 0), "{} {}", schema, value);
        }
    }

    #[test]
    fn nodes_of_plain_schemas_say_what_the_judge_says(schema in schema(false), values in prop::collection::vec(value(), 12)) {
        let (schema, judge) = compiled(schema, json!({}));
        let root = Node::root(&schema);
        for value in &values {
            prop_assert_eq!(says(&root, value, 0), judge.is_valid(value), "{} {}", schema, value);
        }
    }

    #[test]
    fn any_json_has_nodes(schema in value()) {
        let schema = json!({"properties": schema, "items": schema, "allOf": [schema], "anyOf": schema, "required": schema, "$ref": "#"});
        let root = Node::root(&schema);
        prop_assert!(root.properties().len() < 9 && root.variants().len() < 9);
    }
}

#[test]
fn deep_wide_and_endless_schemas_have_nodes() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({"allOf": [inner]}));
    let wide: Map<String, Value> = (0..50_000).map(|n| (format!("p{n}"), json!({"$ref": "#"}))).collect();
    let wide = json!({"properties": wide, "anyOf": vec![json!({"$ref": "#"}); 1_000]});
    let loops = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}});
    assert_eq!(Node::root(&wide).properties().len(), 50_000);
    for schema in [deep, wide, loops] {
        assert!(says(&Node::root(&schema), &json!({"p1": 1}), 0));
    }
}
