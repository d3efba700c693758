//! stub
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptNote {
    PromiseRejected { claim: String, missing: Vec<String> },
    VerifyFailed { command: String, output: String },
    LastError { class: String, message: String },
    NoPromise,
    TasksShrank { removed: Vec<String> },
    Unticked { ids: Vec<String> },
    E2eFailed { reason: String },
}
