use super::*;
use strum::VariantNames as _;

#[test]
fn is_valid_and_explains_every_key() {
    REFERENCE.parse::<toml::Table>().unwrap();
    for key in Schema::get().keys() {
        let explanation = key.comment.lines().next().unwrap_or_default();
        assert!(explanation.len() > 10, "{} has no comment", key.name);
        assert!(
            !explanation.starts_with("Type:") && !explanation.starts_with("One of:"),
            "{} has no explanation",
            key.name
        );
        assert_eq!(
            key.kind.accept(&key.default).as_ref(),
            Some(&key.default),
            "{} is not of its own kind",
            key.name
        );
    }
}

/// Every struct of the settings refuses a key that it does not know, and
/// misses one that is not there.
#[test]
fn holds_exactly_the_keys_that_the_settings_read() {
    let (resolved, _) = Resolved::resolve(Vec::new()).unwrap();
    assert!(resolved.settings().is_ok());
}

#[test]
fn keeps_the_order_of_the_file() {
    let names: Vec<&str> = Schema::get()
        .keys()
        .map(|key| key.name.as_str())
        .take(5)
        .collect();
    assert_eq!(
        names,
        [
            "preset", "lang", "agents", "limits.max_iterations", "limits.extend_by"
        ]
    );
}

#[test]
fn offers_the_words_that_the_settings_know() {
    for (key, words) in [
        ("limits.on_limit", OnLimit::VARIANTS),
        ("promise.conflict", PromiseConflict::VARIANTS),
        ("tasks.source", TaskSource::VARIANTS),
        ("verify.on_timeout", OnVerifyTimeout::VARIANTS),
        ("verify.markers", Markers::VARIANTS),
        ("verify.when", VerifyWhen::VARIANTS),
        ("verify.ticks", TickProof::VARIANTS),
        ("verify.integrity", IntegrityMode::VARIANTS),
        ("progress.evidence", Evidence::VARIANTS),
        ("gate.freshness", Freshness::VARIANTS),
        ("gate.trust", GateTrust::VARIANTS),
        ("pr.merge", Merge::VARIANTS),
        ("guard.fail", GuardFailure::VARIANTS),
        ("guard.packs", GuardPack::VARIANTS),
        ("notify.on", NotifyTopic::VARIANTS),
        ("roles.risk", Risk::VARIANTS),
    ] {
        let (Kind::OneOf(offered) | Kind::AnyOf(offered)) = &Schema::get().key(key).unwrap().kind
        else {
            panic!("{key} is not a choice");
        };
        assert_eq!(offered, words, "{key}");
    }
    let Kind::OneOf(presets) = &Schema::get().key("preset").unwrap().kind else {
        panic!("preset is not a choice");
    };
    let known = PRESETS.map(|(name, _)| name);
    assert_eq!(presets[..known.len()], known);
    let Kind::OneOf(languages) = &Schema::get().key("lang").unwrap().kind else {
        panic!("lang is not a choice");
    };
    for word in &languages[1..] {
        assert_eq!(Lang::from_name(word).unwrap().into_str(), word);
    }
}

#[test]
fn every_key_but_one_has_a_variable_of_its_own() {
    let names: Vec<Option<String>> = Schema::get()
        .keys()
        .map(|key| variable_of_key(&key.name))
        .collect();
    let distinct: BTreeSet<&String> = names.iter().flatten().collect();
    assert_eq!(distinct.len(), names.len() - 1);
    assert_eq!(variable_of_key("tasks.file"), None);
    assert_eq!(
        variable_of_key("agent.retry.max").as_deref(),
        Some("RALPH_AGENT_RETRY_MAX")
    );
}

#[test]
fn the_strictest_guard_is_the_default() {
    let (resolved, _) = Resolved::resolve(Vec::new()).unwrap();
    let (settings, _) = resolved.settings().unwrap();
    assert_eq!(settings.guard, GuardSettings::default());
}
