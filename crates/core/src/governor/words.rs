//! Limits by their wording, for clients that say them in prose only.

use super::ErrorClass;
use super::moment::{Context, Moment};
use crate::machine::{Need, Refusal};

/// What a text says about a limit; nothing where it speaks of something else.
pub(super) fn judge(text: &str, class: ErrorClass, context: &Context) -> Option<Refusal> {
    // Not to be taken for the limit of an account that is reached.
    let text = normalized(text).replace("rate limit", "throttle");
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let person = |need| Some(Refusal::Person(need));
    let usage = |resets_at| Some(Refusal::Usage { resets_at });

    if says(ADMIN) {
        return person(Need::Admin);
    }
    if says(SPEND) {
        return person(Need::Spend);
    }
    if says(AUTH) || status_said(&text, &["401"]) {
        return person(Need::Login);
    }
    let limited = says(USAGE) || text.contains("hit your") && text.contains("limit");
    let rated = class == ErrorClass::RateLimit || says(RATE) || status_said(&text, &["429"]);
    if limited || rated {
        // Per-minute limits are gone before a person would notice.
        let brief = rated && !limited;
        return match context.find(&text) {
            Some(Moment::After(ms)) if brief => Some(Refusal::Overload {
                retry_after_ms: Some(ms),
            }),
            Some(moment) => usage(Some(context.wall_ms(moment))),
            None if says(DAILY) => usage(Some(context.next_pacific_midnight())),
            // The same words are used for a limit with a reset and for an
            // account without money; the reset was looked for first.
            None if says(BILLING) => person(Need::Spend),
            None if says(PLAN) => person(Need::Plan),
            None if brief => Some(Refusal::Overload {
                retry_after_ms: None,
            }),
            None => usage(None),
        };
    }
    if says(BILLING) || status_said(&text, &["402"]) {
        return person(Need::Spend);
    }
    if says(PLAN) {
        return person(Need::Plan);
    }
    if says(OVERLOAD) || status_said(&text, &["500", "502", "503", "504", "529"]) {
        let retry_after_ms = match context.find(&text) {
            Some(Moment::After(ms)) => Some(ms),
            _ => None,
        };
        return Some(Refusal::Overload { retry_after_ms });
    }
    // A client that says more than words has said what kind it is (ERRC-05).
    if !matches!(class, ErrorClass::Unknown | ErrorClass::NoResult) {
        return None;
    }
    if status_said(&text, &["403"]) {
        return person(Need::Plan);
    }
    // A conversation that grew too long is another one in the next turn.
    let is_invalid = status_said(&text, &["400"]) && says(INVALID) && !says(TOO_LONG);
    is_invalid.then_some(Refusal::Person(Need::Request))
}

/// Whether a text speaks of too many calls or tokens within a short time.
pub fn is_rate_limit(text: &str) -> bool {
    let text = normalized(text).replace("rate limit", "throttle");
    RATE.iter().any(|phrase| text.contains(phrase)) || status_said(&text, &["429"])
}

/// Small letters, plain apostrophes and spaces, so that a phrase is found
/// however it is set.
fn normalized(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\''.to_lowercase(),
            '·' | '∙' | '•' => ' '.to_lowercase(),
            c if c.is_whitespace() => ' '.to_lowercase(),
            c => c.to_lowercase(),
        })
        .collect()
}

const INVALID: &[&str] = &["bad request", "invalid_request_error", "invalid request"];

const TOO_LONG: &[&str] = &["too long", "too large", "context", "token"];

const ADMIN: &[&str] = &[
    "disabled by your admin",
    "disabled by your organization",
    "contact your admin",
    "contact your organization",
    "organization has been disabled",
    "account is on hold",
    "account on hold",
    "account has been suspended",
    "account has been disabled",
    "account_deactivated",
    "not allowed by your organization",
    "oauth_org_not_allowed",
];

const SPEND: &[&str] = &[
    "spend limit",
    "spending limit",
    "spend cap",
    "spending cap",
    "credit balance is too low",
    "insufficient_quota",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "not enough credits",
    "payment required",
    "purchase credits to continue",
];

const AUTH: &[&str] = &[
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "api key expired",
    "api_key_invalid",
    "not logged in",
    "please run /login",
    "run /login",
    "please log in",
    "login required",
    "oauth token has expired",
    "oauth token revoked",
    "token has expired",
    "refresh token",
    "authentication failed",
    "authentication_failed",
    "authentication_error",
    "authentication required",
    "unauthenticated",
    "401 unauthorized",
    "bad credentials",
    "no authentication information found",
];

/// A limit of the account that resets hours or days later.
const USAGE: &[&str] = &[
    "usage limit",
    "session limit",
    "weekly limit",
    "hour limit",
    "limit reached",
    "limit will reset",
    "out of extra usage",
    "out of usage",
    "exhausted your",
    "quota exceeded",
    "exceeded your current quota",
    "exceeded your quota",
    "exceeded your premium request",
    "daily quota",
    "quota will reset",
    "monthly quota",
    "message limit",
];

/// A limit on calls or tokens within minutes.
const RATE: &[&str] = &[
    "rate_limit", "ratelimit", "too many requests", "resource_exhausted", "requests per minute",
    "tokens per min", "throttl",
];

const DAILY: &[&str] = &["daily quota", "perday", "requests per day"];

const BILLING: &[&str] = &[
    "plan and billing", "check your billing", "billing details", "billing_error", "out of credits",
    "out of usage credits", "buy more credits", "usage-credits",
];

const PLAN: &[&str] = &[
    "premium request",
    "not available on your plan",
    "not included in your plan",
    "not available in your plan",
    "upgrade your plan to",
    "upgrade to a paid plan",
    "does not have access to the model",
    "subscription required",
    "requires a subscription",
];

const OVERLOAD: &[&str] = &[
    "overloaded",
    "service unavailable",
    "server is busy",
    "servers are busy",
    "at capacity",
    "high demand",
    "temporarily unavailable",
    "internal server error",
    "bad gateway",
    "gateway timeout",
    "econnrefused",
    "econnreset",
    "etimedout",
    "enotfound",
    "eai_again",
    "connection refused",
    "connection reset",
    "network error",
    "stream disconnected",
    "fetch failed",
];

/// Whether one of these numbers is spoken of as a status: a bare number may be
/// the line of a stack trace.
fn status_said(text: &str, codes: &[&str]) -> bool {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let spoken = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = words.get(at + 1);
        // `HTTP/1.1 429`, `HTTP/2 429`
        let from = at.saturating_sub(3);
        let is_version = |word: &&str| word.len() == 1 && word.bytes().all(|b| b.is_ascii_digit());
        let of_http = words[from..at].iter().rev().find(|word| !is_version(word));
        before.is_some_and(|word| STATUS_BEFORE.contains(word))
            || of_http.is_some_and(|word| *word == "http")
            || after.is_some_and(|word| STATUS_AFTER.contains(word))
    };
    (0..words.len()).any(|at| codes.contains(&words[at]) && spoken(at))
}

const STATUS_BEFORE: &[&str] = &["status", "http", "error", "code", "statuscode"];
const STATUS_AFTER: &[&str] = &[
    "too", "service", "unauthorized", "forbidden", "bad", "gateway", "rate",
];
