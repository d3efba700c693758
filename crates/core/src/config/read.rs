//! From the merged values to the typed settings, with the checks that need
//! more than one value.

use std::time::Duration;

use toml::Value;

use super::error::ConfigError;
use super::guard;
use super::origin::Origin;
use super::resolved::Resolved;
use super::schema::split_assignment;
use super::settings::*;
use super::units;
use super::warning::ConfigWarning;
use crate::usage::Usd;

impl Resolved {
    /// The typed settings. Errors are all reported, not only the first.
    pub fn settings(&self) -> Result<(Settings, Vec<ConfigWarning>), Vec<ConfigError>> {
        let mut reader = Reader::new(self);
        let settings = reader.settings();
        let mut errors = reader.errors;
        let mut warnings = Vec::new();
        if let Some(settings) = &settings {
            errors.extend(unlimited(self, &settings.limits));
            match late_warning(self, &settings.limits) {
                Some(Lateness::Contradiction(error)) => errors.push(error),
                Some(Lateness::Overruled(warning)) => warnings.push(warning),
                None => {}
            }
        }
        match settings {
            Some(settings) if errors.is_empty() => Ok((settings, warnings)),
            _ => Err(errors),
        }
    }
}

fn unlimited(resolved: &Resolved, limits: &Limits) -> Option<ConfigError> {
    if limits.max_iterations > 0 || limits.end_without_max_iterations() {
        return None;
    }
    let place = resolved.get("limits.max_iterations")?.place.clone();
    Some(ConfigError::Unlimited { place })
}

enum Lateness {
    Contradiction(ConfigError),
    Overruled(ConfigWarning),
}

/// A warning after the last iteration is a mistake of the person who set it.
/// Where a stronger place lowered the maximum (a flag over a preset), or where
/// it was set for another tool, it only means that there will be no warning.
fn late_warning(resolved: &Resolved, limits: &Limits) -> Option<Lateness> {
    let WarnAt::Iteration(warn_at) = limits.warn_at else {
        return None;
    };
    let max_iterations = limits.max_iterations;
    if max_iterations == 0 || warn_at <= max_iterations {
        return None;
    }
    let place = resolved.get("limits.warn_at")?.place.clone();
    let maximum = &resolved.get("limits.max_iterations")?.place.origin;
    let overruled = place.origin.rank() < maximum.rank();
    Some(if overruled || matches!(place.origin, Origin::Foreign(_)) {
        Lateness::Overruled(ConfigWarning::NeverWarns {
            warn_at,
            max_iterations,
            place,
        })
    } else {
        Lateness::Contradiction(ConfigError::WarnsTooLate {
            place,
            warn_at,
            max_iterations,
        })
    })
}

/// Reads values by key. The schema has checked their kinds, so that what fails
/// here is a key that the reference lacks or has as another kind.
pub(super) struct Reader<'a> {
    resolved: &'a Resolved,
    pub(super) errors: Vec<ConfigError>,
    #[cfg(test)]
    pub(super) keys_read: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(resolved: &'a Resolved) -> Reader<'a> {
        Reader {
            resolved,
            errors: Vec::new(),
            #[cfg(test)]
            keys_read: Vec::new(),
        }
    }

    fn read<T>(&mut self, key: &'static str, convert: impl Fn(&Value) -> Option<T>) -> Option<T> {
        #[cfg(test)]
        self.keys_read.push(key);
        let value = self
            .resolved
            .get(key)
            .and_then(|sourced| convert(&sourced.value));
        if value.is_none() {
            self.errors.push(ConfigError::Internal {
                key: key.to_owned(),
            });
        }
        value
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        self.read(key, |value| value.as_str().map(str::to_owned))
    }

    fn count(&mut self, key: &'static str) -> Option<u32> {
        self.read(key, |value| u32::try_from(value.as_integer()?).ok())
    }

    fn switch(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, Value::as_bool)
    }

    fn duration(&mut self, key: &'static str) -> Option<Duration> {
        self.read(key, |value| units::parse_duration(value.as_str()?))
    }

    fn size(&mut self, key: &'static str) -> Option<u64> {
        self.read(key, |value| units::parse_size(value.as_str()?))
    }

    fn money(&mut self, key: &'static str) -> Option<Usd> {
        self.read(key, |value| units::parse_money(value.as_str()?))
    }

    fn warn_at(&mut self, key: &'static str) -> Option<WarnAt> {
        self.read(key, |value| match value {
            Value::Integer(0) => Some(WarnAt::Never),
            Value::Integer(number) => u32::try_from(*number).ok().map(WarnAt::Iteration),
            value => units::parse_percent(value.as_str()?).map(WarnAt::Percent),
        })
    }

    fn choice<T>(&mut self, key: &'static str, from_word: fn(&str) -> Option<T>) -> Option<T> {
        self.read(key, |value| from_word(value.as_str()?))
    }

    fn list<T>(
        &mut self,
        key: &'static str,
        convert: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.read(key, |value| {
            let items = value.as_array()?.iter();
            items.map(|item| convert(item.as_str()?)).collect()
        })
    }

    fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.list(key, |text| Some(text.to_owned()))
    }

    pub(super) fn settings(&mut self) -> Option<Settings> {
        Some(Settings {
            lang: self.text("lang")?,
            preset: Some(self.text("preset")?).filter(|name| !name.is_empty()),
            agents: self.texts("agents")?,
            limits: self.limits()?,
            budget: self.budget()?,
            promise: self.promise()?,
            tasks: self.tasks()?,
            verify: self.verify()?,
            agent: self.agent()?,
            progress: ProgressSettings {
                evidence: self.list("progress.evidence", Evidence::from_word)?,
            },
            rate: RateSettings {
                max_calls_per_hour: self.count("rate.max_calls_per_hour")?,
            },
            log: self.log()?,
            e2e: self.e2e()?,
            gate: self.gate()?,
            pr: self.pr()?,
            guard: self.guard()?,
            checkpoint: CheckpointSettings {
                enabled: self.switch("checkpoint.enabled")?,
                interval: self.count("checkpoint.interval")?,
                backups: self.count("checkpoint.backups")?,
                dir: self.text("checkpoint.dir")?,
            },
            history: HistorySettings {
                dir: self.text("history.dir")?,
                keep: self.count("history.keep")?,
                openspec: self.switch("history.openspec")?,
            },
            questions: QuestionSettings {
                park: self.switch("questions.park")?,
                deadline: self.duration("questions.deadline")?,
            },
            tracker: TrackerSettings {
                enabled: self.switch("tracker.enabled")?,
                remind_above: self.count("tracker.remind_above")?,
                remind_every: self.duration("tracker.remind_every")?,
            },
            notify: self.notify()?,
            roles: RoleSettings {
                enabled: self.switch("roles.enabled")?,
                risk: self.choice("roles.risk", Risk::from_word)?,
                reject_limit: self.count("roles.reject_limit")?,
            },
        })
    }

    fn limits(&mut self) -> Option<Limits> {
        Some(Limits {
            max_iterations: self.count("limits.max_iterations")?,
            extend_by: self.count("limits.extend_by")?,
            warn_at: self.warn_at("limits.warn_at")?,
            max_dispatches: self.count("limits.max_dispatches")?,
            consecutive_errors: self.count("limits.consecutive_errors")?,
            missing_promise: self.count("limits.missing_promise")?,
            stalled: self.count("limits.stalled")?,
            same_error: self.count("limits.same_error")?,
            false_promise: self.count("limits.false_promise")?,
            max_duration: self.duration("limits.max_duration")?,
            max_wait: self.duration("limits.max_wait")?,
            iteration_timeout: self.duration("limits.iteration_timeout")?,
            idle_timeout: self.duration("limits.idle_timeout")?,
            pause_between: self.duration("limits.pause_between")?,
            on_limit: self.choice("limits.on_limit", OnLimit::from_word)?,
        })
    }

    fn budget(&mut self) -> Option<BudgetSettings> {
        Some(BudgetSettings {
            max_cost: self.money("budget.max_cost")?,
            max_tokens: self.count("budget.max_tokens")?.into(),
            turn_cost: self.money("budget.turn_cost")?,
            turn_tokens: self.count("budget.turn_tokens")?.into(),
        })
    }

    fn promise(&mut self) -> Option<PromiseSettings> {
        Some(PromiseSettings {
            complete: self.texts("promise.complete")?,
            phase_complete: self.texts("promise.phase_complete")?,
            continue_word: self.text("promise.continue")?,
            blocked_prefix: self.text("promise.blocked_prefix")?,
            e2e_passed: self.text("promise.e2e_passed")?,
            e2e_failed_prefix: self.text("promise.e2e_failed_prefix")?,
            required: self.switch("promise.required")?,
            conflict: self.choice("promise.conflict", PromiseConflict::from_word)?,
        })
    }

    fn tasks(&mut self) -> Option<TaskSettings> {
        Some(TaskSettings {
            source: self.choice("tasks.source", TaskSource::from_word)?,
            file: self.text("tasks.file")?,
            phase: self.text("tasks.phase")?,
            optional_sections: self.texts("tasks.optional_sections")?,
        })
    }

    fn verify(&mut self) -> Option<VerifySettings> {
        Some(VerifySettings {
            commands: self.texts("verify.commands")?,
            agents: self.texts("verify.agents")?,
            command_timeout: self.duration("verify.command_timeout")?,
            output_limit: self.count("verify.output_limit")?,
            max_rounds: self.count("verify.max_rounds")?,
            max_minutes: self.count("verify.max_minutes")?,
            on_timeout: self.choice("verify.on_timeout", OnVerifyTimeout::from_word)?,
            strict: self.switch("verify.strict")?,
            markers: self.choice("verify.markers", Markers::from_word)?,
            when: self.choice("verify.when", VerifyWhen::from_word)?,
            ticks: self.choice("verify.ticks", TickProof::from_word)?,
            integrity: self.choice("verify.integrity", IntegrityMode::from_word)?,
        })
    }

    fn agent(&mut self) -> Option<AgentSettings> {
        Some(AgentSettings {
            name: self.text("agent.name")?,
            command: self.text("agent.command")?,
            args: self.texts("agent.args")?,
            env: self.list("agent.env", |text| {
                let (name, value) = split_assignment(text)?;
                Some((name.to_owned(), value.to_owned()))
            })?,
            env_allow: self.texts("agent.env_allow")?,
            env_exclude: self.texts("agent.env_exclude")?,
            model: self.text("agent.model")?,
            permissions: self.choice("agent.permissions", Permissions::from_word)?,
            session: self.choice("agent.session", AgentSession::from_word)?,
            user_config: self.switch("agent.user_config")?,
            allow_unsafe: self.switch("agent.allow_unsafe")?,
            retry: RetrySettings {
                attempts: self.count("agent.retry.attempts")?,
                initial: self.duration("agent.retry.initial")?,
                factor: self.count("agent.retry.factor")?,
                max: self.duration("agent.retry.max")?,
            },
        })
    }

    fn log(&mut self) -> Option<LogSettings> {
        Some(LogSettings {
            file: self.text("log.file")?,
            max_size: self.size("log.max_size")?,
            keep: self.count("log.keep")?,
            agent_output_max: self.size("log.agent_output_max")?,
        })
    }

    fn e2e(&mut self) -> Option<E2eSettings> {
        Some(E2eSettings {
            command: self.text("e2e.command")?,
            timeout: self.duration("e2e.timeout")?,
            max_repairs: self.count("e2e.max_repairs")?,
        })
    }

    fn gate(&mut self) -> Option<GateSettings> {
        Some(GateSettings {
            steps: self.texts("gate.steps")?,
            audit_report: self.text("gate.audit_report")?,
            gate_file: self.text("gate.gate_file")?,
            evidence_file: self.text("gate.evidence_file")?,
            evidence_min: self.count("gate.evidence_min")?,
            freshness: self.choice("gate.freshness", Freshness::from_word)?,
            trust: self.choice("gate.trust", GateTrust::from_word)?,
            quality_file: self.text("gate.quality_file")?,
            docs: self.texts("gate.docs")?,
            release: self.switch("gate.release")?,
            step_timeout: self.duration("gate.step_timeout")?,
        })
    }

    fn pr(&mut self) -> Option<PrSettings> {
        Some(PrSettings {
            goal: self.choice("pr.goal", PrGoal::from_word)?,
            forge: self.choice("pr.forge", ForgeName::from_word)?,
            remote: self.text("pr.remote")?,
            branches: self.texts("pr.branches")?,
            number: self.count("pr.number")?,
            create: self.switch("pr.create")?,
            draft: self.switch("pr.draft")?,
            push: self.switch("pr.push")?,
            required_only: self.switch("pr.required_only")?,
            poll_interval: self.duration("pr.poll_interval")?,
            poll_timeout: self.duration("pr.poll_timeout")?,
            grace: self.duration("pr.grace")?,
            hook_wait: self.duration("pr.hook_wait")?,
            max_fixes: self.count("pr.max_fixes")?,
            max_reruns: self.count("pr.max_reruns")?,
            merge: self.choice("pr.merge", Merge::from_word)?,
            merge_method: self.choice("pr.merge_method", MergeMethod::from_word)?,
            delete_branch: self.switch("pr.delete_branch")?,
        })
    }

    fn notify(&mut self) -> Option<NotifySettings> {
        Some(NotifySettings {
            command: self.text("notify.command")?,
            webhook: self.text("notify.webhook")?,
            desktop: self.switch("notify.desktop")?,
            on: self.list("notify.on", NotifyTopic::from_word)?,
            attempts: self.count("notify.attempts")?,
            timeout: self.duration("notify.timeout")?,
        })
    }

    fn guard(&mut self) -> Option<GuardSettings> {
        Some(GuardSettings {
            enabled: self.switch("guard.enabled")?,
            fail: self.choice("guard.fail", GuardFailure::from_word)?,
            shadow: self.switch("guard.shadow")?,
            packs: self.list("guard.packs", GuardPack::from_word)?,
            enable: self.texts("guard.enable")?,
            disable: self.texts("guard.disable")?,
            modes: self.list("guard.modes", guard::mode_of)?,
            allow_paths: self.texts("guard.allow_paths")?,
            allow_hosts: self.texts("guard.allow_hosts")?,
            rules: self.read("guard.rules", guard::rules_of)?,
        })
    }
}
