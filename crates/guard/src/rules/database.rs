//! Databases: what drops or empties them.

use super::pattern::Call;
use super::table::DATABASE;
use crate::RuleId;
use crate::mark;
use crate::meaning::{Command, Env, Walker, files, sql};
use crate::words::Words;

static SQL_CLIENTS: Words = Words::new(words!(
    "psql mysql mariadb sqlite3 sqlite sqlcmd sqlplus cockroach clickhouse-client clickhouse
     duckdb cqlsh pgcli mycli usql bq snowsql trino presto osql isql wrangler"
));

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    let name = command.name;
    let args = command.args;
    if SQL_CLIENTS.contains(&name) {
        for text in command.words().into_iter().chain([command.stdin_text()]) {
            let text = match text.strip_prefix("--") {
                Some(option) => option.split_once('=').map_or("", |(_, sql)| sql),
                None => text,
            };
            let shell = [".shell ", ".system ", "\\! ", "system "]
                .iter()
                .find_map(|start| text.trim().strip_prefix(start));
            if let Some(shell) = shell {
                walker.aside(shell, env);
            }
            sql::judge(walker, text);
            copies(walker, text, env);
            touches_files(walker, text, env);
        }
        if one_of!(name, "sqlite3 sqlite duckdb") {
            let words = command.words();
            let file = words.into_iter().find(|word| !word.starts_with('-'));
            file.into_iter()
                .for_each(|file| files::read(walker, file, env));
        }
        if name == "bq" && args.iter().any(|word| word == "rm") {
            walker.report(RuleId::DbDestroy, "bq rm");
        }
        return;
    }
    let mut operands = command.words();
    operands.retain(|word| !word.starts_with('-'));
    let call = Call::of(&operands, args);
    let stdin = command.stdin_text();
    let mut texts = operands.iter().copied().chain([stdin]);
    let destroys = DATABASE.broken(name, call).is_some()
        || match name {
            "cypher-shell" => texts.any(|text| {
                let upper = text.to_ascii_uppercase();
                upper.contains("DELETE") && !upper.contains("WHERE")
            }),
            "migrate" | "tern" | "goose" => operands.ends_with(&["down"]),
            "redis-cli" | "valkey-cli" => empties_redis(&operands, stdin),
            "mongo" | "mongosh" => {
                let calls = words!("dropDatabase .drop( deleteMany({}) remove({}) shutdown");
                texts.any(|text| calls.iter().any(|call| text.contains(call)))
            }
            "liquibase" => operands
                .iter()
                .any(|task| task.eq_ignore_ascii_case("dropAll")),
            "curl" => deletes_index(command, &operands),
            _ => false,
        };
    if destroys || !RUNNERS.contains(&name) && drops_by_name(&operands) {
        walker.report(RuleId::DbDestroy, &command.line());
    }
}

fn empties_redis(operands: &[&str], stdin: &str) -> bool {
    let is = |word: &str, names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let flushes = |word: &str| is(word, &["flushall", "flushdb"]);
    operands.first().is_some_and(|verb| is(verb, &["shutdown"]))
        || operands
            .iter()
            .any(|word| word.contains("flush") || flushes(word))
        || stdin.split_whitespace().any(flushes)
        || operands.windows(2).any(|pair| match pair {
            [verb, key] if is(verb, &["del", "unlink"]) => mark::has_computed(key),
            [verb, set] => is(verb, &["config"]) && is(set, &["set"]),
            _ => false,
        })
}

/// Programs whose words are names that a project gave to its own scripts.
static RUNNERS: Words = Words::new(words!(
    "npm pnpm yarn bun make just task nx turbo echo grep rg git docker"
));

/// `… database drop`, `… db:reset`: whatever tool it is, it says what it does.
fn drops_by_name(operands: &[&str]) -> bool {
    let what = |word: &str| matches!(word, "database" | "db" | "schema" | "ecto");
    let how = |word: &str| one_of!(word, "drop reset wipe destroy nuke purge");
    let pair = |pair: &[&str]| matches!(pair, [first, second] if what(first) && how(second));
    let joined = |word: &&str| {
        word.split_once([':', '.'])
            .is_some_and(|(first, second)| what(first) && how(second))
    };
    operands.windows(2).take(3).any(pair) || operands.iter().take(3).any(joined)
}

/// `COPY … TO PROGRAM '…'` runs, `COPY … TO '…'` writes on the server.
fn copies(walker: &mut Walker, sql: &str, env: &Env) {
    let upper = sql.to_ascii_uppercase();
    if !upper.contains("COPY") && !upper.contains("INTO OUTFILE") {
        return;
    }
    let quoted = |from: usize| sql.get(from..).and_then(|rest| rest.split('\'').nth(1));
    if let Some(text) = upper.find(" PROGRAM ").and_then(quoted) {
        walker.aside(text, env);
        return walker.report(RuleId::OpaqueCode, sql);
    }
    let to = upper.find(" TO '").or_else(|| upper.find("OUTFILE '"));
    files::write_all(walker, to.and_then(quoted), env);
}

/// Functions and commands of databases that read or write files.
fn touches_files(walker: &mut Walker, text: &str, env: &Env) {
    let lower = text.to_ascii_lowercase();
    let path_behind = |start: &&str| {
        let rest = text.get(lower.find(start)?..).unwrap_or_default();
        Some(rest.split(['\'', '"']).nth(1).unwrap_or_default())
    };
    let reads = words!("pg_read_file( load_file( lo_import( readfile( pg_ls_dir(");
    let writes = ["writefile(", "lo_export(", "into outfile", "into dumpfile"];
    files::read_all(walker, reads.iter().filter_map(path_behind), env);
    files::write_all(walker, writes.iter().filter_map(path_behind), env);
    let mut words = text.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    match verb {
        ".output" | ".once" | ".backup" | ".save" | ".log" if path != "stdout" => {
            files::write(walker, path, env)
        }
        ".import" | ".read" | ".load" | ".restore" => files::read(walker, path, env),
        _ => {}
    }
    if has_any!(lower, "xp_cmdshell sys_exec( sys_eval(") {
        walker.report(RuleId::OpaqueCode, text);
    }
}

/// `curl -X DELETE localhost:9200/_all` empties a search engine.
fn deletes_index(command: &Command, operands: &[&str]) -> bool {
    let by_query = |url: &&str| is_database(url) && url.contains("_delete_by_query");
    if operands.iter().any(by_query) {
        return true;
    }
    let deletes = |pair| matches!(pair, ("-X" | "--request", "DELETE"));
    let deletes = command.pairs().any(deletes) || command.has("-XDELETE");
    deletes
        && operands
            .iter()
            .any(|url| is_database(url) && !is_one_local_test(url))
}

fn is_database(url: &str) -> bool {
    has_any!(url, ":9200 :5984 :8086")
}

/// One index on this machine that its name says is a test's.
fn is_one_local_test(url: &str) -> bool {
    let local = url.contains("localhost") || url.contains("127.0.0.1");
    local && url.contains("test") && !url.contains(['*', mark::STAR])
}
