//! What a run is proven with, from the settings and the task file.

use ralph_core::config::{IntegrityMode, Settings, TickProof};
use ralph_core::machine::{Checks, Integrity, Ticks};
use ralph_core::proof::Baseline;
use ralph_core::tasks::{Scope, TaskList};
use ralph_store::layout::Layout;

use super::GRACE;
use crate::baseline;
use crate::verify::Verifier;

pub(super) fn checks(settings: &Settings, list: Option<&TaskList>, scope: &Scope) -> Checks {
    let tasks = list.map(|list| list.checks(scope)).unwrap_or_default();
    let e2e = !settings.e2e.command.is_empty();
    let proves = e2e || !settings.verify.commands.is_empty() || !tasks.is_empty();
    Checks {
        ticks: match settings.verify.ticks {
            TickProof::Proven => Ticks::Proven,
            TickProof::Agent => Ticks::Agent,
        },
        integrity: match settings.verify.integrity {
            // Where nothing is checked, nothing can be weakened.
            _ if !proves => Integrity::Off,
            IntegrityMode::Strict => Integrity::Strict,
            IntegrityMode::Warn => Integrity::Warn,
            IntegrityMode::Off => Integrity::Off,
        },
        tasks,
        e2e,
    }
}

pub(super) fn verifier(settings: &Settings, layout: &Layout, checks: &Checks) -> Option<Verifier> {
    let verify = &settings.verify;
    let any = !verify.commands.is_empty() || !checks.tasks.is_empty();
    any.then(|| Verifier {
        commands: verify.commands.clone(),
        baseline: baseline::load(layout).unwrap_or_default(),
        ..reproducer(settings)
    })
}

/// Runs one command within the bounds of every verification.
pub(super) fn reproducer(settings: &Settings) -> Verifier {
    let verify = &settings.verify;
    Verifier {
        commands: Vec::new(),
        timeout: verify.command_timeout,
        output_limit: verify.output_limit as usize,
        log_max: settings.log.agent_output_max,
        grace: GRACE,
        baseline: Baseline::default(),
    }
}

pub(super) fn e2e(settings: &Settings) -> Option<Verifier> {
    let e2e = &settings.e2e;
    (!e2e.command.is_empty()).then(|| Verifier {
        commands: vec![e2e.command.clone()],
        timeout: e2e.timeout,
        output_limit: settings.verify.output_limit as usize,
        log_max: settings.log.agent_output_max,
        grace: GRACE,
        baseline: Baseline::default(),
    })
}
