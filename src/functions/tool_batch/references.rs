//! Values that come from the answer of an earlier call of the same batch: `{"$from": 0, "pointer": "/result/id"}`.

use serde_json::{Map, Value};

use crate::exec::{part_of, reached};
use crate::finding::pointer_join;
use crate::functions::{ErrorCode, Refusal};

/// Key that marks such a value.
const FROM: &str = "$from";
/// Pointer into an answer by default.
const RESULT: &str = "/result";
/// Deepest level of an input that is searched for references.
const DEEPEST: usize = 64;

/// Whether an input contains such a value.
pub(super) fn has_references(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(FROM) || fields.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// An input with such values filled in; `ids` are the ids of the calls with these answers.
pub(super) fn resolved(
    input: &Map<String, Value>,
    answers: &[Map<String, Value>],
    ids: &[Option<&str>],
) -> Result<Map<String, Value>, Refusal> {
    let of = References { answers, ids };
    input
        .iter()
        .map(|(name, value)| Ok((name.clone(), of.value(value, &pointer_join("", name), 0)?)))
        .collect()
}

struct References<'a> {
    answers: &'a [Map<String, Value>],
    ids: &'a [Option<&'a str>],
}

impl References<'_> {
    fn value(&self, value: &Value, at: &str, depth: usize) -> Result<Value, Refusal> {
        if depth > DEEPEST {
            return Err(misfit(at, "this is nested too deeply".into()));
        }
        Ok(match value {
            Value::Object(fields) => match fields.get(FROM) {
                Some(from) => self.fetched(from, fields, at)?,
                None => {
                    let field = |(name, value): (&String, &Value)| {
                        Ok((name.clone(), self.value(value, &pointer_join(at, name), depth + 1)?))
                    };
                    Value::Object(fields.iter().map(field).collect::<Result<_, Refusal>>()?)
                }
            },
            Value::Array(items) => {
                let item = |(index, value)| self.value(value, &pointer_join(at, index), depth + 1);
                items.iter().enumerate().map(item).collect::<Result<_, Refusal>>()?
            }
            plain => plain.clone(),
        })
    }

    fn fetched(&self, from: &Value, fields: &Map<String, Value>, at: &str) -> Result<Value, Refusal> {
        let index = match from {
            Value::String(id) => {
                self.ids.iter().position(|known| known == &Some(id.as_str())).or(id.parse().ok())
            }
            number => number.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        let Some((index, answer)) = index.and_then(|index| Some((index, self.answers.get(index)?))) else {
            let earlier = "`$from` is the index, from 0, or the `id` of an earlier call of the batch";
            return Err(misfit(at, format!("{from} is no earlier call; {earlier}")));
        };
        if answer.get("ok") != Some(&Value::Bool(true)) {
            let message =
                format!("this call was not run: it uses the result of call {index}, which has no result");
            let next = format!("correct call {index}, then send both again");
            return Err(Refusal::new(ErrorCode::NotRun, message, next));
        }
        let pointer = match fields.get("pointer") {
            None => RESULT,
            Some(Value::String(pointer)) => pointer,
            Some(_) => return Err(misfit(at, "`pointer` is a JSON pointer such as \"/result/id\"".into())),
        };
        part_of(answer, pointer).ok_or_else(|| {
            let message =
                format!("the answer of call {index} has nothing at `{pointer}`{}", reached(answer, pointer));
            misfit(at, message)
        })
    }
}

fn misfit(at: &str, message: String) -> Refusal {
    let next = "correct `$from` and `pointer`: {\"$from\": 0, \"pointer\": \"/result/id\"} is the `id` in the result of the first call";
    let refusal = Refusal::new(ErrorCode::ValidationError, format!("{at}: {message}"), next);
    refusal.field(at, &message)
}
