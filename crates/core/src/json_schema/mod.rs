//! JSON Schemas (2020-12) of the files that people write, for their editors.
//!
//! That of the configuration is made from the reference page, which is the
//! only list of settings ([`crate::config::Schema`]). Those of flows and of
//! prd files are data; the tests hold them to what the readers accept.

mod settings;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use settings::configuration;

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum File {
    /// `.ralph/config.toml`
    #[default]
    Config,
    /// `.ralph/flows/NAME.toml`
    Flow,
    /// `prd.json`
    Prd,
}

impl File {
    /// The schema, as it is printed and installed.
    pub fn text(self) -> String {
        match self {
            File::Config => pretty(&configuration()),
            File::Flow => include_str!("flow.json").to_owned(),
            File::Prd => include_str!("prd.json").to_owned(),
        }
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
