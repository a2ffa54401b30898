//! Draws the two plots of `docs/benchmarks.md` from what `memdir bench` printed:
//! `plots DIR scale.json NAME=retrieval.json…` writes `quality.svg` and `growth.svg` into DIR.

use std::error::Error;
use std::fmt::Write as _;
use std::{env, fs};

use serde_json::Value;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// The room around the field, for labels.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 55.0;
const COLOURS: [&str; 5] = ["#0b5394", "#b45f06", "#38761d", "#741b47", "#555555"];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [directory, scale, retrievals @ ..] = &args[..] else {
        return Err("usage: plots DIR scale.json NAME=retrieval.json…".into());
    };
    let mut quality = Vec::new();
    for named in retrievals {
        let (name, file) = named.split_once('=').ok_or("a report is NAME=FILE")?;
        quality.push((name, read(file)?));
    }
    fs::write(format!("{directory}/quality.svg"), quality_plot(&quality)?)?;
    fs::write(format!("{directory}/growth.svg"), growth_plot(&read(scale)?)?)?;
    Ok(())
}

fn read(file: &str) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

/// Where values lie: logarithmic or not, from the least to the greatest.
#[derive(Clone, Copy)]
struct Axis {
    least: f64,
    greatest: f64,
    is_log: bool,
}

impl Axis {
    fn log(values: &[f64]) -> Self {
        let (least, greatest) = ends(values);
        Self { least: decade(least).min(greatest / 10.0), greatest: above(greatest), is_log: true }
    }

    /// An axis of shares, from one round tenth to another.
    fn shares(values: &[f64]) -> Self {
        let (least, greatest) = ends(values);
        Self {
            least: (least * 10.0).floor() / 10.0,
            greatest: (greatest * 10.0).ceil() / 10.0,
            is_log: false,
        }
    }

    fn share(&self, value: f64) -> f64 {
        if self.is_log {
            (value / self.least).ln() / (self.greatest / self.least).ln()
        } else {
            (value - self.least) / (self.greatest - self.least)
        }
    }

    /// Values to mark: decades, or tenths.
    fn marks(&self) -> Vec<f64> {
        let mut marks = Vec::new();
        let mut mark = self.least;
        while mark <= self.greatest * 1.000_001 {
            marks.push(mark);
            mark = if self.is_log { mark * 10.0 } else { mark + 0.1 };
        }
        marks
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &value| {
        (least.min(value), greatest.max(value))
    })
}

fn decade(value: f64) -> f64 {
    10f64.powf(value.log10().floor())
}

fn above(value: f64) -> f64 {
    10f64.powf(value.log10().ceil())
}

/// A picture with its two axes.
struct Plot {
    svg: String,
    x: Axis,
    y: Axis,
}

impl Plot {
    fn new(title: &str, x: Axis, x_label: &str, y: Axis, y_label: &str) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        let mut plot = Self { svg, x, y };
        plot.text(WIDTH / 2.0, 22.0, "middle", "#000000", title);
        plot.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0, "middle", "#000000", x_label);
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for mark in x.marks() {
            let at = plot.across(mark);
            plot.line((at, TOP), (at, bottom), "#dddddd");
            plot.text(at, bottom + 18.0, "middle", "#333333", &number(mark));
        }
        for mark in y.marks() {
            let at = plot.up(mark);
            plot.line((LEFT, at), (right, at), "#dddddd");
            plot.text(LEFT - 8.0, at + 4.0, "end", "#333333", &number(mark));
        }
        let middle = (TOP + bottom) / 2.0;
        // Writing into a string cannot fail, here and below.
        let _ = writeln!(
            plot.svg,
            "<text x=\"18\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\">{y_label}</text>"
        );
        plot
    }

    fn across(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        let _ = writeln!(
            self.svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, colour: &str, text: &str) {
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
        );
    }

    fn dot(&mut self, x: f64, y: f64, colour: &str, is_filled: bool) {
        let fill = if is_filled { colour } else { "#ffffff" };
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            self.across(x),
            self.up(y)
        );
    }

    /// Explains a colour, in the n-th line beside the field.
    fn explain(&mut self, n: usize, colour: &str, is_filled: bool, text: &str) {
        let fill = if is_filled { colour } else { "#ffffff" };
        let (x, y) = (WIDTH - RIGHT + 20.0, TOP + 12.0 + 22.0 * n as f64);
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            y - 4.0
        );
        self.text(x + 14.0, y, "start", "#000000", text);
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1_000_000.0 => format!("{} M", value / 1_000_000.0),
        value if value >= 1_000.0 => format!("{} k", value / 1_000.0),
        value if value >= 1.0 => format!("{value:.0}"),
        value => format!("{value:.3}").trim_end_matches('0').to_owned(),
    }
}

/// Recall at 5 against the median time of a question, for each way of ranking and each set.
fn quality_plot(reports: &[(&str, Value)]) -> Result<String, Box<dyn Error>> {
    let mut ways: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let mut add = |name: &str, report: &Value| -> Result<(), Box<dyn Error>> {
        let point = (figure(report, "/query_ms/p50")?, figure(report, "/turn/recall@5")?);
        match ways.iter_mut().find(|(known, _)| known == name) {
            Some((_, points)) => points.push(point),
            None => ways.push((name.to_owned(), vec![point])),
        }
        Ok(())
    };
    for (_, report) in reports {
        add("memdir", report)?;
        for (name, baseline) in report["baselines"].as_object().ok_or("no baselines in a report")? {
            add(&name.replace('_', " "), baseline)?;
        }
    }
    let (times, shares): (Vec<f64>, Vec<f64>) =
        ways.iter().flat_map(|(_, points)| points.iter().copied()).unzip();
    let mut plot = Plot::new(
        "Quality against cost, one run",
        Axis::log(&times),
        "median time of a question, ms",
        Axis::shares(&shares),
        "turn recall@5",
    );
    for (n, (name, points)) in ways.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        for (set, (x, y)) in points.iter().enumerate() {
            plot.dot(*x, *y, colour, set == 0);
        }
        plot.explain(n, colour, true, name);
    }
    for (set, (name, _)) in reports.iter().enumerate() {
        plot.explain(ways.len() + 1 + set, "#000000", set == 0, name);
    }
    Ok(plot.finish())
}

/// What is measured at each size: its name and where it is in a report.
const COSTS: [(&str, &str); 4] = [
    ("question, median", "/query_ms/p50"),
    ("question, 99 of 100", "/query_ms/p99"),
    ("opening the index", "/open_ms"),
    ("indexing one change", "/save_ms"),
];

/// Times against the number of memories.
fn growth_plot(report: &Value) -> Result<String, Box<dyn Error>> {
    let rows = report["sizes"].as_array().ok_or("no sizes in the report")?;
    let mut lines = Vec::new();
    for (name, pointer) in COSTS {
        let point = |row: &Value| Ok((figure(row, "/memories")?, figure(row, pointer)?.max(1e-3)));
        lines.push((name, rows.iter().map(point).collect::<Result<Vec<_>, Box<dyn Error>>>()?));
    }
    let (sizes, times): (Vec<f64>, Vec<f64>) =
        lines.iter().flat_map(|(_, points)| points.iter().copied()).unzip();
    let mut plot =
        Plot::new("Cost against size", Axis::log(&sizes), "memories", Axis::log(&times), "milliseconds");
    for (n, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[n];
        for pair in points.windows(2) {
            let place = |(x, y): (f64, f64)| (plot.across(x), plot.up(y));
            let (from, to) = (place(pair[0]), place(pair[1]));
            plot.line(from, to, colour);
        }
        for (x, y) in points {
            plot.dot(*x, *y, colour, true);
        }
        plot.explain(n, colour, true, name);
    }
    Ok(plot.finish())
}

fn figure(report: &Value, pointer: &str) -> Result<f64, String> {
    report.pointer(pointer).and_then(Value::as_f64).ok_or_else(|| format!("no number at {pointer}"))
}
