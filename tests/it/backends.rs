//! Backends, against real servers and real programs: the requests that arrive there, the results that come back, and
//! attacks that must fail.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::runtime::Runtime;
use toolcrib::catalog::{Checked, Tool};
use toolcrib::credentials::Credentials;
use toolcrib::exec::Caller;
use toolcrib::exec::backend::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, Backends, Begun,
};
use toolcrib::mcp::{Environment, list_all};
use toolcrib::{catalog, config};

mod buildos;
mod command;
mod hostile;
mod http_replies;
mod http_requests;
mod mcp;
pub mod mcp_server;
mod openapi;
mod recorder;

/// A catalog with what runs its tools.
pub struct Running {
    pub checked: Checked,
    pub backends: Arc<Backends>,
    pub runtime: Runtime,
    pub caller: Caller,
    pub time: Duration,
    pub key: Option<String>,
    begun: Begun,
}

impl Running {
    /// The catalog of a folder, its live servers listed.
    pub fn open(root: &Path) -> Self {
        let workspace = config::read(root);
        let listings = list_all(&workspace, &credentials(), None, &|_| ());
        let checked = catalog::open_with(workspace, &listings);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let backends = Arc::new(Backends::new(root, environment()));
        let (caller, time) = (Caller::default(), Duration::from_secs(20));
        Self { checked, backends, runtime, caller, time, key: None, begun: Begun::default() }
    }

    /// With headers in the request of whoever calls.
    pub fn with_headers(mut self, headers: &[(&str, &str)]) -> Self {
        let pairs = headers.iter().map(|(name, value)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        });
        self.caller.headers = HeaderMap::from_iter(pairs);
        self
    }

    pub fn tool(&self, name: &str) -> &Tool {
        self.checked.catalog.find(name).unwrap_or_else(|| panic!("no {name}: {:#?}", self.checked.findings))
    }

    pub fn call(&self, name: &str, arguments: Value) -> Result<BackendResponse, BackendError> {
        self.runtime.block_on(self.calling(name, arguments))
    }

    pub async fn calling(&self, name: &str, arguments: Value) -> Result<BackendResponse, BackendError> {
        let (tool, config) = (self.tool(name), &self.checked.catalog.config);
        let backend = Backends::of(tool, config).unwrap_or_else(|| panic!("nothing runs {name}"));
        self.backends.run(self.order(tool, &backend, &arguments)).await
    }

    pub fn preview(&self, name: &str, arguments: Value) -> Result<Value, BackendError> {
        let tool = self.tool(name);
        let backend = Backends::of(tool, &self.checked.catalog.config).unwrap();
        self.backends.preview(self.order(tool, &backend, &arguments))
    }

    fn order<'o>(
        &'o self,
        tool: &'o Tool,
        backend: &'o toolcrib::definition::Backend,
        arguments: &'o Value,
    ) -> BackendRequest<'o> {
        BackendRequest {
            tool,
            backend,
            config: &self.checked.catalog.config,
            arguments,
            caller: &self.caller,
            idempotency_key: self.key.as_deref(),
            longest_silence: self.time,
            begun: &self.begun,
        }
    }

    /// The answer of a backend, as an envelope has it.
    pub fn told(error: &BackendError) -> Value {
        serde_json::to_value(&error.answer).unwrap()
    }

    #[track_caller]
    pub fn fails(&self, name: &str, arguments: Value, kind: BackendErrorKind, why: &str) -> BackendError {
        let error = self.call(name, arguments).expect_err("a fault");
        assert_eq!(error.kind, kind, "{error:?}");
        assert!(error.message.contains(why), "{error:?}");
        assert!(!error.next_action.is_empty() && !format!("{error:?}").contains("s3cr3t"), "{error:?}");
        error
    }
}

fn credentials() -> Arc<Credentials> {
    Arc::new(Credentials::new(environment()))
}

pub fn environment() -> Environment {
    Environment::new(|name| match name {
        "TOKEN" => Some("s3cr3t-token".into()),
        "PATH" => std::env::var_os("PATH").map(|path| path.into_string().unwrap()),
        "SECRET_OF_OURS" => Some("s3cr3t-of-ours".into()),
        _ => None,
    })
}
