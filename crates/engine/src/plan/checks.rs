//! What a run is proven with, from the settings and the task file.

use ralph_core::config::{AskedLevel, ChangedChecks, IntegrityMode, Settings, TickProof};
use ralph_core::machine::{Checks, Integrity, Ticks};
use ralph_core::proof::{Baseline, EvidenceLevel};
use ralph_core::tasks::{Scope, TaskList};
use ralph_store::layout::Layout;

use super::GRACE;
use crate::agents::EnvFilter;
use crate::baseline;
use crate::verify::Verifier;

pub(super) fn checks(settings: &Settings, list: Option<&TaskList>, scope: &Scope) -> Checks {
    let tasks = list.map(|list| list.checks(scope)).unwrap_or_default();
    let e2e = !settings.e2e.command.is_empty();
    let checked = !settings.verify.commands.is_empty() || !tasks.is_empty();
    let level = level(settings.evidence.level, checked);
    let proves = e2e || !settings.verify.commands.is_empty() || !tasks.is_empty();
    Checks {
        ticks: match settings.verify.ticks {
            TickProof::Proven => Ticks::Proven,
            TickProof::Agent => Ticks::Agent,
        },
        integrity: match settings.verify.integrity {
            // Where nothing is checked, nothing can be weakened.
            _ if !proves => Integrity::Off,
            // Experiments with the checks as they were say more.
            IntegrityMode::Strict if level > EvidenceLevel::Changed => Integrity::Warn,
            IntegrityMode::Strict => Integrity::Strict,
            IntegrityMode::Warn => Integrity::Warn,
            IntegrityMode::Off => Integrity::Off,
        },
        tasks,
        e2e,
        level,
        asks: settings.evidence.asks,
        proofs: list.map(|list| list.proofs(scope)).unwrap_or_default(),
        may_change: list.map(TaskList::may_change).unwrap_or_default(),
        beside: settings.evidence.beside,
        ask_about_changed: settings.evidence.changed_checks == ChangedChecks::Ask,
    }
}

fn level(asked: AskedLevel, checked: bool) -> EvidenceLevel {
    match asked {
        AskedLevel::Auto if checked => EvidenceLevel::Proven,
        AskedLevel::Auto | AskedLevel::Changed => EvidenceLevel::Changed,
        AskedLevel::Claimed => EvidenceLevel::Claimed,
        AskedLevel::Unrefuted => EvidenceLevel::Unrefuted,
        AskedLevel::Preserved => EvidenceLevel::Preserved,
        AskedLevel::Proven => EvidenceLevel::Proven,
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
        env_filter: EnvFilter::new(&settings.agent),
        files: settings.verify.files.clone(),
        max_time: settings.evidence.max_time,
        wall: None,
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
        env_filter: EnvFilter::new(&settings.agent),
        files: settings.verify.files.clone(),
        max_time: settings.evidence.max_time,
        wall: None,
    })
}
