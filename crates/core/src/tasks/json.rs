//! The list as `ralph tasks --json` prints it. Keys are never translated.

use serde_json::{Map, Value, json};

use super::model::{Phase, Scope, Task, TaskList};

impl TaskList {
    pub fn to_json(&self, file: &str) -> Value {
        let counts = self.counts(&Scope::default());
        let phases = self.phases.iter().enumerate();
        let phases: Vec<Value> = phases.map(|(i, phase)| self.phase_json(i, phase)).collect();
        let tasks: Vec<Value> = self.tasks.iter().map(|task| self.task_json(task)).collect();
        json!({
            "file": file,
            "format": self.format.into_str(),
            "total": counts.total,
            "completed": counts.completed,
            "pending": counts.pending,
            "phases": phases,
            "tasks": tasks,
        })
    }

    fn phase_json(&self, index: usize, phase: &Phase) -> Value {
        let counts = self.phase_counts(index);
        json!({
            "key": phase.key,
            "title": phase.title,
            "line": phase.line,
            "mode": phase.mode.into_str(),
            "depends": phase.depends,
            "optional": phase.optional,
            "total": counts.total,
            "completed": counts.completed,
            "pending": counts.pending,
        })
    }

    fn task_json(&self, task: &Task) -> Value {
        let phase = task.phase.and_then(|phase| self.phases.get(phase));
        let mut value = Map::new();
        let mut put = |key: &str, entry: Value| value.insert(key.to_owned(), entry);
        put("id", json!(task.id));
        put("text", json!(task.text));
        put("done", json!(task.done));
        put("phase", json!(phase.map(|phase| &phase.key)));
        put("line", json!(task.line));
        put("depth", json!(task.depth));
        put("optional", json!(task.optional));
        put("parallel", json!(task.parallel));
        put("depends", json!(task.depends));
        put("files", json!(task.files));
        for (key, entry) in [
            ("story", &task.story),
            ("agent", &task.agent),
            ("output", &task.output),
        ] {
            if let Some(entry) = entry {
                put(key, json!(entry));
            }
        }
        if let Some(priority) = task.priority {
            put("priority", number(priority));
        }
        if !task.verify.is_empty() {
            put("verify", json!(task.verify));
        }
        if !task.fields.is_empty() {
            let fields = task.fields.iter();
            let fields = fields.map(|(key, entry)| (key.clone(), json!(entry)));
            put("fields", Value::Object(fields.collect()));
        }
        Value::Object(value)
    }
}

/// `1`, not `1.0`, where the number is whole.
fn number(priority: f64) -> Value {
    let whole = priority as i64;
    if whole as f64 == priority {
        json!(whole)
    } else {
        json!(priority)
    }
}
