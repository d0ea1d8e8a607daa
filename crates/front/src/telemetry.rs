//! Exports traces and metrics over OTLP (`[telemetry] otlp`), with OpenTelemetry's semantic conventions for MCP and
//! generative AI. Without the cargo feature `otel`, or before [`start`] is called, operations run without a span.

use std::borrow::Cow;

use http::HeaderMap;

/// The header, and the field of `_meta`, with the trace that a request belongs to.
const TRACEPARENT: &str = "traceparent";

/// An operation with a span; empty if nothing is exported.
#[derive(Debug)]
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only exports read it"))]
pub struct Operation(Option<Box<Description>>);

#[derive(Debug)]
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only exports read it"))]
struct Description {
    name: String,
    kind: Kind,
    /// Whether its duration is recorded in the MCP metrics.
    is_mcp: bool,
    attributes: Vec<(&'static str, Cow<'static, str>)>,
    /// The trace that the caller sent.
    parent: Option<String>,
}

impl Operation {
    fn new(describe: impl FnOnce() -> Description) -> Self {
        Self(is_on().then(|| Box::new(describe())))
    }

    /// An MCP request, such as `tools/call` with the name of its tool, from a caller with this `traceparent`.
    pub fn mcp_request(method: &'static str, tool: Option<&str>, parent: Option<String>) -> Self {
        Self::new(|| Description { parent, ..mcp(Kind::Server, method, tool) })
    }

    /// A call of a tool of a live server.
    pub fn mcp_call(tool: &str) -> Self {
        Self::new(|| mcp(Kind::Client, "tools/call", Some(tool)))
    }

    /// A request to the HTTP API for a function.
    pub fn http_request(function: &'static str, parent: Option<String>) -> Self {
        Self::new(|| {
            let route = format!("/v1/{function}");
            let name = format!("POST {route}");
            let attributes = vec![("http.request.method", "POST".into()), ("http.route", route.into())];
            Description { name, kind: Kind::Server, is_mcp: false, attributes, parent }
        })
    }

    /// A request to the HTTP backend of a tool.
    pub fn backend_request(method: &str, server: &str) -> Self {
        Self::new(|| {
            let attributes = vec![
                ("http.request.method", method.to_string().into()),
                ("server.address", server.to_string().into()),
            ];
            Description { name: method.into(), kind: Kind::Client, is_mcp: false, attributes, parent: None }
        })
    }

    /// A call of a tool, after its checks.
    pub fn tool(tool: &str) -> Self {
        Self::new(|| {
            let name = format!("execute_tool {tool}");
            let attributes = of_tool(tool);
            Description { name, kind: Kind::Internal, is_mcp: false, attributes, parent: None }
        })
    }
}

fn mcp(kind: Kind, method: &'static str, tool: Option<&str>) -> Description {
    let mut attributes = vec![("mcp.method.name", Cow::Borrowed(method))];
    attributes.extend(tool.map(of_tool).into_iter().flatten());
    let name = tool.map_or_else(|| method.to_string(), |tool| format!("{method} {tool}"));
    Description { name, kind, is_mcp: true, attributes, parent: None }
}

fn of_tool(tool: &str) -> Vec<(&'static str, Cow<'static, str>)> {
    vec![("gen_ai.operation.name", "execute_tool".into()), ("gen_ai.tool.name", tool.to_string().into())]
}

/// The `traceparent` of a request.
pub fn parent_of(headers: &HeaderMap) -> Option<String> {
    headers.get(TRACEPARENT)?.to_str().ok().map(str::to_string)
}

pub use otlp::{Exporting, carried, current, start};
use otlp::{Kind, is_on};

/// Without the cargo feature, nothing is exported.
#[cfg(not(feature = "otel"))]
mod otlp {
    use super::Operation;

    #[derive(Debug)]
    pub enum Kind {
        Server,
        Client,
        Internal,
    }

    /// The export in progress.
    #[derive(Debug)]
    pub struct Exporting;

    /// Exports traces and metrics to this address until the value is dropped.
    pub fn start(_: &str) -> Result<Exporting, String> {
        Err("this toolcrib was built without OpenTelemetry (feature `otel`)".into())
    }

    /// Whether anything is exported.
    pub(super) fn is_on() -> bool {
        false
    }

    /// The name and the value that pass the current span on: as a header, or in `_meta`.
    pub fn current() -> Option<(&'static str, String)> {
        None
    }

    /// Carries the current span into a task.
    pub fn carried<F: Future>(work: F) -> F {
        work
    }

    impl Operation {
        /// Does the work of the operation within its span. `error` is the type of the error of its outcome.
        pub fn observe<T, F: Future<Output = T>>(self, work: F, _: impl FnOnce(&T) -> Option<String>) -> F {
            work
        }
    }
}

#[cfg(feature = "otel")]
mod otlp {
    use std::collections::HashMap;
    use std::sync::OnceLock;
    use std::time::Instant;

    use opentelemetry::metrics::{Histogram, MeterProvider};
    use opentelemetry::propagation::TextMapPropagator;
    use opentelemetry::trace::{FutureExt, Status, TraceContextExt, Tracer, TracerProvider, WithContext};
    use opentelemetry::{Context, KeyValue};
    use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::metrics::SdkMeterProvider;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

    use super::{Description, Operation, TRACEPARENT};

    pub(super) use opentelemetry::trace::SpanKind as Kind;

    /// Bounds of MCP durations in seconds, as the conventions advise.
    const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1., 2., 5., 10., 30., 60., 120., 300.];

    static SHARED: OnceLock<Instruments> = OnceLock::new();

    struct Instruments {
        tracer: SdkTracer,
        server: Histogram<f64>,
        client: Histogram<f64>,
    }

    /// The export in progress. Dropping it sends the data that is left.
    #[derive(Debug)]
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
            tracer: tracers.tracer("toolcrib"),
            server: histogram("mcp.server.operation.duration"),
            client: histogram("mcp.client.operation.duration"),
        };
        let _ = SHARED.set(instruments);
        Ok(Exporting(tracers, meters))
    }

    /// Whether anything is exported.
    pub(super) fn is_on() -> bool {
        SHARED.get().is_some()
    }

    /// The name and the value that pass the current span on: as a header, or in `_meta`.
    pub fn current() -> Option<(&'static str, String)> {
        SHARED.get()?;
        let mut fields = HashMap::new();
        TraceContextPropagator::new().inject_context(&Context::current(), &mut fields);
        fields.remove(TRACEPARENT).map(|value| (TRACEPARENT, value))
    }

    /// Carries the current span into a task.
    pub fn carried<F: Future>(work: F) -> WithContext<F> {
        work.with_current_context()
    }

    impl Operation {
        /// Does the work of the operation within its span. `error` is the type of the error of its outcome.
        pub async fn observe<T>(
            self,
            work: impl Future<Output = T>,
            error: impl FnOnce(&T) -> Option<String>,
        ) -> T {
            let (Some(instruments), Some(described)) = (SHARED.get(), self.0) else { return work.await };
            let Description { name, kind, is_mcp, attributes, parent } = *described;
            let parent = match parent {
                Some(parent) => {
                    let fields = HashMap::from([(TRACEPARENT.to_string(), parent)]);
                    TraceContextPropagator::new().extract(&fields)
                }
                None => Context::current(),
            };
            let attributes = attributes.into_iter().map(|(name, value)| KeyValue::new(name, value));
            let mut attributes: Vec<KeyValue> = attributes.collect();
            let span = instruments.tracer.span_builder(name).with_kind(kind.clone());
            let span = span.with_attributes(attributes.clone());
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
                let histogram = if kind == Kind::Server { &instruments.server } else { &instruments.client };
                histogram.record(begun.elapsed().as_secs_f64(), &attributes);
            }
            outcome
        }
    }
}
