//! Databases: what drops or empties them.

use super::files;
use crate::RuleId;
use crate::meaning::env::{Env, Flow};
use crate::meaning::walk::{Command, Walker};

const SQL_CLIENTS: &[&str] = words!(
    "psql mysql mariadb sqlite3 sqlite sqlcmd sqlplus cockroach clickhouse-client clickhouse
     duckdb cqlsh pgcli mycli usql bq snowsql trino presto osql isql wrangler"
);

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    let name = command.name;
    let args = command.args;
    if SQL_CLIENTS.contains(&name) {
        for text in args.iter().chain(stdin_text(command).as_ref()) {
            let text = match text.strip_prefix("--") {
                Some(option) => option.split_once('=').map_or("", |(_, sql)| sql),
                None => text,
            };
            let shell = [".shell ", ".system ", "\\! ", "system "]
                .iter()
                .find_map(|start| text.trim().strip_prefix(start));
            if let Some(shell) = shell {
                walker.code(shell, &mut env.clone(), &Flow::Unknown);
            }
            if destroys(text) {
                walker.report(RuleId::DbDestroy, text);
            }
            copies(walker, text, env);
            touches_files(walker, text, env);
        }
        if name == "bq" && args.iter().any(|word| word == "rm") {
            walker.report(RuleId::DbDestroy, "bq rm");
        }
        return;
    }
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let operands: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let has = |flag: &str| words.contains(&flag);
    let destroys = match (name, operands.as_slice()) {
        ("dropdb" | "dropuser", _) => true,
        ("mysqladmin" | "mariadb-admin", all) => all.contains(&"drop") || all.contains(&"shutdown"),
        ("cypher-shell", all) => {
            let text = stdin_text(command).unwrap_or_default();
            all.iter().chain([&text.as_str()]).any(|text| {
                let upper = text.to_ascii_uppercase();
                upper.contains("DELETE") && !upper.contains("WHERE")
            })
        }
        ("neo4j-admin", all) => all.contains(&"delete"),
        ("pg_resetwal" | "pg_rewind", _) => true,
        ("migrate" | "tern" | "goose", all) => {
            all.contains(&"drop") || all.contains(&"reset") || all.ends_with(&["down"])
        }
        ("flask", ["db", "downgrade", "base", ..]) => true,
        ("hasura", ["metadata", "clear", ..]) => true,
        ("redis-cli" | "valkey-cli", all) => {
            let text = stdin_text(command).unwrap_or_default();
            let many = |pair: &[&str]| {
                matches!(pair, [verb, key] if (verb.eq_ignore_ascii_case("del")
                    || verb.eq_ignore_ascii_case("unlink"))
                    && crate::meaning::mark::has_computed(key))
            };
            let server = matches!(
                all,
                [verb, ..] if verb.eq_ignore_ascii_case("shutdown")
            ) || all.windows(2).any(|pair| {
                matches!(pair, [verb, set] if verb.eq_ignore_ascii_case("config")
                    && set.eq_ignore_ascii_case("set"))
            });
            let evaluated = |word: &&str| word.contains("flush");
            server
                || all.iter().any(evaluated)
                || all.iter().any(|word| is_flush(word))
                || text.split_whitespace().any(is_flush)
                || all.windows(2).any(many)
        }
        ("mongo" | "mongosh", all) => {
            let text = stdin_text(command).unwrap_or_default();
            all.iter().chain([&text.as_str()]).any(|text| {
                words!("dropDatabase .drop( deleteMany({}) remove({}) shutdown")
                    .iter()
                    .any(|call| text.contains(call))
            })
        }
        ("rails" | "rake" | "bin/rails", all) => all.iter().any(|task| {
            words!("db:drop db:reset db:schema:load db:migrate:reset db:truncate_all db:purge")
                .contains(task)
        }),
        ("prisma", ["migrate", "reset", ..] | ["db", "push", ..]) => {
            operands.first() == Some(&"migrate")
                || has("--force-reset")
                || has("--accept-data-loss")
        }
        ("php", ["artisan", task, ..]) => {
            words!("migrate:fresh migrate:reset migrate:refresh db:wipe").contains(task)
        }
        ("artisan", [task, ..]) => {
            words!("migrate:fresh migrate:reset migrate:refresh db:wipe").contains(task)
        }
        ("python" | "python3", ["manage.py", "flush" | "reset_db" | "sqlflush", ..]) => {
            operands.get(1) != Some(&"sqlflush")
        }
        ("manage.py", ["flush" | "reset_db", ..]) => true,
        ("sequelize" | "sequelize-cli", all) => all
            .iter()
            .any(|task| *task == "db:drop" || *task == "db:migrate:undo:all"),
        ("typeorm", ["schema:drop", ..]) => true,
        ("knex", ["migrate:rollback", ..]) => has("--all"),
        ("supabase", ["db", "reset", ..]) => true,
        ("mix", [task, ..]) => *task == "ecto.drop" || *task == "ecto.reset",
        ("alembic", ["downgrade", "base", ..]) => true,
        ("flyway", all) => all.contains(&"clean"),
        ("liquibase", all) => all
            .iter()
            .any(|task| task.eq_ignore_ascii_case("dropAll") || *task == "drop-all"),
        ("drizzle-kit", ["drop", ..]) => true,
        ("dbmate", ["drop", ..]) => true,
        ("pg_restore", _) => has("--clean") || has("-c"),
        ("mongorestore", _) => has("--drop"),
        ("pg_dropcluster", _) => true,
        ("influx", all) => all.contains(&"delete"),
        ("curl", all) => deletes_index(all, &words),
        ("hasura", ["migrate", "apply", ..]) => has("--down"),
        _ => false,
    };
    if destroys || !RUNNERS.contains(&name) && drops_by_name(&operands) {
        walker.report(RuleId::DbDestroy, &format!("{name} {}", args.join(" ")));
    }
}

/// Programs whose words are names that a project gave to its own scripts.
const RUNNERS: &[&str] =
    words!("npm pnpm yarn bun make just task nx turbo echo grep rg git docker");

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
        walker.code(text, &mut env.clone(), &Flow::Unknown);
        walker.report(RuleId::OpaqueCode, sql);
    } else if let Some(path) = upper
        .find(" TO '")
        .or_else(|| upper.find("OUTFILE '"))
        .and_then(quoted)
    {
        files::write(walker, path, env);
    }
}

fn stdin_text(command: &Command) -> Option<String> {
    match command.stdin {
        Flow::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn is_flush(word: &str) -> bool {
    word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb")
}

/// Functions and commands of databases that read or write files.
fn touches_files(walker: &mut Walker, text: &str, env: &Env) {
    let lower = text.to_ascii_lowercase();
    let reads = words!("pg_read_file( load_file( lo_import( readfile( pg_ls_dir(");
    let writes = ["writefile(", "lo_export(", "into outfile", "into dumpfile"];
    for (starts, writes) in [(&reads[..], false), (&writes[..], true)] {
        for start in starts {
            let Some(at) = lower.find(start) else {
                continue;
            };
            let rest = text.get(at..).unwrap_or_default();
            let path = rest
                .split(['\'', '"'])
                .nth(1)
                .unwrap_or_default()
                .to_owned();
            if writes {
                files::write(walker, &path, env);
            } else {
                files::read(walker, &path, env);
            }
        }
    }
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
    if ["xp_cmdshell", "sys_exec(", "sys_eval("]
        .iter()
        .any(|word| lower.contains(word))
    {
        walker.report(RuleId::OpaqueCode, text);
    }
}

/// `curl -X DELETE localhost:9200/_all` empties a search engine.
fn deletes_index(operands: &[&str], words: &[&str]) -> bool {
    let by_query = |url: &&str| is_database(url) && url.contains("_delete_by_query");
    if operands.iter().any(by_query) {
        return true;
    }
    let deletes = words
        .windows(2)
        .any(|pair| matches!(pair, ["-X" | "--request", "DELETE"]))
        || words.contains(&"-XDELETE");
    deletes
        && operands
            .iter()
            .any(|url| is_database(url) && !is_one_local_test(url))
}

fn is_database(url: &str) -> bool {
    [":9200", ":5984", ":8086"]
        .iter()
        .any(|port| url.contains(port))
}

/// One index on this machine that its name says is a test's.
fn is_one_local_test(url: &str) -> bool {
    let local = url.contains("localhost") || url.contains("127.0.0.1");
    local && url.contains("test") && !url.contains(['*', crate::meaning::mark::STAR])
}

/// SQL that a tool runs.
pub fn judge_sql(walker: &mut Walker, sql: &str) {
    if destroys(sql) {
        walker.report(RuleId::DbDestroy, sql);
    }
}

/// Does this SQL drop, truncate, or delete and update without a condition?
fn destroys(sql: &str) -> bool {
    let upper = without_comments(sql).to_ascii_uppercase();
    upper.split(';').any(|statement| {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let pairs = |first: &str, seconds: &[&str]| {
            words.windows(2).any(|pair| matches!(pair, [a, b] if *a == first && seconds.contains(&b.trim_matches(['"', '`', '('])) ))
        };
        let drops = pairs("DROP", &["TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "KEYSPACE", "COLUMN", "OWNED", "COLLECTION", "TABLESPACE"]);
        let truncates = words.first() == Some(&"TRUNCATE") || pairs("TRUNCATE", &["TABLE"]);
        let has_where = words.contains(&"WHERE");
        let always = statement.contains("WHERE 1=1") || statement.contains("WHERE TRUE") || statement.contains("WHERE 1 = 1");
        let deletes = pairs("DELETE", &["FROM"]) && (!has_where || always);
        let updates = words.first() == Some(&"UPDATE") && words.contains(&"SET") && (!has_where || always);
        drops || truncates || deletes || updates
    })
}

fn without_comments(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(start) = rest.find("/*") {
        let (before, after) = rest.split_at(start);
        plain.push_str(before);
        plain.push(' ');
        rest = after
            .find("*/")
            .and_then(|end| after.get(end + 2..))
            .unwrap_or_default();
    }
    plain.push_str(rest);
    plain
        .lines()
        .map(|line| line.split("--").next().unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}
