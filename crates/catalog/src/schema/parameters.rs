//! The arguments of a tool: a schema to read, and whether calls can be checked against it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::compiled::{BACKTRACKING, Compiled, backtracking};
use super::validation_cost::ValidationCost;
use crate::results::is_longer_json;
use toolcrib_definition::NoSchemaMode;
use toolcrib_definition::finding::{Violation, violations};
use toolcrib_definition::schema::Node;

/// The arguments of a tool: a schema to read, and whether calls can be checked against it.
#[derive(Debug)]
pub struct Parameters {
    pub(super) schema: Arc<Value>,
    pub(super) callable: Callable,
    pub(super) cost: OnceLock<ValidationCost>,
    /// Compiled at its first use. Most tools of a large catalog are only read, and compiled schemas are most of its
    /// memory.
    pub(super) compiled: OnceLock<Option<Arc<Compiled>>>,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callable {
    /// Calls are checked.
    Checked,
    /// Calls run unchecked, in the no-schema mode that the author chose.
    Unchecked(NoSchemaMode),
    /// Calls are refused, for this reason.
    No(String),
}

impl Parameters {
    /// A schema without content, and the reason why.
    pub(crate) fn withheld(reason: &str) -> Self {
        let schema = Arc::new(json!({}));
        Self::of(schema, Callable::No(reason.into()))
    }

    /// The same schema, without calls, and the reason why.
    pub(crate) fn refused(self, reason: &str) -> Self {
        Self::of(self.schema, Callable::No(reason.into()))
    }

    /// A schema that is not compiled.
    pub(super) fn of(schema: Arc<Value>, callable: Callable) -> Self {
        Self { schema, callable, cost: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// The canonical schema: the author's, with its mistakes repaired. `{}` without a schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The canonical schema, read.
    pub fn root(&self) -> Node<'_> {
        Node::root(&self.schema)
    }

    /// Whether the tool can be called.
    pub fn callable(&self) -> &Callable {
        &self.callable
    }

    /// The validator of calls; `None` when calls cannot be checked.
    pub fn validator(&self) -> Option<&Validator> {
        self.compiled().map(|compiled| &compiled.validator)
    }

    fn compiled(&self) -> Option<&Compiled> {
        let compile = || Compiled::shared(&self.schema).ok();
        self.is_checked().then(|| self.compiled.get_or_init(compile).as_deref())?
    }

    /// The validator of these arguments.
    fn validator_of(&self, arguments: &Value) -> Option<&Validator> {
        let Compiled { validator, of_longer } = self.compiled()?;
        let Some(of_longer) = of_longer else { return Some(validator) };
        let bytes = text_bytes(arguments);
        let longer = of_longer.iter().zip(&BACKTRACKING[1..]);
        match longer.zip(BACKTRACKING).rfind(|(_, (shorter, _))| bytes > *shorter) {
            None => Some(validator),
            Some(((longer, (_, steps)), _)) => {
                longer.get_or_init(|| backtracking(&self.schema, *steps).ok()).as_ref()
            }
        }
    }

    fn cost(&self) -> ValidationCost {
        *self.cost.get_or_init(|| ValidationCost::of(&self.schema))
    }

    /// Whether a check of these arguments ends in a moment: they are short, and so is the schema, which has been compiled and has no
    /// pattern that backtracks.
    pub fn checks_quickly(&self, arguments: &Value) -> bool {
        const SHORT: usize = 1_000;
        let is_linear = |compiled: &Option<Arc<Compiled>>| {
            compiled.as_ref().is_some_and(|compiled| compiled.of_longer.is_none())
        };
        self.compiled.get().is_some_and(is_linear)
            && self.cost().is_small()
            && !is_longer_json(arguments, SHORT)
    }

    /// Whether calls are checked.
    pub fn is_checked(&self) -> bool {
        matches!(self.callable, Callable::Checked)
    }

    /// Drops the validator that was compiled while the catalog was built.
    pub(crate) fn drop_compiled(mut self) -> Self {
        self.compiled = OnceLock::new();
        self
    }

    /// Whether these arguments fit. Arguments that would cost too much to check count as unfit.
    pub fn accepts(&self, arguments: &Value) -> bool {
        !is_stopped()
            && self.validator_of(arguments).is_some_and(|validator| {
                self.cost().affords(&self.schema, arguments) && validator.is_valid(arguments)
            })
    }

    /// The violations of these arguments; empty when calls cannot be checked.
    pub fn violations(&self, arguments: &Value) -> Vec<Violation> {
        match self.validator_of(arguments) {
            Some(_) if is_stopped() => vec![Violation::new("", "the check of the arguments was stopped")],
            Some(_) if !self.cost().affords(&self.schema, arguments) => vec![Violation::new(
                "",
                "nested too deeply to be checked against unions that multiply at each level",
            )],
            Some(validator) if !validator.is_valid(arguments) => {
                violations(validator, &self.schema, arguments)
            }
            _ => Vec::new(),
        }
    }
}

/// Bytes of the texts in a value; a short text counts as a few.
pub(crate) fn text_bytes(value: &Value) -> usize {
    const LEAST: usize = 16;
    match value {
        Value::String(text) => text.len().max(LEAST),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len().max(LEAST) + text_bytes(field)).sum()
        }
        _ => 0,
    }
}

thread_local! {
    static IS_STOPPED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs work on arguments that ends soon after `stop` is set: no arguments are valid any more.
pub fn until_stopped<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Restored(Option<Arc<AtomicBool>>);
    impl Drop for Restored {
        fn drop(&mut self) {
            IS_STOPPED.set(self.0.take());
        }
    }
    let _restored = Restored(IS_STOPPED.replace(Some(Arc::clone(stop))));
    work()
}

fn is_stopped() -> bool {
    IS_STOPPED.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}
