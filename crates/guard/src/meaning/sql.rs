//! What SQL drops or empties.

use super::walker::Walker;
use crate::RuleId;

/// SQL that is run, whoever does it.
pub fn judge(walker: &mut Walker, sql: &str) {
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
