//! Why a call has no result (EXEC-3, EXEC-4): what is wrong and where, what to read, and a call that would do.

use serde_json::{Map, Value, json};

use crate::arguments::{Corrected, FieldError};
use crate::refusal::{ErrorCode, Refusal};

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of thing.
    pub code: ErrorCode,
    /// In one line.
    pub message: String,
    /// Each argument that does not fit.
    pub fields: Vec<FieldError>,
    /// What else there is to know.
    pub details: Map<String, Value>,
    /// What to ask `tool_help` for; empty where the op itself will do.
    pub help_path: String,
    /// Names that may have been meant, best first.
    pub nearest: Vec<String>,
    /// What to do next.
    pub next_action: String,
    /// Another op, where not the one that was called is right, and arguments that fit.
    pub example: Option<(Option<String>, Value)>,
    /// What the example takes over of the call beside its arguments.
    pub carried: Map<String, Value>,
    /// Pointers to what is made up in the example.
    pub fill_in: Vec<String>,
    /// Pointers to what was given, and is not in the example.
    pub dropped: Vec<String>,
    /// The call as it was checked, for somebody who can run it.
    pub call: Option<Value>,
    /// Help on the tool.
    pub help: Option<Map<String, Value>>,
}

impl Failure {
    /// Says what is wrong and what to do next.
    pub fn new(code: ErrorCode, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            fields: Vec::new(),
            details: Map::new(),
            help_path: String::new(),
            nearest: Vec::new(),
            next_action: next_action.into(),
            example: None,
            carried: Map::new(),
            fill_in: Vec::new(),
            dropped: Vec::new(),
            call: None,
            help: None,
        }
    }

    /// That what was given does not fit.
    pub(super) fn invalid(message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationError, message, next_action)
    }

    /// With what is wrong with a field.
    pub(super) fn field(mut self, pointer: &str, message: &str, expected: Option<&str>) -> Self {
        let expected = expected.map(str::to_string);
        self.fields.push(FieldError { expected, ..FieldError::new(pointer, message) });
        self
    }

    /// With something else to know.
    pub(super) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// With a call that would have been right, of another op where one is named, if there is one.
    pub(super) fn offering(mut self, op: Option<String>, corrected: Option<Corrected>) -> Self {
        let Some(corrected) = corrected else { return self };
        self.next_action.push_str(match (corrected.fill_in.is_empty(), corrected.dropped.is_empty()) {
            (true, true) => "; `example` fits",
            (false, true) => "; `example` fits: put your own values in place of those listed in fill_in",
            (true, false) => "; `example` fits, without what is listed in dropped",
            (false, false) => {
                "; `example` fits, without what is listed in dropped: put your own values in place of those listed in fill_in"
            }
        });
        self.example = Some((op, corrected.args));
        (self.fill_in, self.dropped) = (corrected.fill_in, corrected.dropped);
        self
    }

    /// As the `error` of an envelope, for a call of `op`.
    pub(super) fn error(&self, op: &str) -> Map<String, Value> {
        let mut error = Map::new();
        let mut put = |name: &str, value: Value| error.insert(name.to_string(), value);
        put("code", self.code.as_str().into());
        put("message", self.message.as_str().into());
        let mut details = self.details.clone();
        details.insert("field_errors".into(), serde_json::to_value(&self.fields).unwrap_or_default());
        put("details", Value::Object(details));
        put("help_path", self.help_path.as_str().into());
        if !self.nearest.is_empty() {
            put("nearest", json!(self.nearest));
        }
        put("next_action", self.next_action.as_str().into());
        if let Some((other, args)) = &self.example {
            let mut example = Map::with_capacity(2 + self.carried.len());
            example.insert("op".into(), other.as_deref().unwrap_or(op).into());
            example.insert("args".into(), args.clone());
            example.extend(self.carried.clone());
            put("example", Value::Object(example));
            for (name, pointers) in [("fill_in", &self.fill_in), ("dropped", &self.dropped)] {
                if !pointers.is_empty() {
                    put(name, json!(pointers));
                }
            }
        }
        if let Some(call) = &self.call {
            put("call", call.clone());
        }
        if let Some(help) = &self.help {
            put("help", Value::Object(help.clone()));
        }
        error
    }

    /// The same for a function that answers with refusals; `example` has arguments alone.
    pub fn refusal(self) -> Refusal {
        let mut refusal = Refusal::new(self.code, self.message, self.next_action);
        refusal.field_errors = self.fields.into_iter().map(FieldError::brief).collect();
        refusal.nearest = self.nearest;
        refusal.hints = self.details;
        if let Some(help) = self.help {
            refusal.hints.insert("help".into(), Value::Object(help));
        }
        refusal.help_path = Some(self.help_path).filter(|path| !path.is_empty());
        (refusal.fill_in, refusal.dropped) = (self.fill_in, self.dropped);
        refusal.example = self.example.map(|(_, args)| args);
        refusal.call = self.call;
        refusal
    }
}
