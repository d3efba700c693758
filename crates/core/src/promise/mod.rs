//! stub
use serde::{Deserialize, Serialize};
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    Continue,
    Complete(String),
    PhaseComplete,
    E2ePassed,
    E2eFailed(String),
    Blocked(String),
    Unknown(String),
}
