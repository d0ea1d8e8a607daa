//! A tool whose backend is several steps. Each step is a separate call, for the same caller, with every check.
//!
//! 1. The tool of each step is looked up before any is run.
//! 2. [`Run`] runs one after another, with arguments from earlier results. A write has a key derived from that of the
//!    call, so that the same call goes on where an earlier one failed.
//! 3. The first failure ends the run, and reports the steps that were done. A dry run runs the reads, and shows the request of
//!    each write.

mod references;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::backend::{Backends, Begun};
use super::call::{Checked, Notes};
use super::envelope::Envelope;
use super::request::{CallRequest, EffectLimit, LONGEST_KEY, StepOf};
use crate::state::random_id;
use crate::tool_error::{Certainty, ErrorCode, Result, ToolError};
use references::{Unresolved, Values};
use toolcrib_catalog::Tool;
use toolcrib_definition::{Backend, Effect, Step, StepsBackend};
use toolcrib_front::mcp::FilledSecrets;

/// Most times that one step is tried under the key of one call.
const MAX_ATTEMPTS: usize = 20;

/// Runs the steps of a call; `set` are values that the operator has set. A dry run answers with the requests that they would send.
pub(super) async fn run_steps(
    call: &Checked,
    backend: &StepsBackend,
    (arguments, set): (&Value, &[Value]),
    begun: &Begun,
    notes: &mut Notes,
) -> Result<Value> {
    let mut run = Run::new(call, arguments, set);
    run.all(backend, begun, notes).await?;
    if call.is_dry_run {
        notes.warnings.push("only reads were run; send dry_run: false to run it all".into());
        return Ok(json!({ "would": { "backend": "steps", "steps": run.report } }));
    }
    run.result(backend, notes)
}

/// A step with its tool and the tool's position; none for a step whose conditions do not hold.
type Planned<'c> = (&'c Step, Option<(usize, Arc<Tool>)>);

/// A run of steps so far.
struct Run<'c> {
    call: &'c Checked,
    values: Values<'c>,
    /// The steps, as errors and dry runs report them.
    report: Vec<Value>,
    /// The result of the last step.
    last: Value,
    /// Ids of the writes that were done.
    written: Vec<&'c str>,
    /// The steps that are left.
    left: &'c [Step],
    /// The key from which those of its writes are derived.
    key: Option<String>,
    hidden: FilledSecrets,
    inner: StepOf,
}

impl<'c> Run<'c> {
    fn new(call: &'c Checked, arguments: &'c Value, set: &[Value]) -> Self {
        let schema = call.tool().input.parameters.schema();
        let given = call.request.idempotency_key.clone();
        let changes = call.effect() != Effect::Read && !call.is_dry_run;
        let (_, hidden) = call.secrets().split(schema, arguments);
        let inner = StepOf {
            op: call.op().to_string(),
            identity: call.fingerprint("steps"),
            hidden: hidden.into_iter().map(|secret| secret.value).chain(set.iter().cloned()).collect(),
        };
        Self {
            call,
            values: Values { arguments, schema, earlier: HashMap::new() },
            report: Vec::new(),
            last: Value::Null,
            written: Vec::new(),
            left: &[],
            key: changes.then(|| given.unwrap_or_else(|| random_id("st"))),
            hidden: FilledSecrets::of(inner.hidden.iter().cloned()),
            inner,
        }
    }

    /// Runs all steps.
    async fn all(&mut self, backend: &'c StepsBackend, begun: &Begun, notes: &mut Notes) -> Result<()> {
        let plan = self.planned(backend).inspect_err(|_| notes.was_run = false)?;
        begun.mark();
        for (step, tool) in plan {
            self.step(step, tool, notes).await?;
        }
        Ok(())
    }

    /// The steps whose conditions hold, each with a tool that this caller can call.
    fn planned(&mut self, backend: &'c StepsBackend) -> Result<Vec<Planned<'c>>> {
        let mut plan = Vec::with_capacity(backend.steps.len());
        for step in &backend.steps {
            if !self.values.meet(&step.when) {
                plan.push((step, None));
                continue;
            }
            let Some(tool) = self.callable(step) else {
                let op = self.call.op();
                let id = &step.id;
                let message =
                    format!("nothing was run: you cannot call the tool that `{op}` needs in its step `{id}`");
                let next = "tell the operator; sending it again changes nothing";
                return Err(ToolError::new(ErrorCode::NoBackend, message, next));
            };
            plan.push((step, Some(tool)));
        }
        self.left = &backend.steps;
        Ok(plan)
    }

    /// The tool of a step, if the caller can call it, it runs here, and it is no stronger than the whole. A tool with steps
    /// is no step.
    fn callable(&self, step: &Step) -> Option<(usize, Arc<Tool>)> {
        let call = self.call;
        let index = call.context.view.catalog().unique_position(&step.op)?;
        let tool = call.context.view.catalog().tools.get(index)?;
        let backend = Backends::of(tool, call.config())?;
        let runs = !call.context.view.is_forbidden(index)
            && tool.rules.effect <= call.effect()
            && !matches!(*backend, Backend::Steps(_));
        runs.then(|| (index, Arc::clone(tool)))
    }

    /// Runs one step, if its conditions hold.
    async fn step(
        &mut self,
        step: &'c Step,
        tool: Option<(usize, Arc<Tool>)>,
        notes: &mut Notes,
    ) -> Result<()> {
        self.left = self.left.get(1..).unwrap_or_default();
        let Some((index, tool)) = tool else {
            self.add_to_report(step, &step.op, json!({ "skipped": true }));
            self.values.earlier.insert(&step.id, None);
            return Ok(());
        };
        let is_dry_run = self.call.is_dry_run;
        let args = match self.values.fields(&step.args, 0) {
            Ok(args) => args,
            Err(Unresolved::NotRun(other)) => {
                let why = format!("it needs the result of `{other}`, which a dry run does not run");
                let args = Value::Object(step.args.clone());
                let args = self.call.secrets().redacted(tool.input.parameters.schema(), &args);
                self.add_to_report(step, &tool.names.op, json!({ "args": args, "not_run": why }));
                return Ok(());
            }
            Err(Unresolved::Unfit(why)) => return Err(self.failed(step, &tool, unfit(&why), notes)),
        };
        let shown = is_dry_run.then(|| {
            self.hidden.hide_in(self.call.secrets().redacted(tool.input.parameters.schema(), &args))
        });
        let result = self.call_step(step, (index, &tool), args).await;
        let result = result.map_err(|error| self.failed(step, &tool, error, notes))?;
        Self::warnings(step, &result, notes);
        let answer = result.fields();
        let mut result_of_step = match result.outcome {
            Err(error) => return Err(self.failed(step, &tool, error, notes)),
            Ok(value) => value,
        };
        if is_dry_run && tool.rules.effect != Effect::Read {
            let would = self.hidden.hide_in(result_of_step["would"].take());
            self.add_to_report(step, &tool.names.op, json!({ "args": shown, "would": would }));
            return Ok(());
        }
        let mut facts = json!({ "ok": true });
        if let Some(shown) = shown {
            facts["args"] = shown;
        }
        if result.meta.replayed {
            facts["replayed"] = true.into();
        }
        self.add_to_report(step, &tool.names.op, facts);
        if tool.rules.effect != Effect::Read {
            self.written.push(&step.id);
        }
        self.last = result_of_step;
        self.values.earlier.insert(&step.id, Some(answer));
        Ok(())
    }

    /// Calls the tool of a step. A write that failed under the key of an earlier call is tried again under the next one.
    async fn call_step(&self, step: &Step, (index, tool): (usize, &Tool), args: Value) -> Result<Envelope> {
        let is_write = tool.rules.effect != Effect::Read;
        let key = if is_write { self.key.as_deref() } else { None };
        for attempt in 1..=MAX_ATTEMPTS {
            let request = CallRequest {
                function: self.call.request.function,
                op: tool.names.op.clone(),
                tool: Some(index),
                args: args.clone(),
                idempotency_key: key.map(|key| key_of(key, step, attempt)),
                dry_run: Some(self.call.is_dry_run && is_write),
                limit: match self.call.effect() {
                    Effect::Read => EffectLimit::ReadsOnly,
                    _ => EffectLimit::None,
                },
                step: Some(Box::new(self.inner.clone())),
                ..CallRequest::default()
            };
            let result = (self.call.run_step)(self.call.context.clone(), request, self.call.functions).await;
            let has_failed_before = result.meta.replayed && result.outcome.is_err();
            if !has_failed_before {
                return Ok(result);
            }
        }
        let message = format!("it has failed {MAX_ATTEMPTS} times under this idempotency_key");
        Err(ToolError::new(ErrorCode::Conflict, message, "check what was done, then send it with a new key"))
    }

    fn warnings(step: &Step, result: &Envelope, notes: &mut Notes) {
        let warnings = result.meta.warnings.iter().flatten();
        notes.warnings.extend(warnings.map(|text| format!("step `{}`: {text}", step.id)));
        if result.meta.replayed {
            let text = "was done by an earlier call with this idempotency_key, and not again";
            notes.warnings.push(format!("step `{}` {text}", step.id));
        }
    }

    /// The result of the whole.
    fn result(&self, backend: &StepsBackend, notes: &mut Notes) -> Result<Value> {
        let Some(template) = &backend.result else { return Ok(self.last.clone()) };
        match self.values.value(template, 0) {
            Ok(result) => Ok(result.unwrap_or_default()),
            // All is done, and its caller must not do it again.
            Err(Unresolved::Unfit(why) | Unresolved::NotRun(why)) => {
                notes
                    .warnings
                    .push(format!("every step was done; this is the last one's result, since {why}"));
                Ok(self.last.clone())
            }
        }
    }

    fn add_to_report(&mut self, step: &Step, op: &str, facts: Value) {
        let mut entry = Map::new();
        entry.insert("id".into(), step.id.as_str().into());
        entry.insert("op".into(), op.into());
        if let Value::Object(facts) = facts {
            entry.extend(facts);
        }
        self.report.push(Value::Object(entry));
    }

    /// The error of the whole: this step, the writes before it, and the steps after it.
    fn failed(&mut self, step: &Step, tool: &Tool, mut error: ToolError, notes: &mut Notes) -> ToolError {
        let code = error.code;
        let is_unknown = error.certainty == Certainty::Unknown && tool.rules.effect != Effect::Read;
        let may_have_run = is_unknown || code == ErrorCode::OutcomeUnknown;
        let is_partly_done = !self.written.is_empty() || may_have_run;
        let was_sent = may_have_run || error.certainty != Certainty::NotRun;
        notes.was_run = was_sent && !self.call.is_dry_run;
        error.message = self.hidden.hide(error.message.trim_end_matches('.'));
        let mut facts = json!({ "code": code.as_str(), "message": error.message });
        if !error.field_errors.is_empty() {
            facts["field_errors"] = self.hidden.hide_in(json!(error.field_errors));
        }
        self.add_to_report(step, &tool.names.op, json!({ "error": facts }));
        let not_run = self.left.iter().map(|step| json!({ "id": step.id, "op": step.op, "not_run": true }));
        self.report.extend(not_run);
        let mut text = format!("the step `{}` (`{}`) failed: {}", step.id, tool.names.op, error.message);
        text.push_str(&self.account(may_have_run, is_partly_done));
        let mut next = error.next_action;
        let goes_on = is_partly_done || code == ErrorCode::ApprovalRequired;
        if let (Some(key), true) = (&self.key, goes_on) {
            next.push_str(&format!(
                "; retry with \"idempotency_key\": \"{key}\" to resume: finished steps are skipped"
            ));
        }
        let may_have_changed = is_partly_done || (was_sent && tool.rules.effect != Effect::Read);
        let certainty = if may_have_changed { Certainty::Partly } else { Certainty::NotRun };
        let mut whole = ToolError::new(code, text, next).with_certainty(certainty);
        if let Value::Object(hints) = self.hidden.hide_in(Value::Object(error.hints)) {
            whole.hints = hints;
        }
        whole = whole.detail("steps", std::mem::take(&mut self.report));
        if is_partly_done { whole.detail("partly_done", true) } else { whole }
    }

    /// Sentences behind the failure of a step: steps that were done, and those that were not.
    fn account(&self, may_have_run: bool, is_partly_done: bool) -> String {
        let mut text = String::new();
        if may_have_run {
            text.push_str(". Whether it was done is not known");
        }
        match self.written.as_slice() {
            [] if is_partly_done => {}
            [] => text.push_str(". The steps before it changed nothing"),
            written => text.push_str(&format!(". Done before it, and not undone: {}", quoted_list(written))),
        }
        if !self.left.is_empty() {
            let ids: Vec<&str> = self.left.iter().map(|step| step.id.as_str()).collect();
            text.push_str(&format!(". Not run: {}", quoted_list(&ids)));
        }
        text
    }
}

fn quoted_list(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

/// The key of a step, derived from that of the call.
fn key_of(key: &str, step: &Step, attempt: usize) -> String {
    let again = if attempt > 1 { format!("/{attempt}") } else { String::new() };
    let derived = format!("{key}/{}{again}", step.id);
    if derived.chars().count() <= LONGEST_KEY {
        derived
    } else {
        format!("{}/{}{again}", blake3::hash(key.as_bytes()).to_hex(), step.id)
    }
}

/// The error of a step whose arguments cannot be made.
fn unfit(why: &str) -> ToolError {
    let next = "tell the operator: the steps of this tool do not fit the answers of its backends";
    ToolError::new(ErrorCode::BackendError, format!("its arguments cannot be made: {why}"), next)
}
