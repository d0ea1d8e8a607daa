//! A static HTTP server, as every object store is one: with tags, and with files and an end that a test chooses.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A running server; its files are gone while it is away.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    address: String,
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    is_away: AtomicBool,
    /// Whole files that were sent.
    sent: AtomicUsize,
    /// Requests that were answered in any way.
    asked: AtomicUsize,
}

impl Host {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let [sent, asked] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let host = Self(Arc::new(Inner {
            address,
            files: Mutex::default(),
            is_away: AtomicBool::new(false),
            sent,
            asked,
        }));
        let own = host.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let own = own.clone();
                std::thread::spawn(move || own.answer(stream));
            }
        });
        host
    }

    /// The address of a file.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.0.address)
    }

    pub fn put(&self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.0.files.lock().unwrap().insert(format!("/{name}"), bytes.into());
    }

    /// Closes every connection without an answer, or answers again.
    pub fn set_away(&self, is_away: bool) {
        self.0.is_away.store(is_away, SeqCst);
    }

    pub fn sent(&self) -> usize {
        self.0.sent.load(SeqCst)
    }

    pub fn asked(&self) -> usize {
        self.0.asked.load(SeqCst)
    }

    fn answer(&self, stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
        let first = lines.next()?;
        let path = first.split(' ').nth(1)?.split('?').next()?.to_string();
        let mut known = None;
        for line in lines.take_while(|line| !line.is_empty()) {
            if let Some((name, tag)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("if-none-match")
            {
                known = Some(tag.to_string());
            }
        }
        if self.0.is_away.load(SeqCst) {
            return None;
        }
        self.0.asked.fetch_add(1, SeqCst);
        let file = self.0.files.lock().unwrap().get(&path).cloned();
        let mut stream = stream;
        let Some(bytes) = file else {
            return stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .ok();
        };
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let tag = format!("\"{:x}\"", hasher.finish());
        if known.as_ref() == Some(&tag) {
            let head = format!("HTTP/1.1 304 Not Modified\r\netag: {tag}\r\nconnection: close\r\n\r\n");
            return stream.write_all(head.as_bytes()).ok();
        }
        self.0.sent.fetch_add(1, SeqCst);
        let length = bytes.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nlast-modified: Tue, 01 Sep 2026 00:00:00 GMT\r\netag: {tag}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&bytes).ok()
    }
}
