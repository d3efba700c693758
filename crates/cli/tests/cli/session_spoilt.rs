//! What an agent in a session does to the list of its loop.

use std::fs;

use serde_json::json;

use crate::env::TestEnv;
use crate::session::{ONE, sent_on};

/// The list that a loop was begun with is its list, whatever its agent does to
/// it or puts beside it.
#[test]
fn an_agent_that_takes_the_list_away_is_not_let_go_stop_02() {
    type Spoil = fn(&TestEnv);
    let spoil: [(&str, Spoil); 5] = [
        ("gone", |env| {
            fs::remove_file(env.path("prd.json")).unwrap();
        }),
        ("a folder", |env| {
            fs::remove_file(env.path("prd.json")).unwrap();
            fs::create_dir(env.path("prd.json")).unwrap();
        }),
        ("torn", |env| env.write("prd.json", "{\"userStories\": [")),
        ("another list, which is done", |env| {
            fs::remove_file(env.path("prd.json")).unwrap();
            env.write("tasks.md", "- [x] T001 a\n");
        }),
        ("another list, which is easy", |env| {
            env.write("tasks.md", "- [ ] T001 nothing\n");
        }),
    ];
    for (what, spoil) in spoil {
        let env = TestEnv::new();
        let list = json!({"userStories": [
            {"id": "US-1", "title": "a", "passes": false},
            {"id": "US-2", "title": "b", "passes": false},
        ]});
        env.write("prd.json", &list.to_string());
        let client = env.claude_session(ONE);
        client.says("/ralph-loop --verify 'test -f done'");
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
        spoil(&env);
        for _ in 0..2 {
            let answer = client.stops("<promise>COMPLETE</promise>");
            let freed = answer["systemMessage"].as_str().unwrap_or_default();
            assert!(answer["decision"] == "block", "{what}: {freed}");
        }
        // It is put back, and the loop goes on with it.
        let _ = fs::remove_dir_all(env.path("prd.json"));
        env.write("prd.json", &list.to_string());
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
        let status = env.json(".ralph/status.json");
        assert_eq!(status["tasks"]["total"], 2, "{what}: {status}");
        let file = status["tasks_file"].as_str().unwrap();
        assert!(file.ends_with("/prd.json"), "{what}: {status}");
    }
}

/// A list that no run would begin with frees nobody who wrote it.
#[test]
fn an_agent_that_spoils_the_list_is_not_let_go_stop_02() {
    for spoilt in [
        "- [x] T001 a\n- [x] T002 b\n- [x] T001 c\n",
        "- [ ] T001 a (depends on T002)\n- [ ] T002 b (depends on T001)\n",
    ] {
        let env = TestEnv::new();
        env.write("tasks.md", "- [ ] T001 a\n- [ ] T002 b\n");
        let client = env.claude_session(ONE);
        client.says("/ralph-loop --tasks tasks.md --verify 'test -f done'");
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
        env.write("tasks.md", spoilt);
        let answer = client.stops("<promise>COMPLETE</promise>");
        let freed = answer["systemMessage"].as_str().unwrap_or_default();
        assert!(answer["decision"] == "block", "{spoilt}: {freed}");
    }
}
