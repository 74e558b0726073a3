//! The played model as a process of its own, for benchmarks: prints its address, runs until its input closes, then prints how
//! many requests it had and how many at once.

use std::io::{self, Read, Write};
use std::time::Duration;

use sequester_testkit::model::{Pace, Script, Setup, Turn};
use serde_json::{Value, json};

const USAGE: &str = "usage: model_server [--delay-ms N] [--between-ms N] [--tokens N] [--calls N] [--tool NAME] [--arguments JSON] [--report JSON]";

/// What it plays: some turns of one tool call each, then a report, or a text when there is none.
struct Options {
    pace: Pace,
    tokens: usize,
    calls: usize,
    tool: String,
    arguments: Value,
    report: Option<Value>,
}

fn main() -> io::Result<()> {
    let options = read(std::env::args().skip(1)).map_err(io::Error::other)?;
    let pace = options.pace;
    let server = Setup::new(script(options)).pace(pace).without_recording().start_blocking()?;
    let mut out = io::stdout();
    writeln!(out, "{}", server.address())?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    writeln!(
        out,
        "asked {} peak {} rejected {}",
        server.asked(),
        server.peak(),
        server.rejected().len()
    )
}

fn script(options: Options) -> Script {
    let text = "word ".repeat(options.tokens);
    Script::new(move |request| match &options.report {
        _ if request.turn < options.calls => {
            Turn::call(&options.tool, options.arguments.clone()).saying(text.as_str())
        }
        Some(report) => Turn::report(report.clone()),
        None => Turn::text(text.as_str()),
    })
}

fn read(mut given: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        pace: Pace::default(),
        tokens: 20,
        calls: 0,
        tool: "Read".to_owned(),
        arguments: json!({"path": "README.md"}),
        report: None,
    };
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("`{name}` needs a value; {USAGE}"))?;
        let number =
            || value.parse::<usize>().map_err(|_| format!("`{name}` needs a number; {USAGE}"));
        let delay = || number().map(|ms| Duration::from_millis(ms as u64));
        let json =
            || serde_json::from_str(&value).map_err(|_| format!("`{name}` needs JSON; {USAGE}"));
        match name.as_str() {
            "--delay-ms" => options.pace.first = delay()?,
            "--between-ms" => options.pace.between = delay()?,
            "--tokens" => options.tokens = number()?,
            "--calls" => options.calls = number()?,
            "--tool" => options.tool = value,
            "--arguments" => options.arguments = json()?,
            "--report" => options.report = Some(json()?),
            _ => return Err(format!("`{name}` is unknown; {USAGE}")),
        }
    }
    Ok(options)
}
