//! `tool_help`: its answers for ops, groups and unknown paths, and their token counts.

mod budget;
mod enough;
mod paths;

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::catalog::{Catalog, Checked};
use toolcrib::functions::{CatalogView, Function, FunctionContext};
use toolcrib::render::Templates;

use crate::fixture;

/// The catalogs of the examples.
pub const EXAMPLES: [&str; 3] = ["buildos", "github", "universal-agent"];

/// The catalog view of a caller with every role.
pub fn view(catalog: &Catalog) -> Arc<CatalogView> {
    view_for(catalog, None)
}

/// The catalog view of callers with these roles.
pub fn view_for(catalog: &Catalog, roles: Option<&[String]>) -> Arc<CatalogView> {
    let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
    Arc::new(CatalogView::new(catalog, None, roles, templates).unwrap())
}

pub fn example(name: &str) -> Checked {
    fixture::open(&fixture::package().join("examples").join(name))
}

/// The answer on a path, or to whole arguments.
pub fn help(view: &Arc<CatalogView>, asked: impl Into<Value>) -> Value {
    let arguments = match asked.into() {
        Value::String(path) => json!({ "path": path }),
        arguments => arguments,
    };
    let context = FunctionContext::of(Arc::clone(view));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(Function::named("tool_help").unwrap().call(&context, arguments));
    assert_eq!(answer.text().as_bytes(), &answer.json()[..]);
    serde_json::from_slice(&answer.json()).unwrap()
}
