//! Refusals in the words of the services: what a client takes for a usage
//! limit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::script::Refusal;

fn refusal(status: u16, headers: &[(&str, &str)], body: Value) -> Refusal {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    Refusal {
        status,
        headers: headers.iter().map(owned).collect::<BTreeMap<_, _>>(),
        body,
    }
}

/// A subscription's five hours are used up until then (seconds since 1970).
pub fn anthropic_five_hours(resets_at: u64) -> Refusal {
    let reset = resets_at.to_string();
    let week = (resets_at + 4 * 24 * 3600).to_string();
    refusal(
        429,
        &[
            ("anthropic-ratelimit-unified-status", "rejected"),
            ("anthropic-ratelimit-unified-reset", &reset),
            (
                "anthropic-ratelimit-unified-representative-claim",
                "five_hour",
            ),
            ("anthropic-ratelimit-unified-5h-status", "rejected"),
            ("anthropic-ratelimit-unified-5h-reset", &reset),
            ("anthropic-ratelimit-unified-5h-utilization", "1.0"),
            ("anthropic-ratelimit-unified-7d-status", "allowed"),
            ("anthropic-ratelimit-unified-7d-reset", &week),
            ("anthropic-ratelimit-unified-7d-utilization", "0.4"),
            ("anthropic-ratelimit-unified-overage-status", "rejected"),
            (
                "anthropic-ratelimit-unified-overage-disabled-reason",
                "org_level_disabled",
            ),
            ("x-should-retry", "false"),
        ],
        anthropic_error(
            "rate_limit_error",
            "This request would exceed your account's rate limit.",
        ),
    )
}

/// A plan's limit is reached until then (seconds since 1970).
pub fn openai_plan(resets_at: u64) -> Refusal {
    refusal(
        429,
        &[],
        json!({"error": {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
            "resets_at": resets_at,
        }}),
    )
}

/// The free requests of a day are used up.
pub fn gemini_daily_quota() -> Refusal {
    refusal(
        429,
        &[],
        json!({"error": {
            "code": 429,
            "message": "You exceeded your current quota.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{
                    "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                    "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                }],
            }],
        }}),
    )
}

/// A request that the service does not take, in each service's words.
pub fn bad_request() -> Refusal {
    let mut body = anthropic_error("invalid_request_error", "scripted: bad request");
    body["error"]["code"] = 400.into();
    body["error"]["status"] = "INVALID_ARGUMENT".into();
    refusal(400, &[], body)
}

fn anthropic_error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
