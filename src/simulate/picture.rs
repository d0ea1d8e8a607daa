//! A picture of the comparison, as SVG: the cost of a task on each surface in percent of `full`, by the number of tools.

use std::fmt::Write;

use super::report::{Report, SurfaceCost};
use crate::config::Surface;
use crate::report::grouped;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 96.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 56.0;
/// The least distance between two labels.
const LINE: f64 = 16.0;
/// Percent between two lines of the grid.
const STEP: f64 = 25.0;

/// Colours that can be told apart on white and on black, by surface.
const COLOURS: [(Surface, &str); 5] = [
    (Surface::Hybrid, "#b8860b"),
    (Surface::Native, "#8a63d2"),
    (Surface::Toolset, "#2e8b57"),
    (Surface::Core, "#d2564c"),
    (Surface::Gateway, "#2f7fd6"),
];

/// The axes: numbers of tools on a logarithmic scale, and percent.
struct Axes {
    first: f64,
    last: f64,
    most: f64,
}

impl Axes {
    fn x(&self, tools: usize) -> f64 {
        let share = (tools as f64).max(1.0).ln() - self.first;
        LEFT + (WIDTH - LEFT - RIGHT) * share / (self.last - self.first).max(f64::EPSILON)
    }

    fn y(&self, percent: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * percent / self.most
    }
}

/// The picture for the largest host context; `None` for reports of fewer than two sizes.
pub fn picture(reports: &[Report]) -> Option<String> {
    let mut reports: Vec<&Report> = reports.iter().collect();
    reports.sort_by_key(|report| report.tools);
    reports.dedup_by_key(|report| report.tools);
    let (first, last) = (reports.first()?, reports.last()?);
    if first.tools == last.tools {
        return None;
    }
    let host = (0..first.hosts.len()).max_by_key(|index| first.hosts[*index])?;
    let percent = |cost: &SurfaceCost| cost.percent.get(host).copied().unwrap_or_default();
    let highest = reports.iter().flat_map(|report| &report.surfaces).map(percent).fold(100.0, f64::max);
    let axes = Axes {
        first: (first.tools as f64).max(1.0).ln(),
        last: (last.tools as f64).ln(),
        most: (highest / STEP).ceil() * STEP,
    };
    let mut out = head(first, host);
    grid(&mut out, &axes, &reports);
    let mut ends: Vec<(f64, Surface, &str)> = Vec::new();
    for (surface, colour) in COLOURS {
        let of = |report: &&Report| {
            let cost = report.surfaces.iter().find(|cost| cost.surface == surface)?;
            Some((axes.x(report.tools), axes.y(percent(cost))))
        };
        let points: Vec<(f64, f64)> = reports.iter().filter_map(of).collect();
        let Some((_, end)) = points.last() else { continue };
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let line = line.join(" ");
        let _ = writeln!(
            out,
            "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>"
        );
        for (x, y) in &points {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
        }
        ends.push((*end, surface, colour));
    }
    labels(&mut out, ends);
    out += "</svg>\n";
    Some(out)
}

fn head(report: &Report, host: usize) -> String {
    let host = grouped(report.hosts[host]);
    let title = "Tokens of a whole task in percent of binding every tool in full, by number of tools";
    let cache = <&str>::from(report.cache);
    let batched = if report.batched { "; batched" } else { "" };
    let subtitle = format!(
        "{} tasks with {} calls, {}; {host} tokens of the host's own in each request; prompt cache: {cache}{batched}",
        grouped(report.tasks),
        grouped(report.calls),
        report.provider,
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
         <style>.ground {{ fill: #fff }} text {{ fill: #222 }} .faint {{ fill: #666 }} .grid {{ stroke: #ddd }} .full {{ stroke: #444 }}\n\
         @media (prefers-color-scheme: dark) {{ .ground {{ fill: #14171c }} text {{ fill: #e6e6e6 }} .faint {{ fill: #a0a0a0 }} \
         .grid {{ stroke: #333 }} .full {{ stroke: #bbb }} }}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-weight=\"600\">{title}</text>\n\
         <text class=\"faint\" x=\"{LEFT}\" y=\"40\" font-size=\"11\">{subtitle}</text>\n"
    )
}

/// Lines and labels of both axes; the line of `full` is at 100 percent.
fn grid(out: &mut String, axes: &Axes, reports: &[&Report]) {
    let (left, right) = (LEFT, WIDTH - RIGHT);
    let lines = (axes.most / STEP).round() as usize;
    for index in 0..=lines {
        let percent = STEP * index as f64;
        let y = axes.y(percent);
        let class = if percent == 100.0 { "full" } else { "grid" };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
        let text = y + 4.0;
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"{}\" y=\"{text:.1}\" text-anchor=\"end\">{percent} %</text>",
            left - 8.0
        );
    }
    let y = axes.y(100.0) - 5.0;
    let _ = writeln!(
        out,
        "<text class=\"faint\" x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">full</text>",
        right - 4.0
    );
    for report in reports {
        let (x, y, tools) = (axes.x(report.tools), HEIGHT - BOTTOM + 20.0, grouped(report.tools));
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{tools}</text>"
        );
    }
    let (x, y) = ((left + right) / 2.0, HEIGHT - 14.0);
    let _ =
        writeln!(out, "<text class=\"faint\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">tools</text>");
}

/// The names of the lines at their ends, moved apart.
fn labels(out: &mut String, mut ends: Vec<(f64, Surface, &str)>) {
    ends.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut lowest = f64::INFINITY;
    for (end, surface, colour) in ends {
        let y = (end + 4.0).min(lowest - LINE);
        lowest = y;
        let x = WIDTH - RIGHT + 10.0;
        let name = surface.as_str();
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill: {colour}\">{name}</text>");
    }
}
