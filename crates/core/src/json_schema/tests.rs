use jsonschema::Validator;
use serde_json::{Value, json};

use super::*;
use crate::config::{Layer, PRESETS, REFERENCE, Schema};
use crate::flow;
use crate::tasks::{self, ReadOptions};

fn validator(file: File) -> Validator {
    let schema: Value = serde_json::from_str(&file.text()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn of_toml(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

fn complaints(validator: &Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_reference_page_and_every_preset_are_valid() {
    let validator = validator(File::Config);
    for text in [REFERENCE].into_iter().chain(PRESETS.map(|(_, text)| text)) {
        assert_eq!(complaints(&validator, &of_toml(text)), [""; 0]);
    }
}

#[test]
fn every_setting_is_described_with_its_default() {
    let schema = configuration();
    for key in Schema::get().keys() {
        let path = format!("/properties/{}", key.name.replace('.', "/properties/"));
        let found = schema.pointer(&path).unwrap_or_else(|| panic!("{path}"));
        let description = found["description"].as_str().unwrap();
        assert!(description.len() > 10, "{}", key.name);
        assert!(!description.contains("Type:"), "{}", key.name);
        assert_eq!(
            found["default"],
            serde_json::to_value(&key.default).unwrap()
        );
    }
}

/// What the schema says of a value is what `ralph config check` says of it.
#[test]
fn accepts_what_the_program_accepts() {
    let validator = validator(File::Config);
    for text in [
        "limits.max_iterations = 7",
        "limits.max_iterations = -1",
        "limits.max_iterations = \"7\"",
        "limits.extend_by = 0",
        "limits.max_iteration = 7",
        "limitz = {}",
        "lang = \"fr\"",
        "lang = \"zh-TW\"",
        "preset = \"\"",
        "preset = \"sdd\"",
        "limits.max_duration = \"1h30m\"",
        "limits.max_duration = \" 1h 30 m \"",
        "limits.max_duration = \"30\"",
        "limits.max_duration = \"1.5h\"",
        "limits.max_duration = 0",
        "limits.max_duration = 30",
        "limits.warn_at = \"75%\"",
        "limits.warn_at = \"101%\"",
        "limits.warn_at = 15",
        "budget.max_cost = \"$0.50\"",
        "budget.max_cost = \"20 USD\"",
        "budget.max_cost = \"20\"",
        "budget.max_cost = \"20eur\"",
        "progress.evidence = [\"tasks\", \"tree\"]",
        "progress.evidence = [\"trees\"]",
        "guard.modes = [\"git.reset-hard=ask\"]",
        "guard.modes = [\"git.reset-hard=maybe\"]",
        "guard.modes = [\"=ask\"]",
        "verify.commands = [\"make\"]",
        "verify.commands = \"make\"",
        "[[guard.rules]]\nid = \"a\"\nprogram = \"b\"\nmatch = [\"b\"]",
        "[[guard.rules]]\nid = \"a\"",
        "[[guard.rules]]\nid = \"a\"\nprogram = \"b\"\nargz = []",
    ] {
        let accepted = Layer::own_file("config.toml", text).is_ok();
        let found = complaints(&validator, &of_toml(text));
        assert_eq!(found.is_empty(), accepted, "{text}: {found:?}");
    }
}

#[test]
fn flows_are_valid_as_far_as_their_reader_accepts_them() {
    let validator = validator(File::Flow);
    for (name, text) in flow::BUILT_IN {
        assert_eq!(complaints(&validator, &of_toml(text)), [""; 0], "{name}");
    }
    let (_, good) = flow::BUILT_IN[0];
    for (from, to) in [
        ("scope = \"task\"", "scope = \"week\""),
        ("scope = \"task\"", "scope = \"task\"\nsurprise = 1"),
        ("role = \"developer\"", "role = \"poet\""),
        (
            "role = \"developer\"",
            "role = \"developer\"\nwrite = \"no\"",
        ),
        ("verdict = \"review\"", "verdict = \"maybe\""),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        assert!(flow::read("x", &text).is_err(), "{to}");
        assert!(!validator.is_valid(&of_toml(&text)), "{to}");
    }
}

#[test]
fn words_of_flows_are_those_that_the_program_knows() {
    let schema: Value = serde_json::from_str(&File::Flow.text()).unwrap();
    let step = &schema["$defs"]["step"]["properties"];
    assert_eq!(step["role"]["enum"], json!(flow::ROLES));
    let permissions = <crate::config::Permissions as strum::VariantNames>::VARIANTS;
    assert_eq!(step["permissions"]["enum"], json!(permissions));
}

#[test]
fn stories_are_valid_as_people_write_them() {
    let validator = validator(File::Prd);
    let story = json!({ "id": "US-1", "title": "Do it", "passes": false });
    let list = |story: &Value| json!({ "project": "x", "userStories": [story] });
    let with = |key: &str, value: Value| {
        let mut story = story.clone();
        story[key] = value;
        list(&story)
    };
    for good in [
        list(&story),
        with("verify", json!("make test")),
        with("verify", json!(["make", "make test"])),
        with("id", json!(7)),
        with("acceptanceCriteria", json!(["Typecheck passes"])),
    ] {
        assert_eq!(complaints(&validator, &good), [""; 0]);
        let text = good.to_string();
        let list = tasks::read("prd.json", text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(list.tasks.len(), 1);
    }
    for bad in [
        json!({ "stories": [] }),
        with("passes", json!("no")),
        with("verfiy", json!("make")),
        with("priority", json!("high")),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}
