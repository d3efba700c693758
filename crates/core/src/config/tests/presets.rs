use super::*;

/// One column of the table of presets.
#[derive(Debug, PartialEq)]
struct Column {
    max_iterations: u32,
    max_dispatches: u32,
    extend_by: u32,
    on_limit: OnLimit,
    warn_at: WarnAt,
    consecutive_errors: u32,
    missing_promise: u32,
    stalled: u32,
    max_duration: Duration,
    iteration_timeout: Duration,
    complete: Vec<String>,
    asked_for: Option<String>,
    promise_required: bool,
    source: TaskSource,
    roles: bool,
    merge: Merge,
    delete_branch: bool,
    poll: (Duration, Duration),
    rounds: u32,
}

fn built_in() -> Column {
    Column {
        max_iterations: 50,
        max_dispatches: 0,
        extend_by: 10,
        on_limit: OnLimit::Menu,
        warn_at: WarnAt::Percent(75),
        consecutive_errors: 3,
        missing_promise: 5,
        stalled: 5,
        max_duration: Duration::ZERO,
        iteration_timeout: minutes(30),
        complete: vec!["COMPLETE".to_owned(), "DONE".to_owned()],
        asked_for: Some("COMPLETE".to_owned()),
        promise_required: false,
        source: TaskSource::Auto,
        roles: false,
        merge: Merge::Off,
        delete_branch: false,
        poll: (Duration::from_secs(30), minutes(60)),
        rounds: 5,
    }
}

fn promising(word: &str) -> Column {
    Column {
        complete: vec![word.to_owned()],
        asked_for: Some(word.to_owned()),
        ..built_in()
    }
}

fn dev(word: &str) -> Column {
    Column {
        max_iterations: 0,
        on_limit: OnLimit::Stop,
        missing_promise: 0,
        max_duration: minutes(12 * 60),
        source: TaskSource::Prompt,
        ..promising(word)
    }
}

fn check(settings: Settings, want: &Column, name: &str) {
    let asked_for = settings.promise.asked_for().map(str::to_owned);
    let got = Column {
        max_iterations: settings.limits.max_iterations,
        max_dispatches: settings.limits.max_dispatches,
        extend_by: settings.limits.extend_by,
        on_limit: settings.limits.on_limit,
        warn_at: settings.limits.warn_at,
        consecutive_errors: settings.limits.consecutive_errors,
        missing_promise: settings.limits.missing_promise,
        stalled: settings.limits.stalled,
        max_duration: settings.limits.max_duration,
        iteration_timeout: settings.limits.iteration_timeout,
        complete: settings.promise.complete,
        asked_for,
        promise_required: settings.promise.required,
        source: settings.tasks.source,
        roles: settings.roles.enabled,
        merge: settings.pr.merge,
        delete_branch: settings.pr.delete_branch,
        poll: (settings.pr.poll_interval, settings.pr.poll_timeout),
        rounds: settings.verify.max_rounds,
    };
    assert_eq!(&got, want, "{name}");
}

#[test]
fn match_the_table_of_the_requirements() {
    check(defaults().settings, &built_in(), "built-in");
    for (name, want) in [
        (
            "openspec",
            Column {
                max_iterations: 100,
                max_dispatches: 100,
                extend_by: 100,
                on_limit: OnLimit::Pause,
                missing_promise: 0,
                source: TaskSource::OpenSpec,
                roles: true,
                ..promising("所有任務完成")
            },
        ),
        (
            "verify",
            Column {
                max_duration: minutes(30),
                complete: Vec::new(),
                asked_for: None,
                source: TaskSource::None,
                ..built_in()
            },
        ),
        ("dev-p0", dev("QUALITY_GATE_PASSED")),
        (
            "dev-p1",
            // Merging is outward: only `--merge` asks for it (issue 7).
            // It ends as `gh pr merge --squash --delete-branch` does (PRCI-08).
            Column {
                promise_required: true,
                delete_branch: true,
                ..dev("CI_PASSED")
            },
        ),
        (
            "sdd",
            Column {
                extend_by: 20,
                on_limit: OnLimit::Stop,
                complete: Vec::new(),
                asked_for: Some("PHASE COMPLETE".to_owned()),
                source: TaskSource::SpecKit,
                ..built_in()
            },
        ),
        (
            "delta",
            Column {
                max_iterations: 20,
                warn_at: WarnAt::Iteration(15),
                source: TaskSource::Delta,
                ..promising("TASK_COMPLETE")
            },
        ),
    ] {
        let loaded = preset(name);
        assert_eq!(loaded.settings.preset.as_deref(), Some(name));
        assert_eq!(loaded.warnings, [], "{name}");
        check(loaded.settings, &want, name);
    }
}

#[test]
fn sdd_ends_with_the_words_of_its_table() {
    let promise = preset("sdd").settings.promise;
    assert_eq!(promise.phase_complete, ["PHASE COMPLETE"]);
    assert_eq!(promise.e2e_passed, "E2E PASSED");
}

#[test]
fn hold_only_what_differs_from_the_defaults() {
    for (name, _) in PRESETS {
        let layer = Layer::preset(name).unwrap();
        for key in Schema::get().keys() {
            let same = layer
                .get(&key.name)
                .is_some_and(|set| set.value == key.default);
            assert!(!same, "preset {name} repeats {}", key.name);
        }
    }
}

#[test]
fn an_unknown_one_is_named_with_the_known_ones() {
    let errors = Layer::preset("sdd2").unwrap_err();
    insta::assert_snapshot!(Lang::ALL.map(|lang| errors.say(lang)).join("\n"), @r#"
    there is no preset "sdd2". Did you mean "sdd"? Use one of: openspec, verify, dev-p0, dev-p1, sdd, delta.
    沒有「sdd2」這個預設組。是不是「sdd」？請使用下列之一：openspec, verify, dev-p0, dev-p1, sdd, delta。
    没有“sdd2”这个预设。是不是“sdd”？请使用以下之一：openspec, verify, dev-p0, dev-p1, sdd, delta。
    "#);
}
