//! An agent for benches: prints a stream of the shapes that real clients
//! print, of so many megabytes, and writes down when it began and when the last
//! byte was taken.
#![expect(clippy::print_stderr, reason = "nobody else hears why it failed")]

use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let megabytes: usize = setting("FLOOD_MB").parse().unwrap_or(1);
    let codex = args.iter().any(|arg| arg == "exec");
    let (block, end) = if codex {
        codex_shapes()
    } else {
        claude_shapes()
    };
    let start = now_ns();
    let mut out = std::io::stdout().lock();
    let mut bytes = 0;
    while bytes < megabytes * 1_000_000 {
        if let Err(error) = out.write_all(block.as_bytes()) {
            eprintln!("{error}");
            std::process::exit(1);
        }
        bytes += block.len();
    }
    let _ = out.write_all(end.as_bytes());
    let _ = out.flush();
    let line = format!("{start} {} {bytes}\n", now_ns());
    let _ = std::fs::write(setting("FLOOD_LOG"), line);
}

/// A file as a tool reads it: lines, quotes, escapes.
fn source_lines(count: usize) -> String {
    (0..count)
        .map(|n| format!(r#"{n:>6}\tlet value_{n} = table.get(\"key {n}\").unwrap_or(&{n});\n"#))
        .collect()
}

fn claude_shapes() -> (String, String) {
    let session = "5e55104a-0000-4000-8000-000000000000";
    let tail = format!(
        r#""session_id":"{session}","uuid":"9ad45b32-f664-4cce-8945-cb5b5ab19428","timestamp":"2026-11-15T00:47:18.174Z""#
    );
    let usage = r#""usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"},"context_management":null"#;
    let assistant = |id: usize, content: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg_{id}","type":"message","role":"assistant","model":"claude-x","content":[{content}],"stop_reason":null,"stop_sequence":null,{usage}}},"parent_tool_use_id":null,{tail}}}"#
        )
    };
    let result = |id: usize, text: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{id}","type":"tool_result","content":"{text}","is_error":false}}]}},"parent_tool_use_id":null,{tail},"tool_use_result":{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}}}}"#
        )
    };
    let mut lines = vec![format!(
        r#"{{"type":"system","subtype":"hook_response","hook_id":"h","hook_name":"PreToolUse:Bash","output":"","stdout":"","stderr":"","exit_code":0,"outcome":"success",{tail}}}"#
    )];
    for id in 0..20 {
        lines.push(assistant(
            id,
            r#"{"type":"text","text":"I read the next file and change what the task asks for."}"#,
        ));
        lines.push(assistant(id, &format!(r#"{{"type":"tool_use","id":"toolu_{id}","name":"Bash","input":{{"command":"cargo test -p part_{id} -- --nocapture","description":"run the tests"}}}}"#)));
        lines.push(result(id, &source_lines(if id % 4 == 0 { 80 } else { 4 })));
        lines.push(format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"and so on"}}}},"parent_tool_use_id":null,{tail}}}"#
        ));
    }
    let end = format!(
        r#"{{"duration_api_ms":1,"is_error":false,"subtype":"success","num_turns":3,"result":"<promise>CONTINUE</promise>","total_cost_usd":0.1,"type":"result",{tail}}}"#
    );
    (lines.join("\n") + "\n", end + "\n")
}

fn codex_shapes() -> (String, String) {
    let mut lines = Vec::new();
    for id in 0..20 {
        let output = source_lines(if id % 4 == 0 { 80 } else { 8 });
        lines.push(format!(
            r#"{{"type":"item.completed","item":{{"id":"item_{id}","type":"agent_message","text":"I read the next file and change what the task asks for."}}}}"#
        ));
        lines.push(format!(
            r#"{{"type":"item.completed","item":{{"id":"item_{id}","type":"command_execution","command":"/bin/bash -lc 'cat src/part_{id}.rs'","aggregated_output":"{output}","exit_code":0,"status":"completed"}}}}"#
        ));
    }
    let end = r#"{"type":"item.completed","item":{"id":"z","type":"agent_message","text":"<promise>CONTINUE</promise>"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
"#;
    (lines.join("\n") + "\n", end.into())
}

#[cfg(unix)]
fn now_ns() -> i128 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

#[cfg(not(unix))]
fn now_ns() -> i128 {
    0
}
