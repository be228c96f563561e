//! A server for one run, on this machine only.
//!
//! It answers five names and nothing else, so there is no path to lead astray. It listens on the loopback address and wants
//! to be called by a loopback name, so that a page from elsewhere cannot reach it under a name of its own (DNS rebinding).

use crate::page;
use crate::run::{Run, RunError};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

/// Threads that answer, so that a slow reader holds up nobody else.
const THREADS: usize = 4;
/// Longest piece of the frames sent at once \[B\].
const LONGEST_RANGE: u64 = 1 << 30;
/// What the page may do: nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The run cannot be looked at.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No port.
    #[error("cannot listen on 127.0.0.1 port {port}: {reason}\n  leave out --port to take any free one")]
    Listen {
        /// Port asked for, 0 for any.
        port: u16,
        /// Why.
        reason: String,
    },
}

/// A server for one run.
pub struct Viewer {
    server: Server,
    run: Mutex<Run>,
    store: PathBuf,
}

/// A piece of a file: from, length.
type Piece = (u64, u64);

impl Viewer {
    /// Opens a run and listens on a port of the loopback address, 0 for any free one.
    pub fn open(folder: &Path, port: u16) -> Result<Self, ServeError> {
        let run = Run::open(folder)?;
        let store = run.store.path().to_owned();
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let server = Server::http(listen).map_err(|e| ServeError::Listen { port, reason: e.to_string() })?;
        Ok(Self { server, run: Mutex::new(run), store })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        match self.server.server_addr().to_ip() {
            Some(address) => format!("http://{address}/"),
            None => unreachable!("it was bound to an address"),
        }
    }

    /// Answers until the program ends.
    pub fn serve(&self) {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for request in self.server.incoming_requests() {
                        // A reader that has gone away is no trouble of ours.
                        let _ = self.answer(request);
                    }
                });
            }
        });
    }

    fn answer(&self, request: Request) -> io::Result<()> {
        if !header(&request, "Host").is_some_and(is_loopback) {
            return refuse(request, 403, "this viewer answers to 127.0.0.1 and localhost only");
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return refuse(request, 405, "only GET is answered");
        }
        let name = request.url().split(['?', '#']).next().unwrap_or_default().to_owned();
        match name.as_str() {
            "/" | "/index.html" => send(request, "text/html; charset=utf-8", page::bare()),
            "/index.json" => {
                let index = self.run.lock().unwrap_or_else(|e| e.into_inner()).index();
                send(request, "application/json", index.to_string())
            }
            "/series.csv" | "/run.json" => {
                let run = self.run.lock().unwrap_or_else(|e| e.into_inner());
                let (text, kind) = match name.as_str() {
                    "/run.json" => (run.summary(), "application/json"),
                    _ => (run.series(), "text/csv; charset=utf-8"),
                };
                drop(run);
                match text {
                    Ok(Some(text)) => send(request, kind, text),
                    Ok(None) => refuse(request, 404, "this run has none"),
                    Err(e) => refuse(request, 500, &e.to_string()),
                }
            }
            "/frames.esk" => self.frames(request),
            _ => refuse(request, 404, "there is nothing of this name"),
        }
    }

    /// The file of frames or a piece of it.
    fn frames(&self, request: Request) -> io::Result<()> {
        let mut file = match File::open(&self.store) {
            Ok(file) => file,
            Err(e) => return refuse(request, 500, &format!("the frames cannot be read: {e}")),
        };
        let length = file.metadata()?.len();
        let (status, (from, count)) = match header(&request, "Range").map(|text| piece(text, length)) {
            None => (200, (0, length)),
            Some(Some(piece)) => (206, piece),
            Some(None) => return refuse(request, 416, "there is no such piece of the frames"),
        };
        file.seek(SeekFrom::Start(from))?;
        let mut headers = headers("application/octet-stream");
        headers.push(plain("Accept-Ranges", "bytes"));
        if status == 206 {
            headers.push(plain("Content-Range", &format!("bytes {from}-{}/{length}", from + count - 1)));
        }
        respond(request, status, headers, file.take(count), count as usize)
    }
}

/// What a request says under a name.
fn header<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    request.headers().iter().find(|h| h.field.equiv(name)).map(|h| h.value.as_str())
}

/// Whether a name that a browser called us by is that of this machine itself.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    ["localhost", "127.0.0.1", "::1"].contains(&name)
}

/// The one piece that a `Range` asks for.
fn piece(text: &str, length: u64) -> Option<Piece> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    let (from, to) = match (from, to) {
        ("", last) => (length.checked_sub(last.parse().ok()?)?, length),
        (from, "") => (from.parse().ok()?, length),
        (from, to) => (from.parse().ok()?, to.parse::<u64>().ok()?.checked_add(1)?.min(length)),
    };
    let count = to.checked_sub(from).filter(|&count| count > 0)?;
    Some((from, count.min(LONGEST_RANGE)))
}

fn plain(name: &str, value: &str) -> Header {
    // Names and values of our own.
    Header::from_bytes(name, value).expect("ASCII")
}

fn headers(kind: &str) -> Vec<Header> {
    vec![
        plain("Content-Type", kind),
        plain("Cache-Control", "no-store"),
        plain("X-Content-Type-Options", "nosniff"),
        plain("Content-Security-Policy", POLICY),
        plain("Referrer-Policy", "no-referrer"),
    ]
}

/// Sends a body of a known length in one piece.
fn respond(request: Request, status: u16, headers: Vec<Header>, body: impl Read, length: usize) -> io::Result<()> {
    let response = Response::new(StatusCode(status), headers, body, Some(length), None);
    request.respond(response.with_chunked_threshold(usize::MAX))
}

fn send(request: Request, kind: &str, text: String) -> io::Result<()> {
    respond(request, 200, headers(kind), text.as_bytes(), text.len())
}

fn refuse(request: Request, status: u16, why: &str) -> io::Result<()> {
    let text = format!("{why}\n");
    respond(request, status, headers("text/plain; charset=utf-8"), text.as_bytes(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in ["localhost", "localhost:80", "127.0.0.1:43211", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "example.org:80",
            "127.0.0.1.example.org",
            "localhost.example.org:1",
            "10.0.0.1",
            "[::2]:1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn pieces_are_cut_at_the_end_and_nonsense_is_refused() {
        assert_eq!(piece("bytes=0-9", 100), Some((0, 10)));
        assert_eq!(piece("bytes=90-200", 100), Some((90, 10)));
        assert_eq!(piece("bytes=90-", 100), Some((90, 10)));
        assert_eq!(piece("bytes=-10", 100), Some((90, 10)));
        for text in [
            "bytes=100-",
            "bytes=5-4",
            "bytes=a-b",
            "lines=0-1",
            "bytes=0",
            "bytes=-101",
            "bytes=0-18446744073709551615x",
        ] {
            assert_eq!(piece(text, 100), None, "{text}");
        }
    }
}
