//! A doc over HTTP with a static token beside one with a signed token of an issuer, alternately, on keep-alive connections: requests
//! a second, and the processor time of the server, which other programs of the machine disturb less.
//!
//!     cargo build --release && cargo bench -p toolcrib-benches --bench tokens
//!     TOOLCRIB=path ROUNDS=7 REQUESTS=20000 cargo bench -p toolcrib-benches --bench tokens

#![expect(clippy::disallowed_methods, reason = "settings of a measurement are in the environment")]

#[path = "../tests/issuer/mod.rs"]
mod issuer;

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Connections of the client, one a thread.
const CONNECTIONS: usize = 4;
/// The doc.
const PATH: &str = "/tools/create_pull_request.md";
/// A static token for this measurement.
const STATIC: &str = "static-token-of-the-bench";

fn main() {
    let (rounds, requests) = (number("ROUNDS", 7), number("REQUESTS", 20_000));
    let issuer = issuer::Issuer::start();
    issuer.behave(|behaviour| behaviour.algorithm = "RS256".into());
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/github/tools.json");
    let config = format!(
        "[[source]]\npath = \"{source}\"\n[[serve.token]]\nenv = \"T_STATIC\"\n[[serve.issuer]]\nissuer = \"{}\"\n",
        issuer.url()
    );
    std::fs::write(folder.path().join("toolcrib.toml"), config).unwrap();
    let (mut server, address) = serve(folder.path().to_str().unwrap());
    let signed = issuer.token().audience(&format!("http://{address}/mcp")).scope("tools:read").sign();
    let mut ratios = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        let by_static = measure(&address, server.id(), STATIC, requests);
        let by_signed = measure(&address, server.id(), &signed, requests);
        // The first round warms up.
        if round == 0 {
            continue;
        }
        println!(
            "static {:.0}/s, {:.2} us of processor; signed {:.0}/s, {:.2} us",
            by_static.0, by_static.1, by_signed.0, by_signed.1
        );
        ratios[0].push(by_static.0 / by_signed.0);
        ratios[1].push(by_signed.1 / by_static.1);
    }
    let [wall, processor] = ratios.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    });
    println!(
        "signed token of {} bytes: {wall:.3} times the time of a static one, {processor:.3} of its processor time",
        signed.len()
    );
    let _ = server.kill();
    let _ = server.wait();
}

fn number(name: &str, usual: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn serve(catalog: &str) -> (Child, String) {
    let program = env::var("TOOLCRIB").unwrap_or_else(|_| "target/release/toolcrib".into());
    let mut command = Command::new(program);
    command.args(["serve", catalog, "--listen", "127.0.0.1:0"]).env("T_STATIC", STATIC);
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.find_map(|line| Some(line.split_once("listening on http://")?.1.to_string()));
    std::thread::spawn(move || lines.for_each(drop));
    (server, address.expect("the server starts"))
}

/// Requests a second, and microseconds of processor time of the server for each.
fn measure(address: &str, server: u32, token: &str, requests: usize) -> (f64, f64) {
    let before = processor_micros(server);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| ask(address, token, requests / CONNECTIONS));
        }
    });
    let took = start.elapsed().as_secs_f64();
    (requests as f64 / took, (processor_micros(server) - before) / requests as f64)
}

/// Asks for the doc on one connection, one request after another.
fn ask(address: &str, token: &str, requests: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!("GET {PATH} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut answer = vec![0; 256 * 1024];
    for _ in 0..requests {
        stream.write_all(request.as_bytes()).unwrap();
        let (mut read, mut whole) = (0, usize::MAX);
        while read < whole {
            read += stream.read(&mut answer[read..]).unwrap();
            if whole == usize::MAX {
                whole = length(&answer[..read]).unwrap_or(usize::MAX);
            }
        }
    }
}

/// The length of a whole answer with its head, once the head is there.
fn length(answer: &[u8]) -> Option<usize> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&answer[..end]).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    Some(end + length.parse::<usize>().unwrap())
}

/// Processor time of a process so far; 0 where the system does not report it.
fn processor_micros(process: u32) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let nanos = |task: std::fs::DirEntry| {
        let told = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<f64>().ok()
    };
    tasks.filter_map(nanos).sum::<f64>() / 1000.0
}
