//! `toolcrib-lab simulate`: the modes, compared over all tasks.

use serde_json::{Value, json};
use toolcrib::Mode;

use crate::ledger::Ledger;
use crate::replay::{Played, Replay};
use crate::table::{Printed, rows, tenth, text};
use crate::tasks::Task;
use crate::{Result, Run};

/// The columns of the table, and their fields.
const COLUMNS: [(&str, &str); 11] = [
    ("mode", "mode"),
    ("turns", "turns"),
    ("tools", "bound"),
    ("prompt", "prompt"),
    ("calls", "calls"),
    ("answers", "answers"),
    ("% of full", "percent"),
    ("first", "right_first"),
    ("found", "right_found"),
    ("no_match", "wrong_no_match"),
    ("refused", "refused"),
];

/// Plays all tasks in each mode.
pub async fn simulate(run: &Run<'_>) -> Result<Printed> {
    let profile = run.catalog.profile(run.profile_name())?;
    let mut replay = Replay::new(run)?;
    let tasks: Vec<&Task> = run.tasks.iter().collect();
    let full = replay.play(&profile, Mode::Full, &tasks).await?;
    let (mut costs, mut left_out) = (Vec::new(), Vec::new());
    for &mode in run.setting.modes() {
        match replay.play(&profile, mode, &tasks).await {
            Ok(played) => costs.push(cost(&played, &full, run)),
            Err(reason) => left_out.push(json!({ "mode": mode, "reason": reason.to_string() })),
        }
    }
    let last =
        |cost: &Value| cost["total"].as_array().and_then(|total| total.last()?.as_f64()).unwrap_or(0.0);
    costs.sort_by(|a, b| last(a).total_cmp(&last(b)));
    let report = json!({
        "registry_version": run.catalog.version,
        "tools": profile.tools.len(),
        "auto": replay.meter.auto(&profile).mode,
        "tasks": tasks.len(),
        "calls": full.events.calls,
        "unknown_calls": full.events.unknown,
        "hosts": run.setting.host,
        "modes": costs,
        "left_out": left_out,
    });
    Ok(Printed { table: table(run, &report), json: report })
}

/// The cost of one mode, a task on average.
fn cost(played: &Played, full: &Played, run: &Run<'_>) -> Value {
    let events = &played.events;
    let share =
        |part: usize| (events.searches > 0).then(|| tenth(100.0 * part as f64 / events.searches as f64));
    let hosts = &run.setting.host;
    let percent = |host: &usize| tenth(100.0 * played.total(run, *host) / full.total(run, *host));
    json!({
        "mode": played.mode,
        "turns": played.mean(Ledger::turns),
        "bound": played.bound,
        "prompt": played.prompt,
        "calls": played.mean(|ledger| ledger.calls),
        "answers": played.mean(|ledger| ledger.answers),
        "total": hosts.iter().map(|host| played.total(run, *host).round()).collect::<Vec<_>>(),
        "percent": hosts.iter().map(percent).collect::<Vec<_>>(),
        "searches": events.searches,
        "right_first": share(events.first),
        "right_found": share(events.found),
        "wrong_no_match": share(events.no_match),
        "refused": events.refused,
        "refusal": events.refusal,
    })
}

fn table(run: &Run<'_>, report: &Value) -> String {
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let costs = list("modes");
    let mut out = format!(
        "{} tasks with {} calls ({} more of unknown tools), {} tools, for {}; auto is {}\n\n{}",
        report["tasks"],
        report["calls"],
        report["unknown_calls"],
        report["tools"],
        run.setting.provider.as_str(),
        text(&report["auto"]),
        rows(&costs, &COLUMNS),
    );
    for left_out in list("left_out") {
        out += &format!("{} is left out: {}\n", text(&left_out["mode"]), text(&left_out["reason"]));
    }
    for refusal in costs.iter().map(|cost| &cost["refusal"]).filter(|refusal| !refusal.is_null()) {
        out += &format!("refused: {}\n", text(refusal));
    }
    out + &format!("% of full is for hosts of {} tokens\n", text(&report["hosts"]))
}
