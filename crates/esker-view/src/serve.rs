//! A server for one run, on this machine only.
//!
//! It answers five names and nothing else, so there is no path to lead astray. It listens on the loopback address and wants
//! to be called by a loopback name, so that a page from elsewhere cannot reach it under a name of its own (DNS rebinding).

use crate::page;
use crate::run::{Run, RunError};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Longest head of a request \[B\].
const LONGEST_HEAD: usize = 32 << 10;
/// Longest piece of the frames sent at once \[B\].
const LONGEST_RANGE: u64 = 1 << 30;
/// How long a caller may take to ask, and to listen to a piece.
const PATIENCE: Duration = Duration::from_secs(20);
/// Callers answered at a time.
const MOST_CALLERS: usize = 64;
const BREATH: Duration = Duration::from_millis(20);
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
        reason: io::Error,
    },
}

/// A server for one run.
pub struct Viewer {
    listener: TcpListener,
    address: SocketAddr,
    run: Mutex<Run>,
    store: PathBuf,
}

/// What is asked.
struct Request {
    method: String,
    name: String,
    host: Option<String>,
    range: Option<String>,
    /// From which kind of page a browser asks, where it tells.
    site: Option<String>,
}

/// What is answered.
struct Answer {
    status: u16,
    kind: &'static str,
    /// More lines of the head.
    lines: String,
    body: Body,
}

enum Body {
    Text(String),
    Piece(File, Piece),
}

/// A piece of a file: from, length.
type Piece = (u64, u64);

impl Answer {
    fn text(status: u16, kind: &'static str, text: String) -> Self {
        Self { status, kind, lines: String::new(), body: Body::Text(text) }
    }

    fn refusal(status: u16, why: &str) -> Self {
        Self::text(status, "text/plain; charset=utf-8", format!("{why}\n"))
    }

    fn write(self, out: &mut impl Write, method: &str) -> io::Result<()> {
        let length = match &self.body {
            Body::Text(text) => text.len() as u64,
            Body::Piece(_, (_, count)) => *count,
        };
        let Self { status, kind, lines, body } = self;
        write!(
            out,
            "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\nReferrer-Policy: no-referrer\r\n\
             Connection: close\r\n{lines}\r\n",
            reason(status)
        )?;
        match body {
            _ if method == "HEAD" => {}
            Body::Text(text) => out.write_all(text.as_bytes())?,
            Body::Piece(mut file, (from, count)) => {
                file.seek(SeekFrom::Start(from))?;
                io::copy(&mut file.take(count), out)?;
            }
        }
        out.flush()
    }
}

/// A status in words.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        416 => "Range Not Satisfiable",
        _ => "Internal Server Error",
    }
}

impl Viewer {
    /// Opens a run and listens on a port of the loopback address, 0 for any free one.
    pub fn open(folder: &Path, port: u16) -> Result<Self, ServeError> {
        let run = Run::open(folder)?;
        let store = run.store.path().to_owned();
        let listen = |reason| ServeError::Listen { port, reason };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, run: Mutex::new(run), store })
    }

    /// What is wrong with the frames, if anything is.
    pub fn fault(&self) -> Option<String> {
        self.run().fault()
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until the program ends, each caller in a thread of its own.
    pub fn serve(&self) {
        let callers = AtomicUsize::new(0);
        let callers = &callers;
        std::thread::scope(|scope| {
            for stream in self.listener.incoming() {
                // Out of files or threads: there will be some again.
                let Ok(stream) = stream else {
                    std::thread::sleep(BREATH);
                    continue;
                };
                while callers.load(Ordering::Relaxed) >= MOST_CALLERS {
                    std::thread::sleep(BREATH);
                }
                callers.fetch_add(1, Ordering::Relaxed);
                let talk = move || {
                    // A caller that has gone away is no trouble of ours.
                    let _ = self.talk(&stream);
                    callers.fetch_sub(1, Ordering::Relaxed);
                };
                if std::thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                    callers.fetch_sub(1, Ordering::Relaxed);
                    std::thread::sleep(BREATH);
                }
            }
        });
    }

    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let request = read(stream)?;
        let method = request.as_ref().map_or("GET", |r| r.method.as_str()).to_owned();
        let answer = match request {
            Some(request) => self.answer(&request)?,
            None => Answer::refusal(400, "this is no request that a browser would send"),
        };
        answer.write(&mut BufWriter::with_capacity(1 << 16, stream), &method)
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn answer(&self, request: &Request) -> io::Result<Answer> {
        if !request.host.as_deref().is_some_and(is_loopback) {
            return Ok(Answer::refusal(403, "this viewer answers to 127.0.0.1 and localhost only"));
        }
        if request.site.as_deref().is_some_and(|site| !["same-origin", "none"].contains(&site)) {
            return Ok(Answer::refusal(403, "this viewer answers to its own page only"));
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            return Ok(Answer::refusal(405, "only GET is answered"));
        }
        let or_none = |kind, text: Result<Option<String>, RunError>| match text {
            Ok(Some(text)) => Answer::text(200, kind, text),
            Ok(None) => Answer::refusal(404, "this run has none"),
            Err(e) => Answer::refusal(500, &e.to_string()),
        };
        Ok(match request.name.as_str() {
            "/" | "/index.html" => Answer::text(200, "text/html; charset=utf-8", page::bare()),
            "/index.json" => Answer::text(200, "application/json", self.run().index().to_string()),
            "/series.csv" => or_none("text/csv; charset=utf-8", self.run().series()),
            "/run.json" => or_none("application/json", self.run().summary()),
            "/frames.esk" => self.frames(request.range.as_deref())?,
            _ => Answer::refusal(404, "there is nothing of this name"),
        })
    }

    /// The file of frames or a piece of it.
    fn frames(&self, range: Option<&str>) -> io::Result<Answer> {
        let file = match File::open(&self.store) {
            Ok(file) => file,
            Err(e) => return Ok(Answer::refusal(500, &format!("the frames cannot be read: {e}"))),
        };
        let length = file.metadata()?.len();
        let (status, piece) = match range.map(|text| piece(text, length)) {
            None => (200, (0, length)),
            Some(Some(piece)) => (206, piece),
            Some(None) => return Ok(Answer::refusal(416, "there is no such piece of the frames")),
        };
        let (from, count) = piece;
        let lines = match status {
            206 => format!("Accept-Ranges: bytes\r\nContent-Range: bytes {from}-{}/{length}\r\n", from + count - 1),
            _ => "Accept-Ranges: bytes\r\n".to_owned(),
        };
        Ok(Answer { status, kind: "application/octet-stream", lines, body: Body::Piece(file, piece) })
    }
}

/// Reads the head of a request; `None` if it is none.
fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let begin = Instant::now();
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = (&mut &*stream).read(&mut piece)?;
        head.extend_from_slice(&piece[..count]);
        if count == 0 || head.len() > LONGEST_HEAD || begin.elapsed() > PATIENCE {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines();
    let Some(first) = lines.next() else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0")) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    let name = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    let mut request = Request { method: method.to_owned(), name, host: None, range: None, site: None };
    for line in lines {
        if let Some((name, value)) = line.split_once(':') {
            let value = Some(value.trim().to_owned());
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = value,
                "range" => request.range = value,
                "sec-fetch-site" => request.site = value,
                _ => {}
            }
        }
    }
    Ok(Some(request))
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
