//! Exports traces and metrics over OTLP (`[telemetry] otlp`), with OpenTelemetry's semantic conventions for MCP and
//! generative AI. Without the cargo feature `otel`, or before [`start`] is called, operations run without a span.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Instant;

use http::HeaderMap;
use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::Histogram;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{FutureExt, SpanBuilder, SpanKind, Status, TraceContextExt, WithContext};
use opentelemetry::{Context, KeyValue};

pub use otlp::{Exporting, start};

/// The header, and the field of `_meta`, with the trace that a request belongs to.
const TRACEPARENT: &str = "traceparent";

/// The export of this process, once it has begun.
static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

struct Instruments {
    tracer: BoxedTracer,
    propagator: Box<dyn TextMapPropagator + Send + Sync>,
    server: Histogram<f64>,
    client: Histogram<f64>,
}

/// An operation with a span; empty if nothing is exported.
pub struct Operation(Option<Box<Description>>);

struct Description {
    span: SpanBuilder,
    /// Whether its duration is recorded in the MCP metrics.
    is_mcp: bool,
    /// The trace that the caller sent.
    parent: Option<String>,
}

impl Operation {
    fn new(kind: SpanKind, describe: impl FnOnce() -> (String, Vec<KeyValue>)) -> Self {
        Self(INSTRUMENTS.get().map(|_| {
            let (name, attributes) = describe();
            let span = SpanBuilder::from_name(name).with_kind(kind).with_attributes(attributes);
            Box::new(Description { span, is_mcp: false, parent: None })
        }))
    }

    fn mcp(kind: SpanKind, method: &'static str, tool: Option<&str>) -> Self {
        let Self(operation) = Self::new(kind, || {
            let name = tool.map_or_else(|| method.to_string(), |tool| format!("{method} {tool}"));
            let mut attributes = vec![KeyValue::new("mcp.method.name", method)];
            attributes.extend(tool.map(of_tool).into_iter().flatten());
            (name, attributes)
        });
        Self(operation.map(|operation| Box::new(Description { is_mcp: true, ..*operation })))
    }

    fn of_caller(self, parent: Option<String>) -> Self {
        Self(self.0.map(|operation| Box::new(Description { parent, ..*operation })))
    }

    /// An MCP request, such as `tools/call` with the name of its tool, from a caller with this `traceparent`.
    pub fn mcp_request(method: &'static str, tool: Option<&str>, parent: Option<String>) -> Self {
        Self::mcp(SpanKind::Server, method, tool).of_caller(parent)
    }

    /// A call of a tool of a live server.
    pub fn mcp_call(tool: &str) -> Self {
        Self::mcp(SpanKind::Client, "tools/call", Some(tool))
    }

    /// A request to the HTTP API for a function.
    pub fn http_request(function: &'static str, parent: Option<String>) -> Self {
        let route = || format!("/v1/{function}");
        let attributes =
            || vec![KeyValue::new("http.request.method", "POST"), KeyValue::new("http.route", route())];
        Self::new(SpanKind::Server, || (format!("POST {}", route()), attributes())).of_caller(parent)
    }

    /// A request to the HTTP backend of a tool.
    pub fn backend_request(method: &str, server: &str) -> Self {
        let method = || method.to_string();
        let server = || KeyValue::new("server.address", server.to_string());
        let attributes = || vec![KeyValue::new("http.request.method", method()), server()];
        Self::new(SpanKind::Client, || (method(), attributes()))
    }

    /// A call of a tool, after its checks.
    pub fn tool(tool: &str) -> Self {
        Self::new(SpanKind::Internal, || (format!("execute_tool {tool}"), of_tool(tool).into()))
    }

    /// Does the work of the operation within its span. `error` is the type of the error of its outcome.
    pub async fn observe<T>(
        self,
        work: impl Future<Output = T>,
        error: impl FnOnce(&T) -> Option<String>,
    ) -> T {
        let (Some(instruments), Some(described)) = (INSTRUMENTS.get(), self.0) else { return work.await };
        let Description { span, is_mcp, parent } = *described;
        let kind = span.span_kind.clone();
        let mut attributes = span.attributes.clone().unwrap_or_default();
        let parent = parent.map_or_else(Context::current, |parent| {
            instruments.propagator.extract(&HashMap::from([(TRACEPARENT.to_string(), parent)]))
        });
        let span = span.start_with_context(&instruments.tracer, &parent);
        let context = parent.with_span(span);
        let begun = Instant::now();
        let outcome = work.with_context(context.clone()).await;
        if let Some(error) = error(&outcome) {
            let error = KeyValue::new("error.type", error);
            context.span().set_attribute(error.clone());
            context.span().set_status(Status::error(""));
            attributes.push(error);
        }
        context.span().end();
        if is_mcp {
            let is_server = kind == Some(SpanKind::Server);
            let histogram = if is_server { &instruments.server } else { &instruments.client };
            histogram.record(begun.elapsed().as_secs_f64(), &attributes);
        }
        outcome
    }
}

fn of_tool(tool: &str) -> [KeyValue; 2] {
    let name = KeyValue::new("gen_ai.tool.name", tool.to_string());
    [KeyValue::new("gen_ai.operation.name", "execute_tool"), name]
}

/// The `traceparent` of a request.
pub fn parent_of(headers: &HeaderMap) -> Option<String> {
    headers.get(TRACEPARENT)?.to_str().ok().map(str::to_string)
}

/// The name and the value that pass the current span on: as a header, or in `_meta`.
pub fn current() -> Option<(&'static str, String)> {
    let mut fields = HashMap::new();
    INSTRUMENTS.get()?.propagator.inject_context(&Context::current(), &mut fields);
    fields.remove(TRACEPARENT).map(|value| (TRACEPARENT, value))
}

/// Carries the current span into a task.
pub fn carried<F: Future>(work: F) -> WithContext<F> {
    work.with_current_context()
}

/// Without the cargo feature, nothing is exported.
#[cfg(not(feature = "otel"))]
mod otlp {
    /// The export in progress.
    pub struct Exporting;

    /// Exports traces and metrics to this address until the value is dropped.
    pub fn start(_: &str) -> Result<Exporting, String> {
        Err("this toolcrib was built without OpenTelemetry (feature `otel`)".into())
    }
}

#[cfg(feature = "otel")]
mod otlp {
    use opentelemetry::KeyValue;
    use opentelemetry::global::BoxedTracer;
    use opentelemetry::metrics::MeterProvider;
    use opentelemetry::trace::TracerProvider;
    use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::metrics::SdkMeterProvider;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::{INSTRUMENTS, Instruments};

    /// Bounds of MCP durations in seconds, as the conventions advise.
    const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1., 2., 5., 10., 30., 60., 120., 300.];

    /// The export in progress. Dropping it sends the data that is left.
    pub struct Exporting(SdkTracerProvider, SdkMeterProvider);

    impl Drop for Exporting {
        fn drop(&mut self) {
            for ended in [self.0.shutdown(), self.1.shutdown()] {
                if let Err(error) = ended {
                    tracing::warn!(%error, "cannot send the last telemetry data");
                }
            }
        }
    }

    /// Exports traces and metrics to this address until the value is dropped.
    pub fn start(address: &str) -> Result<Exporting, String> {
        // One provider of cryptography for the whole process; a second call does nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address = address.trim_end_matches('/');
        let spans = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        let spans = spans.with_endpoint(format!("{address}/v1/traces")).build();
        let metrics = MetricExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        let metrics = metrics.with_endpoint(format!("{address}/v1/metrics")).build();
        let (spans, metrics) = spans
            .and_then(|spans| Ok((spans, metrics?)))
            .map_err(|error| format!("cannot send telemetry to {address}: {error}"))?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder(),
            None => Resource::builder().with_service_name("toolcrib"),
        };
        let resource = resource.with_attribute(version).build();
        let tracers = SdkTracerProvider::builder().with_batch_exporter(spans);
        let tracers = tracers.with_resource(resource.clone()).build();
        let meters =
            SdkMeterProvider::builder().with_periodic_exporter(metrics).with_resource(resource).build();
        let meter = meters.meter("toolcrib");
        let histogram = |name: &'static str| {
            meter.f64_histogram(name).with_unit("s").with_boundaries(BOUNDS.to_vec()).build()
        };
        let instruments = Instruments {
            tracer: BoxedTracer::new(Box::new(tracers.tracer("toolcrib"))),
            propagator: Box::new(TraceContextPropagator::new()),
            server: histogram("mcp.server.operation.duration"),
            client: histogram("mcp.client.operation.duration"),
        };
        let _ = INSTRUMENTS.set(instruments);
        Ok(Exporting(tracers, meters))
    }
}
