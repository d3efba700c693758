//! Which names in a file of hooks its agent does not know.

use ralph_engine::agents::Client;
use serde_json::Value;

/// Whether the agent has such an event. Copilot has each in two ways.
pub fn knows(host: Client, event: &str) -> bool {
    let known = host.hooks().events;
    let is_it = |name: &str| match host {
        Client::Copilot => name.eq_ignore_ascii_case(event),
        _ => name == event,
    };
    known.is_empty() || known.split(' ').any(is_it)
}

/// Names in the hooks of an element that the agent does not know.
pub fn unknown_fields(host: Client, element: &Value) -> Vec<String> {
    let fields = host.hooks().fields;
    if fields.is_empty() {
        return Vec::new();
    }
    let names = |value: &Value| -> Vec<String> {
        let object = value.as_object();
        object
            .map(|object| object.keys().cloned().collect())
            .unwrap_or_default()
    };
    let mut unknown = names(element);
    unknown.retain(|name| !["matcher", "hooks", "description"].contains(&name.as_str()));
    let hooks = element.get("hooks").and_then(Value::as_array);
    for hook in hooks.into_iter().flatten() {
        let odd = names(hook).into_iter();
        unknown.extend(odd.filter(|name| fields.split(' ').all(|field| field != name)));
    }
    unknown
}
