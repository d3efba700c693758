//! Amp, headless. Its stream is that of Claude Code without the cost.

use std::path::Path;

use serde_json::json;

use super::options::{Options, Session, Setup};

pub(super) fn setup(options: &Options, dir: &Path) -> Setup {
    let mut setup = Setup::new(options, "amp");
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["threads", "continue", id]);
    }
    setup.args(["--stream-json"]);
    if !options.model.is_empty() {
        setup.args(["--model", &options.model]);
    }
    if options.skips_permissions() {
        // There is no flag for it, only a setting.
        let file = dir.join("amp-settings.json");
        setup.args(["--settings-file", &file.to_string_lossy()]);
        setup.file(file, &json!({"amp.dangerouslyAllowAll": true}));
    }
    setup.prompt_as_argument(Some("-x"))
}
