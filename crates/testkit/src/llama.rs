//! A real model behind a real server: llama.cpp with 135 million parameters, on loopback. It proves the wire, not the wit.

#[cfg(test)]
mod tests;

use std::io::{BufRead as _, BufReader, Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server of its own; it ends when this is dropped, or with this process.
#[derive(Debug)]
pub struct Llama {
    process: Child,
    url: String,
}

impl Llama {
    /// Starts a server and waits until it answers; one thread, a window of 4,096 tokens, one reply at a time.
    pub fn start() -> Result<Self> {
        Self::start_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/model")))
    }

    fn start_in(folder: &Path) -> Result<Self> {
        let python = folder.join("python");
        if !python.exists() {
            return Err(Error::other(
                "The model server of the tests is not in `target/model`. Run `.ci/model.sh` once; `./test` does.",
            ));
        }
        let process = Command::new(python)
            // `-I`: whatever Python this person has set up stays out. `-B`: nothing is added to the folder.
            .args(["-I", "-B", concat!(env!("CARGO_MANIFEST_DIR"), "/src/llama.py")])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut server = Self { process, url: String::new() };
        if let Some(output) = server.process.stdout.take() {
            BufReader::new(output).read_line(&mut server.url)?;
        }
        server.url.truncate(server.url.trim_end().len());
        if server.url.is_empty() {
            return Err(Error::other(
                "The model server of the tests ended before it answered; it says why on standard error. \
                 If `target/model` is from another machine, delete it and run `.ci/model.sh`.",
            ));
        }
        Ok(server)
    }

    /// `http://127.0.0.1:PORT`, without a path. OpenAI's and Anthropic's APIs lie under `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        // Both fail only for a process that has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
