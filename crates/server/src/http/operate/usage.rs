//! The page of usage: calls and searches, by day and by tool.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::request_context::RequestContext;
use super::visit::{query_of, unreadable};
use crate::response::{Problem, Response};
use crate::site::short_line;
use toolcrib_gateway::state::{Usage, is_failure, now, utc};
use toolcrib_providers::report::grouped;

/// Days of usage: by default, and at most.
const DAYS: (i64, i64) = (7, 90);

/// Most tools in the table of usage.
const MAX_TOOLS: usize = 200;

/// `GET /usage.html`: calls and searches, by day and by tool.
pub(crate) async fn usage(visit: RequestContext) -> Result<Response, Problem> {
    let days = visit.number("days").unwrap_or(DAYS.0).clamp(1, DAYS.1);
    let since = now() / 86_400_000 - days + 1;
    let sums = visit.state().usage(&visit.chosen(), since).await.map_err(unreadable)?;
    let values = values(&sums, days, visit.query("caller").as_deref());
    visit.page(move |site| site.operate("usage", ("usage", "Usage"), None, values)).await
}

/// The usage of these days.
fn values(sums: &[Usage], days: i64, caller: Option<&str>) -> Value {
    let mut by_day = BTreeMap::new();
    let mut by_tool = BTreeMap::new();
    for sum in sums {
        by_day.entry(sum.day).or_insert_with(Counts::default).add(sum);
        if !sum.is_search {
            by_tool.entry(sum.tool.as_str()).or_insert_with(Counts::default).add(sum);
        }
    }
    let most = by_day.values().map(|counts| counts.calls).max().unwrap_or(0).max(1);
    let day = |(day, counts): (&i64, &Counts)| {
        let mut row = counts.values();
        row["day"] = utc(day * 86_400_000)[..10].into();
        row["share"] = (100 * counts.calls / most).into();
        row
    };
    let mut tools: Vec<(&str, &Counts)> = by_tool.iter().map(|(tool, counts)| (*tool, counts)).collect();
    tools.sort_by_key(|(tool, counts)| (std::cmp::Reverse(counts.calls), *tool));
    let more = tools.len().saturating_sub(MAX_TOOLS);
    let tool = |(tool, counts): (&str, &Counts)| {
        let mut row = counts.values();
        row["tool"] = short_line(tool).into();
        let query = [("tool", tool), ("caller", caller.unwrap_or_default())];
        row["href"] = (!tool.is_empty()).then(|| format!("sessions.html?{}", query_of(&query))).into();
        let failed = [("tool", tool), ("outcome", "failed"), ("caller", caller.unwrap_or_default())];
        row["failed_href"] =
            (!tool.is_empty()).then(|| format!("sessions.html?{}", query_of(&failed))).into();
        row
    };
    json!({
        "days": days,
        "caller": caller.map(short_line),
        "by_day": by_day.iter().rev().map(day).collect::<Vec<_>>(),
        "by_tool": tools.into_iter().take(MAX_TOOLS).map(tool).collect::<Vec<_>>(),
        "more": more,
    })
}

/// Counts of a day or a tool.
#[derive(Default)]
struct Counts {
    calls: i64,
    failed: i64,
    searches: i64,
    unfound: i64,
    us: i64,
}

impl Counts {
    fn add(&mut self, sum: &Usage) {
        if sum.is_search {
            self.searches += sum.events;
            self.unfound += if is_failure(&sum.outcome) { sum.events } else { 0 };
        } else {
            self.calls += sum.events;
            self.failed += if is_failure(&sum.outcome) { sum.events } else { 0 };
            self.us += sum.latency_us;
        }
    }

    fn values(&self) -> Value {
        let number = |count: i64| grouped(count.unsigned_abs() as usize);
        json!({
            "calls": number(self.calls),
            "failed": number(self.failed),
            "has_failed": self.failed > 0,
            "percent": (self.calls > 0).then(|| 100 * self.failed / self.calls),
            "searches": number(self.searches),
            "unfound": number(self.unfound),
            "ms": (self.calls > 0).then(|| format!("{:.1}", self.us as f64 / 1000.0 / self.calls as f64)),
        })
    }
}
