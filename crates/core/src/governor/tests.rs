use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

/// A Sunday, two o'clock in the afternoon in Vilnius.
const NOW: &str = "2026-11-15T12:00:00Z";
const HERE: &str = "Europe/Vilnius";

fn ms(time: &str) -> i64 {
    time.parse::<Timestamp>().unwrap().as_millisecond()
}

fn shown(refusal: Option<Refusal>) -> String {
    match refusal {
        None => "nothing".into(),
        Some(Refusal::Usage {
            resets_at: Some(at),
        }) => {
            format!("until {}", Timestamp::from_millisecond(at).unwrap())
        }
        Some(Refusal::Usage { resets_at: None }) => "unknown".into(),
        Some(Refusal::Overload {
            retry_after_ms: None,
        }) => "overload".into(),
        Some(Refusal::Overload {
            retry_after_ms: Some(ms),
        }) => format!("overload {ms}"),
        Some(Refusal::Person(need)) => format!("pause {need:?}"),
    }
}

fn said(text: &str, now: &str, zone: &str) -> String {
    let failure = Failure {
        words: &[text],
        ..Failure::default()
    };
    shown(judge(&failure, ms(now), zone))
}

fn check(table: &[(&str, &str)]) {
    for (text, want) in table {
        assert_eq!(&said(text, NOW, HERE), want, "{text}");
    }
}

#[test]
fn a_reset_in_words_is_waited_for() {
    check(&[
        // What is said to the minute is over at the end of the minute.
        (
            "You've hit your limit · resets 5pm (Europe/Vilnius)",
            "until 2026-11-15T15:01:00Z",
        ),
        (
            "You've hit your session limit · resets 8:20pm (America/New_York)",
            "until 2026-11-16T01:21:00Z",
        ),
        (
            "You've hit your 5-hour limit · resets 8:56pm (America/New_York) · progress saved",
            "until 2026-11-16T01:57:00Z",
        ),
        (
            "You've hit your weekly limit · resets Nov 18, 6:46am (America/New_York)",
            "until 2026-11-18T11:47:00Z",
        ),
        (
            "You've hit your Opus limit · resets Nov 20, 3pm (Asia/Tokyo)",
            "until 2026-11-20T06:01:00Z",
        ),
        (
            "You're out of extra usage · resets 9pm",
            "until 2026-11-15T19:01:00Z",
        ),
        (
            "You're out of usage credits · resets 5pm (UTC)",
            "until 2026-11-15T17:01:00Z",
        ),
        (
            "Claude usage limit reached. Your limit will reset at 7pm (Asia/Tokyo).",
            "until 2026-11-16T10:01:00Z",
        ),
        (
            "5-hour limit reached ∙ resets 2am",
            "until 2026-11-16T00:01:00Z",
        ),
        (
            "Claude AI usage limit reached|1794758400",
            "until 2026-11-15T16:00:00Z",
        ),
        (
            "Claude AI usage limit reached|1794758400123",
            "until 2026-11-15T16:00:00.123Z",
        ),
        (
            "You’ve hit your usage limit. Upgrade to Pro (https://example.org/pro), visit https://example.org/usage to purchase more credits or try again at 2:11 AM.",
            "until 2026-11-16T00:12:00Z",
        ),
        (
            "You've hit your usage limit. Visit https://example.org to purchase more credits or try again at Nov 19th, 2026 4:29 PM.",
            "until 2026-11-19T14:30:00Z",
        ),
        (
            "You've hit your usage limit. Try again in 3 hours.",
            "until 2026-11-15T15:00:00Z",
        ),
        (
            "usage limit reached, try again in 2h 13m",
            "until 2026-11-15T14:13:00Z",
        ),
        (
            "usage limit reached; try again in 1 day 4 hours and 30 minutes",
            "until 2026-11-16T16:30:00Z",
        ),
        (
            "Usage limit reached. Please wait 45 minutes.",
            "until 2026-11-15T12:45:00Z",
        ),
        (
            "Your quota will reset after 2h13m5s.",
            "until 2026-11-15T14:13:05Z",
        ),
        (
            "You have hit your limit. Available again in an hour",
            "until 2026-11-15T13:00:00Z",
        ),
        (
            "usage limit: available again at 23:30",
            "until 2026-11-15T21:31:00Z",
        ),
        (
            "Usage limit reached, resets 17:00 (Europe/Vilnius)",
            "until 2026-11-15T15:01:00Z",
        ),
        (
            "Usage limit reached, resets at 17:00:30 UTC",
            "until 2026-11-15T17:00:30Z",
        ),
        (
            "usage limit, resets 17:00 UTC+2",
            "until 2026-11-15T15:01:00Z",
        ),
        (
            "usage limit, resets 17:00 GMT-07:00",
            "until 2026-11-16T00:01:00Z",
        ),
        (
            "usage limit, resets 17:00 +0530",
            "until 2026-11-16T11:31:00Z",
        ),
        ("usage limit, resets 6pm PST", "until 2026-11-16T02:01:00Z"),
        (
            "usage limit, resets 6 p.m. ET",
            "until 2026-11-15T23:01:00Z",
        ),
        (
            "usage limit, resets at 10pm CET",
            "until 2026-11-15T21:01:00Z",
        ),
        ("usage limit, resets 11PM JST", "until 2026-11-15T14:01:00Z"),
        (
            "weekly limit reached, resets tomorrow at 9am",
            "until 2026-11-16T07:01:00Z",
        ),
        (
            "weekly limit reached, resets tomorrow at 9am (America/Los_Angeles)",
            "until 2026-11-16T17:01:00Z",
        ),
        (
            "weekly limit reached, resets 9am tomorrow",
            "until 2026-11-16T07:01:00Z",
        ),
        (
            "weekly limit reached, resets Wednesday at 10:00",
            "until 2026-11-18T08:01:00Z",
        ),
        (
            "weekly limit reached, resets Sun 10:00",
            "until 2026-11-22T08:01:00Z",
        ),
        (
            "weekly limit reached, resets on Sunday at 22:00",
            "until 2026-11-15T20:01:00Z",
        ),
        (
            "usage limit reached, resets at noon (America/New_York)",
            "until 2026-11-15T17:01:00Z",
        ),
        (
            "usage limit reached, resets at midnight",
            "until 2026-11-15T22:01:00Z",
        ),
        (
            "usage limit reached, resets 12am (UTC)",
            "until 2026-11-16T00:01:00Z",
        ),
        (
            "usage limit reached, resets 12:30pm (UTC)",
            "until 2026-11-15T12:31:00Z",
        ),
        (
            "usage limit, try again at 2026-11-19T16:29:00Z",
            "until 2026-11-19T16:30:00Z",
        ),
        (
            "usage limit, try again at 2026-11-19T16:29:10",
            "until 2026-11-19T14:29:10Z",
        ),
        (
            "usage limit, resets 2026-11-19 16:29",
            "until 2026-11-19T14:30:00Z",
        ),
        (
            "usage limit, resets 18 Nov 2026 at 16:00",
            "until 2026-11-18T14:01:00Z",
        ),
        (
            "usage limit, resets November 18",
            "until 2026-11-17T22:00:00Z",
        ),
        (
            "monthly quota used up, resets on Jan 1st",
            "until 2026-12-31T22:00:00Z",
        ),
        (
            r#"{"type":"usage_limit_reached","message":"usage limit","resets_at":1794758400}"#,
            "until 2026-11-15T16:00:00Z",
        ),
        (
            r#"usage limit {"resets_in_seconds": 90}"#,
            "until 2026-11-15T12:01:30Z",
        ),
        // Google counts days in California.
        (
            "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.",
            "until 2026-11-16T08:00:00Z",
        ),
    ]);
}

#[test]
fn a_limit_without_a_time_is_waited_out_by_a_schedule() {
    check(&[
        ("You've hit your limit", "unknown"),
        ("You’ve hit your usage limit.", "unknown"),
        ("usage limit reached, resets soon", "unknown"),
        ("usage limit reached, resets 25:99", "unknown"),
        ("usage limit reached, resets 13pm", "unknown"),
        // What is past says nothing about the future.
        ("usage limit reached|1500000000", "unknown"),
        (
            r#"{"message":"usage limit, resets 1pm","resets_at":1794700000}"#,
            "unknown",
        ),
        (
            "You've hit your weekly limit · resets Nov 13, 6:46am (America/New_York)",
            "unknown",
        ),
        (
            "usage limit, try again at Nov 19th, 2020 4:29 PM",
            "unknown",
        ),
    ]);
}

#[test]
fn a_busy_server_is_left_alone_for_a_while() {
    check(&[
        ("API Error: 529 overloaded_error: Overloaded", "overload"),
        ("API Error: Repeated 529 Overloaded errors", "overload"),
        ("HTTP/2 429 retry-after: 2", "overload 2000"),
        ("HTTP/1.1 429", "overload"),
        ("read http.py, line 2 429", "nothing"),
        (
            "exceeded retry limit, last status: 429 Too Many Requests",
            "overload",
        ),
        ("Rate limit reached for requests", "overload"),
        // ERRC-06: how long the client tried is not how long to stay away.
        (
            "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.51 seconds) Last error: 429 Rate limit reached",
            "overload",
        ),
        ("429 Too Many Requests (elapsed wait: 12 s)", "overload"),
        ("Overloaded: gave up after 30 seconds", "overload"),
        ("Overloaded; tried again 12 seconds ago", "overload"),
        (
            "Request failed after 10 retries in 40 s: 503 Service Unavailable",
            "overload",
        ),
        (
            "Overloaded. Request failed, please try again after 30 s",
            "overload 30000",
        ),
        (
            "Overloaded. Estimated wait time: 30 seconds",
            "overload 30000",
        ),
        (
            "Rate limit reached for tokens per min. Please try again in 6m0s.",
            "overload 360000",
        ),
        ("429 Too Many Requests, retry-after: 20", "overload 20000"),
        (
            r#"[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]"#,
            "overload 34000",
        ),
        (
            "RESOURCE_EXHAUSTED: Please retry in 34.07s.",
            "overload 34070",
        ),
        ("unexpected status 503 Service Unavailable", "overload"),
        (
            "The service is temporarily unavailable, retry in 30 seconds",
            "overload 30000",
        ),
        (
            "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
            "overload",
        ),
        (
            "stream disconnected before completion: Transport error",
            "overload",
        ),
    ]);
}

#[test]
fn what_waiting_does_not_change_pauses() {
    check(&[
        ("Credit balance is too low", "pause Spend"),
        (
            "You've hit your individual spend limit · run /usage-credits to raise it",
            "pause Spend",
        ),
        (
            "You've hit your org's monthly spend limit · resets Dec 1, 2am (UTC)",
            "pause Spend",
        ),
        (
            "Quota exceeded. Check your plan and billing details.",
            "pause Spend",
        ),
        ("You're out of usage credits", "pause Spend"),
        ("error: 402 Payment Required", "pause Spend"),
        (
            "Your usage allocation has been disabled by your admin",
            "pause Admin",
        ),
        ("This account is on hold", "pause Admin"),
        ("Invalid API key · Fix external API key", "pause Login"),
        ("Not logged in · Please run /login", "pause Login"),
        (
            "unexpected status 401 Unauthorized: no, url: http://127.0.0.1:1/v1",
            "pause Login",
        ),
        (
            r#"[API Error: {"error":{"code":401,"message":"API key not valid.","status":"UNAUTHENTICATED"}}]"#,
            "pause Login",
        ),
        (
            "You have exceeded your premium request allowance.",
            "pause Plan",
        ),
        ("The model is not available on your plan", "pause Plan"),
        // ERRC-05: an agent that is no known client has only its words.
        ("HTTP 403 Forbidden", "pause Plan"),
        ("Error: 400 Bad Request", "pause Request"),
        (
            r#"API Error: 400 {"error":{"type":"invalid_request_error","message":"bad"}}"#,
            "pause Request",
        ),
    ]);
}

#[test]
fn other_failures_are_no_limits() {
    check(&[
        ("", "nothing"),
        ("error[E0425]: cannot find value `x`", "nothing"),
        (
            "Prompt is too long · the request is ~208310 tokens",
            "nothing",
        ),
        ("API Error: 400 messages: field required", "nothing"),
        (
            "Error: 400 Bad Request: this model's maximum context length is 8192 tokens",
            "nothing",
        ),
        ("Reached maximum number of turns (2)", "nothing"),
        ("Reached maximum budget ($0.01)", "nothing"),
        // A timeout is no limit, and a line number no status.
        ("the command timed out after 120 seconds", "nothing"),
        ("at file:///opt/x.js:429:12\nat y.js:503:1", "nothing"),
        ("retry in 5 minutes", "nothing"),
        ("resets 5pm", "nothing"),
    ]);
}

#[test]
fn clocks_that_jump_are_followed() {
    let text = |time: &str| format!("usage limit, resets {time} (America/New_York)");
    let check = |time: &str, now: &str, want: &str| {
        assert_eq!(said(&text(time), now, "UTC"), want, "{time} at {now}");
    };
    // On 1 November 2026 the hour from one to two comes twice.
    check(
        "1:30am",
        "2026-11-01T04:00:00Z",
        "until 2026-11-01T05:31:00Z",
    );
    check(
        "1:30am",
        "2026-11-01T05:45:00Z",
        "until 2026-11-01T06:31:00Z",
    );
    // On 14 March 2027 there is no half past two.
    check(
        "2:30am",
        "2027-03-14T05:00:00Z",
        "until 2027-03-14T07:31:00Z",
    );
    // Tomorrow is not always 24 hours away.
    check("3am", "2026-10-31T08:00:00Z", "until 2026-11-01T08:01:00Z");
}

#[test]
fn a_time_that_is_past_is_tomorrow_s_unless_it_just_came() {
    let text = "usage limit, resets 5pm (UTC)";
    for (now, want) in [
        ("2026-11-15T16:59:00Z", "until 2026-11-15T17:01:00Z"),
        ("2026-11-15T17:00:30Z", "until 2026-11-15T17:01:00Z"),
        ("2026-11-15T17:03:00Z", "until 2026-11-15T17:04:00Z"),
        ("2026-11-15T17:30:00Z", "until 2026-11-16T17:01:00Z"),
        ("2026-12-31T18:00:00Z", "until 2027-01-01T17:01:00Z"),
    ] {
        assert_eq!(said(text, now, "UTC"), want, "{now}");
    }
}

#[test]
fn a_time_without_a_zone_is_local() {
    let text = "usage limit, resets 5pm";
    for (zone, want) in [
        ("UTC", "until 2026-11-15T17:01:00Z"),
        ("Asia/Taipei", "until 2026-11-16T09:01:00Z"),
        ("America/St_Johns", "until 2026-11-15T20:31:00Z"),
        ("Nowhere/At_All", "until 2026-11-15T17:01:00Z"),
        ("", "until 2026-11-15T17:01:00Z"),
    ] {
        assert_eq!(said(text, NOW, zone), want, "{zone}");
    }
    // The same letters are Chicago's or Shanghai's.
    let cst = "usage limit, resets 11pm CST";
    assert_eq!(said(cst, NOW, "UTC"), "until 2026-11-16T05:01:00Z");
    assert_eq!(
        said(cst, NOW, "Asia/Shanghai"),
        "until 2026-11-15T15:01:00Z"
    );
}

#[test]
fn the_client_s_own_event_comes_first() {
    let event = |rejected, resets_at_ms| LimitEvent {
        rejected,
        window: "five_hour".into(),
        resets_at_ms,
        used_percent: Some(100),
    };
    let judged = |event: &LimitEvent, words: &str| {
        let failure = Failure {
            class: ErrorClass::RateLimit,
            status: Some(429),
            event: Some(event),
            words: &[words],
        };
        shown(judge(&failure, ms(NOW), HERE))
    };
    let words = "You've hit your 5-hour limit · resets 5pm (Europe/Vilnius)";
    let soon = ms("2026-11-15T15:00:51Z");
    assert_eq!(
        judged(&event(true, Some(soon)), words),
        "until 2026-11-15T15:00:51Z"
    );
    // Without a time in it the words decide.
    assert_eq!(
        judged(&event(true, None), words),
        "until 2026-11-15T15:01:00Z"
    );
    assert_eq!(judged(&event(true, None), ""), "unknown");
    // ERRC-06: a moment that is past is exact; the words mean no other.
    let past = event(true, Some(ms(NOW) - 86_400_000));
    for words in [
        "You've hit your weekly limit · resets Nov 14, 7am (America/New_York)",
        "You've hit your 5-hour limit · resets 1pm (Europe/Vilnius)",
        "",
    ] {
        assert_eq!(judged(&past, words), "unknown", "{words}");
    }
    assert_eq!(judged(&past, "Credit balance is too low"), "pause Spend");
    // A warning is no refusal.
    assert_eq!(
        judged(&event(false, Some(soon)), "Credit balance is too low"),
        "pause Spend"
    );
}

#[test]
fn a_class_or_a_status_decides_where_words_do_not() {
    let judged = |class, status| {
        let failure = Failure {
            class,
            status,
            words: &["something"],
            ..Failure::default()
        };
        shown(judge(&failure, ms(NOW), HERE))
    };
    use ErrorClass::*;
    for (class, status, want) in [
        (Auth, None, "pause Login"),
        (Billing, Some(400), "pause Spend"),
        (Admin, None, "pause Admin"),
        (Overloaded, Some(529), "overload"),
        (Server, None, "overload"),
        (RateLimit, Some(429), "overload"),
        (Unknown, Some(401), "pause Login"),
        (Unknown, Some(402), "pause Spend"),
        (Unknown, Some(429), "overload"),
        (NoResult, Some(503), "overload"),
        (Unknown, Some(400), "pause Request"),
        (Unknown, Some(403), "pause Plan"),
        (InvalidRequest, None, "pause Request"),
        (ModelNotFound, None, "pause Plan"),
        (Unknown, None, "nothing"),
        (NoResult, None, "nothing"),
        (ContextTooLong, Some(400), "nothing"),
        (MaxTurns, None, "nothing"),
        (Budget, None, "nothing"),
        (Interrupted, None, "nothing"),
        (Refused, None, "nothing"),
    ] {
        assert_eq!(judged(class, status), want, "{class:?} {status:?}");
    }
}

#[test]
fn the_error_is_believed_before_the_error_output() {
    let failure = Failure {
        words: &["Credit balance is too low", "usage limit, resets 5pm"],
        ..Failure::default()
    };
    assert_eq!(shown(judge(&failure, ms(NOW), HERE)), "pause Spend");
    let failure = Failure {
        words: &["exit code 1", "usage limit, resets 5pm"],
        ..Failure::default()
    };
    assert_eq!(
        shown(judge(&failure, ms(NOW), HERE)),
        "until 2026-11-15T15:01:00Z"
    );
}

proptest! {
    #[test]
    fn a_wait_is_never_in_the_past(text in "(usage limit|429 too many|resets|try again|in|at|after|[0-9]{1,13}|pm|am|:|\\||nov|tomorrow|utc|hours|m|s|[ -~]| ){0,24}", day in 0i64..4000) {
        let now = ms(NOW) + day * 86_400_000;
        let failure = Failure { words: &[&text], ..Failure::default() };
        if let Some(Refusal::Usage { resets_at: Some(at) }) = judge(&failure, now, HERE) {
            prop_assert!(at >= now);
        }
    }
}
