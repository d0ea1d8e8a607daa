//! References of a call in a batch to answers of earlier calls: `{"$from": "0.result.items[0].id"}`.

use serde_json::{Map, Value};

use super::select::{SelectError, check_found, selected};
use super::shape::shape_of;
use toolcrib_definition::document::pointer_join;

/// Key of a reference.
const FROM: &str = "$from";
/// The part of an answer that is meant by default.
const RESULT: &str = "result";
/// Deepest level of an input that is searched for references.
const DEEPEST: usize = 64;
/// Most references of an input: each may take as long as its answer is.
const MOST: usize = 100;

/// Why a reference means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    #[error(
        "this is no reference to an earlier call; write its index, from 0, or its `id`, and then a JMESPath in its answer: \
         {{\"$from\": \"0.result.items[0].id\"}}"
    )]
    Unknown,
    #[error("`$from` {problem}; the answer of call {call} is {shape}")]
    Nothing { call: usize, problem: SelectError, shape: String },
    #[error("this call was not run: it uses the result of call {0}, which has no result")]
    NotRun(usize),
    #[error("this is nested too deeply")]
    TooDeep,
    #[error("this has more than {MOST} references")]
    TooMany,
}

/// The earlier calls that an input refers to. `ids` are the ids of these calls, in order.
pub fn needed_calls(input: &Map<String, Value>, ids: &[Option<&str>]) -> Vec<usize> {
    fn collect(value: &Value, ids: &[Option<&str>], depth: usize, needed: &mut Vec<usize>) {
        match value {
            _ if depth > DEEPEST => {}
            Value::Object(fields) => match fields.get(FROM) {
                Some(from) => needed.extend(meant(from, ids).map(|(call, _)| call)),
                None => fields.values().for_each(|value| collect(value, ids, depth + 1, needed)),
            },
            Value::Array(items) => items.iter().for_each(|value| collect(value, ids, depth + 1, needed)),
            _ => {}
        }
    }
    let mut needed = Vec::new();
    input.values().for_each(|value| collect(value, ids, 0, &mut needed));
    needed
}

/// The answers of earlier calls, by which references are resolved.
pub struct Answers<'a> {
    /// The ids of the calls, in order.
    pub ids: &'a [Option<&'a str>],
    /// The answer of a call that has a result.
    pub answer: &'a dyn Fn(usize) -> Option<&'a Value>,
}

impl Answers<'_> {
    /// A value in which references are replaced by what they mean. An error has the pointer to its reference.
    pub fn resolve(&self, value: &Value) -> Result<Value, (String, ReferenceError)> {
        let needed = value.as_object().map_or(0, |input| needed_calls(input, self.ids).len());
        if needed > MOST {
            return Err((String::new(), ReferenceError::TooMany));
        }
        self.at(value, "", 0)
    }

    fn at(&self, value: &Value, at: &str, depth: usize) -> Result<Value, (String, ReferenceError)> {
        if depth > DEEPEST {
            return Err((at.to_string(), ReferenceError::TooDeep));
        }
        Ok(match value {
            Value::Object(fields) => match fields.get(FROM) {
                Some(from) => {
                    let from = if fields.len() == 1 { from } else { &Value::Null };
                    self.fetched(from).map_err(|error| (at.to_string(), error))?
                }
                None => {
                    let field = |(name, value): (&String, &Value)| {
                        Ok((name.clone(), self.at(value, &pointer_join(at, name), depth + 1)?))
                    };
                    Value::Object(fields.iter().map(field).collect::<Result<_, _>>()?)
                }
            },
            Value::Array(items) => {
                let item = |(index, value)| self.at(value, &pointer_join(at, index), depth + 1);
                items.iter().enumerate().map(item).collect::<Result<_, _>>()?
            }
            plain => plain.clone(),
        })
    }

    fn fetched(&self, from: &Value) -> Result<Value, ReferenceError> {
        let (call, path) = meant(from, self.ids).ok_or(ReferenceError::Unknown)?;
        let answer = (self.answer)(call).ok_or(ReferenceError::NotRun(call))?;
        let found = selected(path, answer).and_then(|part| check_found(&part).map(|()| part));
        found.map_err(|problem| {
            // The shape of a result says more than that of all around it.
            let result = answer.get(RESULT).map(|result| format!("{{result: {}}}", shape_of(result)));
            ReferenceError::Nothing { call, problem, shape: result.unwrap_or_else(|| shape_of(answer)) }
        })
    }
}

/// The call that a reference means, and the path in its answer.
fn meant<'f>(from: &'f Value, ids: &[Option<&str>]) -> Option<(usize, &'f str)> {
    let Value::String(path) = from else {
        let call = usize::try_from(from.as_u64()?).ok().filter(|call| *call < ids.len())?;
        return Some((call, RESULT));
    };
    let after = |name: &str| {
        let rest = path.trim().strip_prefix(name)?;
        if rest.is_empty() { Some(RESULT) } else { rest.strip_prefix('.') }
    };
    let by_id = || ids.iter().enumerate().find_map(|(call, id)| Some((call, after((*id)?)?)));
    let by_index = || (0..ids.len()).find_map(|call| Some((call, after(&call.to_string())?)));
    by_id().or_else(by_index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_is_replaced_or_says_what_is_there() {
        let answers = [
            json!({"ok": true, "result": {"items": [{"id": 7}, {"id": 8}], "none": []}}),
            json!({"result": "x"}),
        ];
        let ids = [Some("list"), None];
        let answer = |call: usize| answers.get(call);
        let known = Answers { ids: &ids, answer: &answer };
        let read =
            |from: Value| known.resolve(&json!({"a": [{"$from": from}]})).map(|value| value["a"][0].clone());
        for (from, value) in [
            (json!("0.result.items[0].id"), json!(7)),
            (json!("list.result.items[].id"), json!([7, 8])),
            (json!("list.max_by(result.items, &id).id"), json!(8)),
            (json!(1), json!("x")),
            (json!("1"), json!("x")),
        ] {
            assert_eq!(read(from), Ok(value));
        }
        for path in
            ["0.result.item", "0.result.items[9]", "0.result.items[].no", "0.result.none", "0.result.items["]
        {
            let (at, error) = read(json!(path)).unwrap_err();
            assert!(
                at == "/a/0" && error.to_string().contains("result: {items: [2 of {id: number}]"),
                "{error}"
            );
        }
        for from in [
            json!("2.result"),
            json!(2),
            json!("0/result/items"),
            json!(-1),
            json!({}),
            json!("listed.result"),
        ] {
            assert_eq!(read(from).unwrap_err().1, ReferenceError::Unknown);
        }
        assert!(known.resolve(&json!({"$from": 0, "pointer": "/x"})).is_err());
        let input = json!({"a": {"b": [{"$from": "list.result"}]}, "c": {"$from": 1}});
        assert_eq!(needed_calls(input.as_object().unwrap(), &ids), [0, 1]);
    }
}
