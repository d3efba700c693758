//! `cargo xtask model-server SCRIPT [LOG]`: the scripted model server, to try
//! a client by hand.

use std::path::Path;

use ralph_testkit::{ModelServer, Script};

/// Serves until it is ended by a signal.
pub fn run(script: &Path, log: Option<&Path>) -> Result<(), Vec<String>> {
    let told = |what: &Path, problem: String| vec![format!("{}: {problem}", what.display())];
    let text = std::fs::read_to_string(script).map_err(|e| told(script, e.to_string()))?;
    let script: Script = serde_json::from_str(&text).map_err(|e| told(script, e.to_string()))?;
    let server = ModelServer::start(script, log).map_err(|e| vec![e.to_string()])?;
    println!("{}", server.port());
    server.serve();
    Ok(())
}
