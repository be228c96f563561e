//! Lines for people. A reader that closes the pipe (`| head`) has read enough: that is no error and no panic.

use std::io::{ErrorKind, Write};

/// Like `println!`, but content with a closed pipe.
macro_rules! say {
    ($($text:tt)*) => { crate::out::line(&mut std::io::stdout(), format_args!($($text)*)) };
}

/// Like `eprintln!`, but content with a closed pipe.
macro_rules! tell {
    ($($text:tt)*) => { crate::out::line(&mut std::io::stderr(), format_args!($($text)*)) };
}

pub(crate) use {say, tell};

/// Writes a line. That it could not be written would have to be told on the same channel, so it is not.
pub fn line(out: &mut dyn Write, text: std::fmt::Arguments) {
    let _ = writeln!(out, "{text}");
}

/// Tells what does not stop a command.
pub fn note(text: Option<String>) {
    if let Some(text) = text {
        tell!("note: {text}");
    }
}

/// Writes a text that is a result, so that a full disk is an error; a closed pipe is not.
pub fn result(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
