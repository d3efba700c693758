//! What the program is made of: a bill of materials (CycloneDX 1.5) from
//! cargo's own account of the packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::cargo;

/// For one target: other systems need other packages.
pub fn of(root: &Path, triple: &str) -> Result<String, String> {
    let output = cargo::command(root)
        .args(["metadata", "--locked", "--format-version=1"])
        .args(["--filter-platform", triple])
        .output()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    let bill = bill(&metadata).ok_or("cargo metadata tells of no ralph-loop")?;
    serde_json::to_string_pretty(&bill)
        .map(|text| text + "\n")
        .map_err(|e| e.to_string())
}

fn bill(metadata: &Value) -> Option<Value> {
    let packages: BTreeMap<&str, &Value> = each(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = each(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let (root, own) = packages
        .iter()
        .find(|(_, package)| package["name"] == "ralph-loop")?;
    let mut reached = BTreeSet::new();
    let mut waiting = vec![*root];
    while let Some(id) = waiting.pop() {
        if reached.insert(id) {
            waiting.extend(nodes.get(id).into_iter().flat_map(|node| linked(node)));
        }
    }
    let components: Vec<Value> = reached
        .iter()
        .filter(|id| *id != root)
        .filter_map(|id| packages.get(id).map(|package| component(package)))
        .collect();
    let dependencies: Vec<Value> = reached
        .iter()
        .filter_map(|id| {
            let package = packages.get(id)?;
            let mut on: Vec<String> = linked(nodes.get(id)?)
                .filter_map(|id| packages.get(id).map(|package| reference(package)))
                .collect();
            on.sort();
            Some(json!({ "ref": reference(package), "dependsOn": on }))
        })
        .collect();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": program(own) },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// What ends up in the program: not what builds or tests it.
fn linked(node: &Value) -> impl Iterator<Item = &str> {
    let is_normal = |dep: &&Value| each(&dep["dep_kinds"]).any(|kind| kind["kind"].is_null());
    each(&node["deps"])
        .filter(is_normal)
        .filter_map(|dep| dep["pkg"].as_str())
}

fn component(package: &Value) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    });
    if let Some(license) = package["license"].as_str() {
        // The slash is how it was written before SPDX.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    component
}

fn program(package: &Value) -> Value {
    let mut program = component(package);
    program["type"] = json!("application");
    program
}

fn reference(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what is linked, however far down, and each once.
    #[test]
    fn a_bill_names_what_is_linked() {
        let package = |name: &str| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0"});
        let on = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("ralph-loop"), package("a"), package("b"), package("test-only")],
            "resolve": {"nodes": [
                {"id": "ralph-loop", "deps": [on("a", Value::Null), on("test-only", json!("dev"))]},
                {"id": "a", "deps": [on("b", Value::Null)]},
                {"id": "b", "deps": []},
                {"id": "test-only", "deps": []}
            ]}
        });
        let bill = bill(&metadata).unwrap();
        let names: Vec<&Value> = each(&bill["components"]).map(|c| &c["name"]).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(bill["metadata"]["component"]["type"], "application");
        let license = &bill["components"][0]["licenses"][0]["expression"];
        assert_eq!(license, "MIT OR Apache-2.0");
        assert_eq!(
            bill["dependencies"][0]["dependsOn"],
            json!(["pkg:cargo/b@1.0.0"])
        );
    }
}
