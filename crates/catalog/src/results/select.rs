//! The part of a result that somebody wants, as JMESPath, within bounds of time and size.

use jmespath::ast::Ast;
use jmespath::{DEFAULT_RUNTIME, ErrorReason, Expression, JmespathError, RuntimeError};
use serde_json::Value;

use super::json_length::{is_longer_json, length};
use toolcrib_definition::quoted;

/// Bytes of the longest expression.
const MAX_EXPRESSION: usize = 1000;

/// Most signs of an expression that can nest another expression in it: each level takes room on the stack.
const MAX_NESTING: usize = 100;

/// Most times that an expression may multiply its input: `[@, @][]` doubles a list, each time that it is repeated.
const MAX_GROWTH: usize = 100;

/// Most bytes of a part.
const MAX_PART: usize = 64 << 20;

/// The reason why an expression selects nothing, as the rest of a sentence about `select`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    #[error("is longer than {MAX_EXPRESSION} bytes")]
    TooLong,
    #[error("is nested too deeply: it has more than {MAX_NESTING} operators")]
    TooDeep,
    #[error("multiplies the result by more than {MAX_GROWTH}")]
    Multiplies,
    #[error("gives more than {} MiB", MAX_PART >> 20)]
    TooLarge,
    /// It cannot be read, or does not fit the result; with the place.
    #[error("{0}")]
    Wrong(String),
    #[error("finds nothing")]
    Nothing,
}

/// Refuses an expression that nothing can be selected with.
pub fn check_select(expression: &str) -> Result<(), SelectError> {
    compiled(expression).map(drop)
}

/// The part of a result that an expression selects.
pub fn selected(expression: &str, result: &Value) -> Result<Value, SelectError> {
    let part = compiled(expression)?.search(result)?;
    if is_longer_json(&*part, MAX_PART) {
        return Err(SelectError::TooLarge);
    }
    serde_json::to_value(&*part).map_err(|error| SelectError::Wrong(format!("gives no JSON: {error}")))
}

/// Refuses a part that is nothing: null, or lists and objects without another value.
pub fn check_found(part: &Value) -> Result<(), SelectError> {
    fn is_nothing(part: &Value) -> bool {
        match part {
            Value::Array(items) => items.iter().all(is_nothing),
            Value::Object(fields) => fields.values().all(is_nothing),
            plain => plain.is_null(),
        }
    }
    if is_nothing(part) { Err(SelectError::Nothing) } else { Ok(()) }
}

fn compiled(expression: &str) -> Result<Expression<'static>, SelectError> {
    if expression.len() > MAX_EXPRESSION {
        return Err(SelectError::TooLong);
    }
    if expression.matches(['(', '[', '{', '!', '&', '|', '.', '=', '<', '>']).count() > MAX_NESTING {
        return Err(SelectError::TooDeep);
    }
    let compiled = jmespath::compile(expression)?;
    let growth = growth(compiled.as_ast())
        .map_err(|Misuse(offset, reason)| JmespathError::new(expression, offset, reason));
    if growth? > MAX_GROWTH { Err(SelectError::Multiplies) } else { Ok(compiled) }
}

/// What JMESPath parses and cannot apply, with its place.
struct Misuse(usize, ErrorReason);

/// How often an expression can repeat what it is given.
fn growth(expression: &Ast) -> Result<usize, Misuse> {
    fn sum<'e>(parts: impl Iterator<Item = &'e Ast>) -> Result<usize, Misuse> {
        parts.map(growth).try_fold(0, |sum: usize, part| Ok(sum.saturating_add(part?)))
    }
    Ok(match expression {
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => 1,
        Ast::Literal { value, .. } => length(&**value),
        // Only functions take an expression.
        Ast::Expref { offset, .. } => return Err(Misuse(*offset, ErrorReason::Parse(String::new()))),
        Ast::Flatten { node: inner, .. }
        | Ast::Not { node: inner, .. }
        | Ast::ObjectValues { node: inner, .. } => growth(inner)?,
        Ast::MultiList { elements, .. } => sum(elements.iter())?,
        Ast::MultiHash { elements, .. } => sum(elements.iter().map(|pair| &pair.value))?,
        Ast::Comparison { lhs, rhs, .. } => growth(lhs).and(growth(rhs)).map(|_| 1)?,
        Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } => growth(lhs)?.max(growth(rhs)?),
        Ast::Condition { predicate, then, .. } => growth(predicate).and(growth(then))?,
        Ast::Projection { lhs, rhs, .. } | Ast::Subexpr { lhs, rhs, .. } => {
            growth(lhs)?.saturating_mul(growth(rhs)?)
        }
        Ast::Function { offset, name, .. } if DEFAULT_RUNTIME.get_function(name).is_none() => {
            let unknown = RuntimeError::UnknownFunction(name.clone());
            return Err(Misuse(*offset, ErrorReason::Runtime(unknown)));
        }
        // `to_string` escapes quotes, which doubles them.
        Ast::Function { args, .. } => args.iter().try_fold(args.len().max(2), |all, part| {
            let part = if let Ast::Expref { ast, .. } = part { ast } else { part };
            Ok(all.saturating_mul(growth(part)?))
        })?,
    })
}

impl From<JmespathError> for SelectError {
    fn from(error: JmespathError) -> Self {
        let (before, rest) =
            error.expression.split_at_checked(error.offset).unwrap_or((&error.expression, ""));
        let place = match rest {
            "" => "at its end".to_string(),
            rest => format!("at character {}, before `{}`", before.chars().count() + 1, quoted(rest)),
        };
        Self::Wrong(match &error.reason {
            ErrorReason::Parse(_) => format!("is not JMESPath {place}"),
            ErrorReason::Runtime(problem) => format!("cannot be applied {place}: {problem}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mistake_says_where() {
        let result = json!({"total": 2, "tasks": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]});
        for (expression, problem) in [
            ("/total", "is not JMESPath at character 1, before `/total`"),
            ("tasks[", "is not JMESPath at its end"),
            (
                "lengt(tasks)",
                "cannot be applied at character 6, before `(tasks)`: Call to undefined function lengt",
            ),
            ("[&total]", "is not JMESPath at character 2, before `&total]`"),
            (
                "sum(tasks)",
                "cannot be applied at character 4, before `(tasks)`: Argument 0 expects type array[number], given array",
            ),
            (
                "[@,@][] | [@,@][] | [@,@][] | [@,@][] | [@,@][] | [@,@][] | [@,@][]",
                "multiplies the result by more than 100",
            ),
        ] {
            let error = selected(expression, &result).unwrap_err();
            assert_eq!(error.to_string(), problem);
        }
        assert_eq!(selected("max_by(tasks, &id).title", &result).unwrap(), json!("B"));
        let part = selected("tasks[].{name: name}", &result).unwrap();
        assert_eq!(check_found(&part), Err(SelectError::Nothing));
    }

    #[test]
    fn expressions_have_bounds() {
        let levels =
            [("(", ")"), ("[", "]"), ("{a:", "}"), ("!", ""), ("&", ""), ("not_null(", ")"), ("[?", "]b")];
        for (open, close) in levels {
            for count in [1, 10, MAX_NESTING, MAX_EXPRESSION] {
                let _ =
                    selected(&format!("{}a{}", open.repeat(count), close.repeat(count)), &json!({"a": 1}));
            }
        }
        for tail in [".a", "|a", "||a", "[*]", "[]", "==a", ".{a: @}", ".[@]"] {
            let expression = format!("a{}", tail.repeat(MAX_NESTING / 2));
            let _ = selected(&expression, &json!({"a": [[[1]]]}));
        }
        assert!(selected(&"a".repeat(MAX_EXPRESSION + 1), &json!({})).is_err());
    }
}
