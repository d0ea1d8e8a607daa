//! The counters in the text format of Prometheus.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering::Relaxed;

use strum::VariantArray;

use super::{BOUNDS, CallOutcome, Metrics, Route, RouteCounters};
use crate::catalog::Catalog;
use crate::functions::{Function, SemanticSearch};
use crate::search::semantic::SemanticStatus;
use crate::serve::RequestCatalog;

impl Metrics {
    /// The text; `catalog` is the one that its reader may see. Counters are made of the requests of all callers, and reloads and
    /// models concern hidden tools: they are for a reader who sees everything.
    pub fn text(&self, request_catalog: &RequestCatalog, catalog: &Catalog, sees_everything: bool) -> String {
        let mut page = MetricsText(String::with_capacity(8192));
        let services = request_catalog.services();
        if sees_everything {
            self.requests(&mut page);
            page.reloads(request_catalog);
            page.meaning(&services.semantic);
            page.tools(&services.counts, catalog);
            page.state(&services.state.health());
        }
        page.gauge("toolcrib_tools", "Tools served.", catalog.tools.len() as u64);
        page.family("toolcrib_catalog_info", "gauge", "The registry version.");
        page.sample("toolcrib_catalog_info", &format!("registry_version=\"{}\"", catalog.version), 1);
        page.0
    }

    /// Requests, connections, and calls of functions.
    fn requests(&self, page: &mut MetricsText) {
        page.family(
            "toolcrib_http_requests_total",
            "counter",
            "Requests answered, by route and class of status.",
        );
        self.each_route(|name, counted| {
            for (class, count) in counted.by_class.iter().enumerate() {
                let labels = format!("route=\"{name}\",status=\"{}xx\"", class + 1);
                page.sample("toolcrib_http_requests_total", &labels, count.load(Relaxed));
            }
        });
        let took = "toolcrib_http_request_duration_seconds";
        page.family(took, "histogram", "Time from the head of a request to the head of its answer.");
        self.each_route(|name, counted| {
            let counts = counted.by_bound.iter().map(|count| count.load(Relaxed));
            let label = format!("route=\"{name}\",");
            page.histogram(took, &label, counts, &BOUNDS, counted.micros.load(Relaxed));
        });
        page.family("toolcrib_function_calls_total", "counter", "Calls of functions, by outcome.");
        for (function, outcomes) in Function::all().iter().zip(&self.calls) {
            for (outcome, count) in CallOutcome::all().map(CallOutcome::as_str).zip(outcomes) {
                let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
                page.sample("toolcrib_function_calls_total", &labels, count.load(Relaxed));
            }
        }
        let counters = [
            ("toolcrib_doc_reads_total", "Docs sent whole over HTTP.", &self.doc_reads),
            (
                "toolcrib_http_not_modified_total",
                "Answers that the client's copy is current.",
                &self.not_modified,
            ),
            ("toolcrib_http_body_bytes_total", "Bytes of bodies sent.", &self.bytes),
            ("toolcrib_http_connections_turned_away_total", "Connections without room.", &self.turned_away),
        ];
        for (name, help, count) in counters {
            page.single("counter", name, help, count.load(Relaxed));
        }
        let connections = self.connections.load(Relaxed).max(0) as u64;
        page.gauge("toolcrib_http_connections", "Connections open.", connections);
    }

    fn each_route(&self, mut visit: impl FnMut(&str, &RouteCounters)) {
        for &route in Route::VARIANTS {
            visit(route.into(), &self.routes[route as usize]);
        }
    }
}

/// A page of metrics while it is written.
pub(super) struct MetricsText(pub(super) String);

impl MetricsText {
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.0, "{name}{open}{labels}{close} {value}");
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.single("gauge", name, help, value);
    }

    pub(super) fn single(&mut self, kind: &str, name: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        self.sample(name, "", value);
    }

    /// The buckets, the sum and the count of a histogram; `label` is empty, or ends with a comma.
    pub(super) fn histogram(
        &mut self,
        name: &str,
        label: &str,
        counts: impl Iterator<Item = u64>,
        bounds: &[u64],
        micros: u64,
    ) {
        let mut total = 0;
        for (index, count) in counts.enumerate() {
            total += count;
            let bound = bounds.get(index).map_or("+Inf".into(), |bound| (*bound as f64 / 1e6).to_string());
            self.sample(&format!("{name}_bucket"), &format!("{label}le=\"{bound}\""), total);
        }
        let label = label.trim_end_matches(',');
        self.sample(&format!("{name}_sum"), label, micros as f64 / 1e6);
        self.sample(&format!("{name}_count"), label, total);
    }

    /// Whether the catalog on disk is the one that is served.
    fn reloads(&mut self, request_catalog: &RequestCatalog) {
        self.family("toolcrib_reloads_total", "counter", "Rebuilt catalogs, by outcome.");
        for (outcome, count) in request_catalog.reloads() {
            self.sample("toolcrib_reloads_total", &format!("outcome=\"{outcome}\""), count);
        }
        let mut is_current = request_catalog.stale().is_none();
        let address = "toolcrib_address_current";
        for (index, (state, version)) in request_catalog.addresses().enumerate() {
            if index == 0 {
                self.family(address, "gauge", "1 when the last request for a registry succeeded.");
            }
            let label = state.address.replace('\\', "").replace('"', "");
            let labels = format!("address=\"{label}\",registry_version=\"{}\"", version.unwrap_or_default());
            self.sample(address, &labels, u64::from(state.problem.is_none()));
            is_current &= state.problem.is_none();
        }
        let complete = "1 when all input could be read.";
        self.gauge("toolcrib_catalog_complete", complete, u64::from(request_catalog.generation().complete));
        self.gauge(
            "toolcrib_catalog_current",
            "1 when the catalog on disk is served.",
            u64::from(is_current),
        );
    }

    /// Search by meaning.
    fn meaning(&mut self, meaning: &SemanticSearch) {
        let (counts, progress) = match meaning {
            SemanticSearch::On(semantic) => (semantic.counts(), semantic.progress()),
            _ => Default::default(),
        };
        let searches = "toolcrib_semantic_searches_total";
        self.family(
            searches,
            "counter",
            "Searches for which a model was configured, by whether it had a part.",
        );
        self.sample(searches, "outcome=\"on\"", counts.on);
        self.sample(searches, "outcome=\"unavailable\"", counts.unavailable);
        let embedded = "toolcrib_semantic_texts_total";
        self.single("counter", embedded, "Texts of tools that the model was asked for.", counts.embedded);
        let state = meaning.status();
        let gauges = [
            (
                "toolcrib_semantic_configured",
                "1 when a model is configured.",
                u64::from(state != SemanticStatus::Off),
            ),
            (
                "toolcrib_semantic_on",
                "1 when searches find it at work.",
                u64::from(state == SemanticStatus::On),
            ),
            ("toolcrib_semantic_vectors", "Vectors that are there.", progress.embedded as u64),
            ("toolcrib_semantic_vectors_wanted", "Vectors that are wanted.", progress.wanted as u64),
        ];
        for (name, help, value) in gauges {
            self.gauge(name, help, value);
        }
    }
}
