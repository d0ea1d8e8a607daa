//! What a call of a function gets: a [`FunctionContext`], which calls of tools get too, with the [`Services`] and [`Counters`] of
//! the process, and its arguments, coerced to its definition and validated.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CatalogView, Function, ToolError};
use crate::exec::Caller;
use crate::exec::backend::Backends;
use crate::state::{StateStore, random_id};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{
    FieldError, MAX_EXPLAINED, Repair, RepairKind, and_more, coerce_to_schema, in_words,
};
use toolcrib_definition::finding::Violation;
use toolcrib_definition::guard::locked;
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_search::model::ChatModel;
use toolcrib_search::semantic;
use toolcrib_search::semantic::Semantic;

/// The context of a function call.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// The catalog view of the caller.
    pub view: Arc<CatalogView>,
    /// The services that all calls share.
    pub services: Arc<Services>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// Trace id of the request.
    pub trace: Trace,
}

/// Services that outlive catalogs and are shared by all calls.
pub struct Services {
    /// Search by meaning.
    pub semantic: SemanticSearch,
    /// The model behind the scorer `llm` of `pick`, or the reason why it cannot be asked.
    pub llm: Option<Result<Arc<dyn ChatModel + Send + Sync>, String>>,
    /// The store of state.
    pub state: Arc<StateStore>,
    /// The backends of tools.
    pub backends: Backends,
    /// Counters of functions and tools.
    pub counts: Counters,
}

/// Search by meaning, where it is configured.
#[derive(Debug, Default)]
pub enum SemanticSearch {
    /// It is not.
    #[default]
    Off,
    /// Configured, and not working; with the reason, for the operator.
    Broken(String),
    /// Configured, and working.
    On(Arc<Semantic>),
}

impl FunctionContext {
    /// Whether a tool may be missing because its source could not be read. False for callers with hidden tools, who
    /// must not learn of the unread source.
    pub(super) fn lacks_sources(&self) -> bool {
        self.caller.sees_everything() && !self.view.catalog().complete
    }

    /// A call that sees this catalog view, with no services.
    pub fn of(view: Arc<CatalogView>) -> Self {
        Self { view, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

impl Default for Services {
    fn default() -> Self {
        let state = Arc::new(StateStore::in_memory());
        let (backends, counts) = Default::default();
        let semantic = SemanticSearch::Off;
        Self { semantic, llm: None, state, backends, counts }
    }
}

impl Services {
    /// Starts preparing the vectors for searches in this catalog view.
    pub fn prepare(&self, view: &CatalogView) {
        if let SemanticSearch::On(semantic) = &self.semantic {
            semantic.prepare(view.vector_slot());
        }
    }
}

impl SemanticSearch {
    /// Status of the model for searches, with the reason if it does not work, for the operator.
    pub fn status(&self) -> semantic::SemanticStatus {
        match self {
            SemanticSearch::Off => semantic::SemanticStatus::Off,
            SemanticSearch::Broken(reason) => semantic::SemanticStatus::Unavailable(reason.clone()),
            SemanticSearch::On(semantic) => semantic.status(),
        }
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_llm = self.llm.is_some();
        to.debug_struct("Services")
            .field("semantic", &self.semantic)
            .field("llm", &has_llm)
            .field("state", &self.state)
            .finish()
    }
}

/// Trace id of one request, made at its first use.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<OnceLock<String>>);

impl Trace {
    /// The id.
    pub fn id(&self) -> &str {
        self.0.get_or_init(|| random_id("tr"))
    }
}

// The arguments of a call.

/// The arguments of a call of this function, as its own type.
pub(super) fn read_arguments<T: DeserializeOwned>(
    (name, definition): (&str, Option<&Tool>),
    secrets: SecretPolicy<'_>,
    given: Value,
) -> Result<T, ToolError> {
    let given = match definition {
        Some(definition) => check(definition, secrets, given)?,
        None => given,
    };
    T::deserialize(given).map_err(|_| {
        let message = format!("the arguments of {name} do not fit");
        ToolError::invalid(message, "correct the arguments; `example` fits")
    })
}

/// Valid arguments; else an error with field errors and an example.
fn check(definition: &Tool, secrets: SecretPolicy<'_>, arguments: Value) -> Result<Value, ToolError> {
    let mut arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    if definition.parameters.accepts(&arguments) {
        read_integers(definition, &mut arguments);
        return Ok(arguments);
    }
    read_paths(definition, &mut arguments);
    // A number never stands for a name, a query or a path.
    let is_name = |repaired: &[Repair]| repaired.iter().all(|repair| repair.repair != RepairKind::AsText);
    let coerced = match coerce_to_schema(definition, arguments.clone()) {
        Ok((fit, repaired)) if is_name(&repaired) => Ok(fit),
        Ok(_) => Err(definition.parameters.violations(&arguments)),
        Err(wrong) => Err(wrong),
    };
    let mut fit = coerced.map_err(|wrong| invalid_arguments(definition, secrets, &arguments, wrong))?;
    read_integers(definition, &mut fit);
    Ok(fit)
}

/// Makes `5.0` the integer 5: JSON Schema accepts it as an integer, and Rust does not read it as one.
fn read_integers(definition: &Tool, arguments: &mut Value) {
    let properties = definition.parameters.schema().get("properties");
    for (name, given) in arguments.as_object_mut().into_iter().flatten() {
        let wanted = properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
        if wanted == Some("integer")
            && !given.is_u64()
            && let Some(number) = given.as_f64()
        {
            *given = (number as i64).into();
        }
    }
}

/// The error of the arguments of a function, field by field.
fn invalid_arguments(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    given: &Value,
    wrong: Vec<Violation>,
) -> ToolError {
    let more = wrong.len().saturating_sub(MAX_EXPLAINED);
    let explained = wrong.into_iter().take(MAX_EXPLAINED);
    let told = explained.map(|violation| secrets.conceal(tool.parameters.schema(), given, violation));
    let field_errors: Vec<FieldError> = told.map(FieldError::from).collect();
    let words = in_words(&field_errors, 3) + &and_more(more);
    let message = format!("the arguments of {} do not fit: {words}", tool.name);
    let mut error = ToolError::invalid(message, "correct the arguments; `example` fits");
    error.field_errors = field_errors;
    error.example = tool.call.clone().map(Value::Object);
    error
}

/// Arguments that are paths of categories.
const PATHS: [&str; 3] = ["path", "category_path", "category"];

/// Turns a path from text into a list, or the other way round, as the definition wants it: models mix the two up. No
/// segment has a slash, so the change is unambiguous.
fn read_paths(definition: &Tool, arguments: &mut Value) {
    let properties = definition.parameters.schema().get("properties");
    for name in PATHS {
        let wanted = properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
        let Some(given) = arguments.get_mut(name) else { continue };
        match (wanted, &*given) {
            (Some("array"), Value::String(text)) if !text.trim_start().starts_with('[') => {
                *given = text.split('/').filter(|segment| !segment.trim().is_empty()).collect();
            }
            (Some("string"), Value::Array(segments)) if segments.iter().all(Value::is_string) => {
                let segments: Vec<&str> = segments.iter().filter_map(Value::as_str).collect();
                *given = segments.join("/").into();
            }
            _ => {}
        }
    }
}

// Counters and times for metrics, by name and labels. A series begins when it is first counted.

/// Upper bounds of times, in microseconds.
const BOUNDS: [u64; 9] = [100, 500, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 60_000_000];

/// Most series of a name: a catalog that is edited for years has had more tools.
const MOST: usize = 20_000;

/// The counters.
#[derive(Debug, Default)]
pub struct Counters {
    counts: Families<u64>,
    times: Families<Histogram>,
}

/// Series by name and labels.
type Families<T> = Mutex<BTreeMap<&'static str, BTreeMap<String, T>>>;

#[derive(Debug, Default)]
struct Histogram {
    by_bound: [u64; BOUNDS.len() + 1],
    micros: u64,
}

/// Changes one series. A new one beyond the limit is left out.
fn update<T: Default>(families: &Families<T>, name: &'static str, labels: &str, change: impl FnOnce(&mut T)) {
    let mut families = locked(families);
    let family = families.entry(name).or_default();
    if let Some(series) = family.get_mut(labels) {
        change(series);
    } else if family.len() < MOST {
        change(family.entry(labels.into()).or_default());
    }
}

impl Counters {
    /// Adds to a counter. The labels are as Prometheus writes them: `outcome="ok"`.
    pub fn add(&self, name: &'static str, labels: &str, count: u64) {
        update(&self.counts, name, labels, |total| *total += count);
    }

    /// Records the time that something took.
    pub fn took(&self, name: &'static str, labels: &str, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        update(&self.times, name, labels, |histogram| {
            histogram.by_bound[bound] += 1;
            histogram.micros = histogram.micros.saturating_add(micros);
        });
    }

    /// Writes all series in the text format of Prometheus.
    pub fn write(&self, to: &mut String) {
        for (name, series) in &*locked(&self.counts) {
            let _ = writeln!(to, "# TYPE {name} counter");
            for (labels, count) in series {
                let _ = writeln!(to, "{name}{} {count}", braced(labels));
            }
        }
        for (name, series) in &*locked(&self.times) {
            let _ = writeln!(to, "# TYPE {name} histogram");
            for (labels, histogram) in series {
                let comma = if labels.is_empty() { "" } else { "," };
                let mut total = 0;
                for (index, count) in histogram.by_bound.iter().enumerate() {
                    total += count;
                    let bound =
                        BOUNDS.get(index).map_or("+Inf".into(), |&bound| (bound as f64 / 1e6).to_string());
                    let _ = writeln!(to, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}");
                }
                let labels = braced(labels);
                let seconds = histogram.micros as f64 / 1e6;
                let _ = writeln!(to, "{name}_sum{labels} {seconds}\n{name}_count{labels} {total}");
            }
        }
    }
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolcrib_catalog::functions;

    #[test]
    fn integers_may_be_written_as_floats() {
        let list = functions().named("list").unwrap();
        for (given, read) in [(json!(7.0), json!(7)), (json!("7.0"), json!(7)), (json!(7), json!(7))] {
            assert_eq!(check(list, SecretPolicy::default(), json!({"limit": given})).unwrap()["limit"], read);
        }
        let error = check(list, SecretPolicy::default(), json!({"limit": 1.5})).unwrap_err();
        assert_eq!(error.field_errors[0].pointer, "/limit");
        assert!(error.example.is_some() && error.message.contains("integer"), "{}", error.message);
    }
}
