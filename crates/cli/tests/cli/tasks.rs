//! `ralph tasks`: what Ralph sees in a task file, in all five formats.

use serde_json::{Value, json};

use crate::bad_input::{NOTHING, changes};
use crate::env::TestEnv;
use crate::languages::in_all_languages;

const SPEC_KIT: (&str, &str) = (
    "specs/001-shop/tasks.md",
    "# Tasks: Shop\n\n## Format: `[ID] [P?] [Story] Description`\n\n\
     - **[P]**: Can run in parallel\n\n\
     ## Phase 1: Setup\n\n\
     - [x] T001 Make the project\n- [X] T002 [P] Configure the linter in .lint\n\n\
     ## Phase 2: User Story 1 (Priority: P1)\n\n\
     ### Tests\n\n- [ ] T003 [P] [US1] Test the basket in tests/basket.rs\n\
     ```\n- [ ] T900 An example in a fence\n```\n\
     - [ ] T004 [US1] Write the basket\n\n**Checkpoint**: The basket works\n\n\
     ## Notes\n\n- [P] tasks = different files\n- [Story] label maps a task to its story\n",
);

const OPENSPEC: (&str, &str) = (
    "openspec/changes/add-pay/tasks.md",
    "- Change ID: add-pay\n- Status: IN_PROGRESS\n\n\
     ## 1. Cards (sequential)\n\n\
     - [x] 1.1 Take a card | agent: developer | files: src/card.ts\n\
     - [ ] 1.2 Charge it | agent: developer | depends: 1.1\n  * [ ] 1.2.1 Round to cents\n\n\
     ## 2. Receipts (parallel, depends: 1)\n\n\
     - [ ] 2.1 Print | agent: designer\n- [ ] 2.2 Mail | agent: tester | output: report\n",
);

const PRD: (&str, &str) = (
    "prd.json",
    "{\n  \"project\": \"Shop\",\n  \"branchName\": \"ralph/shop\",\n  \"userStories\": [\n\
     \x20   {\"id\": \"US-1\", \"title\": \"Basket\", \"acceptanceCriteria\": [\"It fills\"], \"priority\": 2, \"passes\": false, \"notes\": \"\"},\n\
     \x20   {\"id\": \"US-2\", \"title\": \"Checkout\", \"acceptanceCriteria\": [], \"priority\": 1, \"passes\": false, \"notes\": \"\"},\n\
     \x20   {\"id\": \"US-3\", \"title\": \"Login\", \"acceptanceCriteria\": [], \"priority\": 3, \"passes\": true, \"notes\": \"\"}\n  ]\n}\n",
);

const FIX_PLAN: (&str, &str) = (
    ".ralph/fix_plan.md",
    "# Fix Plan\n\n## High Priority\n\n- [ ] Repair the login\n- [x] Repair the search\n\n\
     ## Nice to Have\n\n- [ ] Dark mode\n\n## Completed\n\n- [x] Project setup\n",
);

const PLAIN: (&str, &str) = (
    "tasks.md",
    "\u{feff}To do:\r\n\r\n* [ ] Buy milk\r\n\t+ [x] Find the shop\r\n* [ ] Drink it\r\n",
);

const ALL: [(&str, &str); 5] = [SPEC_KIT, OPENSPEC, PRD, FIX_PLAN, PLAIN];

fn project((name, text): (&str, &str)) -> TestEnv {
    let env = TestEnv::new();
    env.write(name, text);
    env
}

/// A command that only looks: exit code 0, nothing said on the side, nothing
/// changed.
fn look(env: &TestEnv, args: &[&str]) -> String {
    let before = env.snapshot();
    let args: Vec<&str> = ["tasks"].iter().chain(args).copied().collect();
    let done = env.ralph(&args);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
    assert_eq!(changes(env, &before), NOTHING, "{args:?}");
    done.stdout
}

fn look_json(env: &TestEnv, args: &[&str]) -> Value {
    let args: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--json", "--lang", "zh-TW"])
        .collect();
    serde_json::from_str(&look(env, &args)).unwrap()
}

#[test]
fn every_format_is_listed() {
    let lists = ALL.map(|file| look(&project(file), &[]));
    insta::assert_snapshot!(lists.join("\n"), @"
    specs/001-shop/tasks.md (spec-kit): 2/4 tasks done, 2 to do

    1 Setup
      [x] T001 Make the project
      [x] T002 Configure the linter in .lint

    2 User Story 1 (Priority: P1)
      [ ] T003 Test the basket in tests/basket.rs
      [ ] T004 Write the basket

    openspec/changes/add-pay/tasks.md (openspec): 1/5 tasks done, 4 to do

    1 Cards
      [x] 1.1 Take a card
      [ ] 1.2 Charge it
        [ ] 1.2.1 Round to cents

    2 Receipts
      [ ] 2.1 Print
      [ ] 2.2 Mail

    prd.json (prd.json): 1/3 tasks done, 2 to do
      [ ] US-1 Basket
      [ ] US-2 Checkout
      [x] US-3 Login

    .ralph/fix_plan.md (fix_plan): 2/3 tasks done, 1 to do

    1 High Priority
      [ ] #1 Repair the login
      [x] #2 Repair the search

    2 Nice to Have
      [ ] #3 Dark mode (optional)

    3 Completed
      [x] #4 Project setup

    tasks.md (plain): 1/3 tasks done, 2 to do
      [ ] #1 Buy milk
        [x] #2 Find the shop
      [ ] #3 Drink it
    ");
}

#[test]
fn a_list_in_every_language() {
    let env = project(FIX_PLAN);
    insta::assert_snapshot!(in_all_languages(|lang| look(&env, &["--lang", lang])), @"
    --- en
    .ralph/fix_plan.md (fix_plan): 2/3 tasks done, 1 to do

    1 High Priority
      [ ] #1 Repair the login
      [x] #2 Repair the search

    2 Nice to Have
      [ ] #3 Dark mode (optional)

    3 Completed
      [x] #4 Project setup

    --- zh-TW
    .ralph/fix_plan.md（fix_plan）：2/3 任務完成，剩餘 1

    1 High Priority
      [ ] #1 Repair the login
      [x] #2 Repair the search

    2 Nice to Have
      [ ] #3 Dark mode（可選）

    3 Completed
      [x] #4 Project setup

    --- zh-CN
    .ralph/fix_plan.md（fix_plan）：2/3 任务完成，剩余 1

    1 High Priority
      [ ] #1 Repair the login
      [x] #2 Repair the search

    2 Nice to Have
      [ ] #3 Dark mode（可选）

    3 Completed
      [x] #4 Project setup
    ");
}

#[test]
fn every_format_has_the_same_shape_in_json() {
    for (file, text) in ALL {
        let list = look_json(&project((file, text)), &["list"]);
        assert_eq!(list["file"], file);
        let tasks = list["tasks"].as_array().unwrap();
        let phases = list["phases"].as_array().unwrap();
        for key in ["total", "completed", "pending"] {
            assert!(list[key].is_u64(), "{file} {key}");
        }
        assert_eq!(
            list["total"].as_u64().unwrap(),
            list["completed"].as_u64().unwrap() + list["pending"].as_u64().unwrap()
        );
        for task in tasks {
            assert!(task["id"].is_string(), "{task}");
            assert!(task["text"].is_string(), "{task}");
            assert!(task["done"].is_boolean(), "{task}");
            assert!(task["line"].is_u64(), "{task}");
            let phase = &task["phase"];
            assert!(
                phase.is_null() || phases.iter().any(|p| p["key"] == *phase),
                "{task}"
            );
            let line = task["line"].as_u64().unwrap() as usize;
            let line = text.lines().nth(line - 1).unwrap();
            let text = task["text"].as_str().unwrap();
            assert!(line.contains(text), "{file}: {text} is not in {line}");
        }
    }
}

#[test]
fn json_of_every_format() {
    let short = |file| {
        let list = look_json(&project(file), &[]);
        let counts = json!([
            list["format"], list["total"], list["completed"], list["pending"]
        ]);
        let phases: Vec<String> = list["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| format!("  {p}"))
            .collect();
        let tasks: Vec<String> = list["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| format!("  {t}"))
            .collect();
        format!("{counts}\n{}\n{}\n", phases.join("\n"), tasks.join("\n"))
    };
    insta::assert_snapshot!(ALL.map(short).concat(), @r##"
    ["spec-kit",4,2,2]
      {"key":"1","title":"Setup","line":7,"mode":"sequential","depends":[],"optional":false,"total":2,"completed":2,"pending":0}
      {"key":"2","title":"User Story 1 (Priority: P1)","line":12,"mode":"sequential","depends":[],"optional":false,"total":2,"completed":0,"pending":2}
      {"id":"T001","text":"Make the project","done":true,"phase":"1","line":9,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"T002","text":"Configure the linter in .lint","done":true,"phase":"1","line":10,"depth":0,"optional":false,"parallel":true,"depends":[],"files":[]}
      {"id":"T003","text":"Test the basket in tests/basket.rs","done":false,"phase":"2","line":16,"depth":0,"optional":false,"parallel":true,"depends":[],"files":[],"story":"US1"}
      {"id":"T004","text":"Write the basket","done":false,"phase":"2","line":20,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"story":"US1"}
    ["openspec",5,1,4]
      {"key":"1","title":"Cards","line":4,"mode":"sequential","depends":[],"optional":false,"total":3,"completed":1,"pending":2}
      {"key":"2","title":"Receipts","line":10,"mode":"parallel","depends":["1"],"optional":false,"total":2,"completed":0,"pending":2}
      {"id":"1.1","text":"Take a card","done":true,"phase":"1","line":6,"depth":0,"optional":false,"parallel":false,"depends":[],"files":["src/card.ts"],"agent":"developer"}
      {"id":"1.2","text":"Charge it","done":false,"phase":"1","line":7,"depth":0,"optional":false,"parallel":false,"depends":["1.1"],"files":[],"agent":"developer"}
      {"id":"1.2.1","text":"Round to cents","done":false,"phase":"1","line":8,"depth":1,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"2.1","text":"Print","done":false,"phase":"2","line":12,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"agent":"designer"}
      {"id":"2.2","text":"Mail","done":false,"phase":"2","line":13,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"agent":"tester","output":"report"}
    ["prd.json",3,1,2]

      {"id":"US-1","text":"Basket","done":false,"phase":null,"line":5,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"priority":2}
      {"id":"US-2","text":"Checkout","done":false,"phase":null,"line":6,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"priority":1}
      {"id":"US-3","text":"Login","done":true,"phase":null,"line":7,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[],"priority":3}
    ["fix_plan",3,2,1]
      {"key":"1","title":"High Priority","line":3,"mode":"sequential","depends":[],"optional":false,"total":2,"completed":1,"pending":1}
      {"key":"2","title":"Nice to Have","line":8,"mode":"sequential","depends":[],"optional":true,"total":1,"completed":0,"pending":1}
      {"key":"3","title":"Completed","line":12,"mode":"sequential","depends":[],"optional":false,"total":1,"completed":1,"pending":0}
      {"id":"#1","text":"Repair the login","done":false,"phase":"1","line":5,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"#2","text":"Repair the search","done":true,"phase":"1","line":6,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"#3","text":"Dark mode","done":false,"phase":"2","line":10,"depth":0,"optional":true,"parallel":false,"depends":[],"files":[]}
      {"id":"#4","text":"Project setup","done":true,"phase":"3","line":14,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
    ["plain",3,1,2]

      {"id":"#1","text":"Buy milk","done":false,"phase":null,"line":3,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"#2","text":"Find the shop","done":true,"phase":null,"line":4,"depth":1,"optional":false,"parallel":false,"depends":[],"files":[]}
      {"id":"#3","text":"Drink it","done":false,"phase":null,"line":5,"depth":0,"optional":false,"parallel":false,"depends":[],"files":[]}
    "##);
}

#[test]
fn the_next_task_of_every_format() {
    let next = ALL.map(|file| {
        let env = project(file);
        format!("{}{}\n", look(&env, &["next"]), look_json(&env, &["next"]))
    });
    insta::assert_snapshot!(next.concat(), @r##"
    T003 Test the basket in tests/basket.rs
    {"next":[{"id":"T003","text":"Test the basket in tests/basket.rs","line":16}]}
    1.2 Charge it
    {"next":[{"id":"1.2","text":"Charge it","line":7}]}
    US-2 Checkout
    {"next":[{"id":"US-2","text":"Checkout","line":6}]}
    #1 Repair the login
    {"next":[{"id":"#1","text":"Repair the login","line":5}]}
    #1 Buy milk
    {"next":[{"id":"#1","text":"Buy milk","line":3}]}
    "##);
}

#[test]
fn nothing_is_next_where_all_is_done() {
    let env = project(("tasks.md", "- [x] One\n- [x] Two\n"));
    insta::assert_snapshot!(
        in_all_languages(|lang| look(&env, &["next", "--lang", lang])), @"
    --- en
    everything is done

    --- zh-TW
    所有任務已完成

    --- zh-CN
    所有任务已完成
    ");
    assert_eq!(look_json(&env, &["next"]), json!({"next": []}));
}

#[test]
fn one_phase_alone() {
    let env = project(SPEC_KIT);
    insta::assert_snapshot!(look(&env, &["list", "--phase", "2"]), @"
    specs/001-shop/tasks.md (spec-kit): 0/2 tasks done, 2 to do

    2 User Story 1 (Priority: P1)
      [ ] T003 Test the basket in tests/basket.rs
      [ ] T004 Write the basket
    ");
    assert_eq!(
        look(&env, &["next", "--phase", "2"]),
        "T003 Test the basket in tests/basket.rs\n"
    );
    let list = look_json(&env, &["list", "--phase", "2"]);
    assert_eq!(list["total"], 2);
    assert_eq!(list["phases"].as_array().unwrap().len(), 1);
    assert_eq!(list["tasks"].as_array().unwrap().len(), 2);
    for args in [&["list"][..], &["next"]] {
        let args: Vec<&str> = ["tasks"]
            .iter()
            .chain(args)
            .copied()
            .chain(["--phase", "99"])
            .collect();
        let done = env.ralph(&args);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        insta::allow_duplicates! {
            insta::assert_snapshot!(done.stderr, @"ralph: specs/001-shop/tasks.md: there is no phase 99 with tasks; choose one of these with --phase N: 1, 2");
        }
    }
}

/// Ticks a task: exactly these bytes change, and unticking brings them back.
fn check_tick((file, text): (&str, &str), id: &str, open: &str, done: &str) {
    let env = project((file, text));
    let others = || {
        let all = env.snapshot().into_iter();
        all.filter(|(path, _)| *path != env.path(file))
            .collect::<Vec<_>>()
    };
    let before = others();
    assert_eq!(text.matches(open).count(), 1, "{file} {open}");
    let mark = |verb: &str| {
        let done = env.ralph(&["tasks", verb, id]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{file} {id}");
        done.stdout
    };
    let said = mark("tick");
    assert!(said.starts_with(&format!("{file}: [x] {id} ")), "{said}");
    let ticked = text.replacen(open, done, 1);
    assert_eq!(env.read(file), ticked, "{file} {id}");
    mark("tick");
    assert_eq!(env.read(file), ticked, "ticking twice is ticking once");
    let said = mark("untick");
    assert!(said.starts_with(&format!("{file}: [ ] {id} ")), "{said}");
    assert_eq!(env.read(file), text, "{file} {id}");
    assert_eq!(others(), before, "something else was changed");
}

#[test]
fn a_tick_changes_the_box_and_nothing_else() {
    check_tick(SPEC_KIT, "T003", "[ ] T003", "[x] T003");
    check_tick(OPENSPEC, "1.2.1", "[ ] 1.2.1", "[x] 1.2.1");
    check_tick(
        PRD,
        "US-2",
        "\"priority\": 1, \"passes\": false",
        "\"priority\": 1, \"passes\": true",
    );
    check_tick(
        FIX_PLAN, "#1", "[ ] Repair the login", "[x] Repair the login",
    );
    check_tick(PLAIN, "#3", "[ ] Drink", "[x] Drink");
}

#[test]
fn a_tick_is_told_to_programs_too() {
    let env = project(SPEC_KIT);
    let done = env.ralph(&["tasks", "tick", "T003", "--json"]);
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        told,
        json!({"id": "T003", "text": "Test the basket in tests/basket.rs", "done": true, "line": 16})
    );
}

#[test]
fn a_task_that_is_not_there_is_not_ticked() {
    let env = project(SPEC_KIT);
    let before = env.snapshot();
    let shown = in_all_languages(|lang| {
        [
            &["tick", "T999"][..],
            &["untick", "T900"],
            &["tick"],
            &["untick"],
        ]
        .map(|args| {
            let args: Vec<&str> = ["tasks", "--lang", lang]
                .iter()
                .chain(args)
                .copied()
                .collect();
            let done = env.ralph(&args);
            assert_eq!((done.code, done.stdout.as_str()), (1, ""));
            done.stderr
        })
        .concat()
    });
    insta::assert_snapshot!(shown, @"
    --- en
    ralph: specs/001-shop/tasks.md has no task T999; run `ralph tasks list` to see the ids
    ralph: specs/001-shop/tasks.md has no task T900; run `ralph tasks list` to see the ids
    ralph: which task? give its id, such as `ralph tasks tick T001`; `ralph tasks list` shows all
    ralph: which task? give its id, such as `ralph tasks untick T001`; `ralph tasks list` shows all

    --- zh-TW
    ralph: specs/001-shop/tasks.md 沒有任務 T999；執行 `ralph tasks list` 查看所有編號
    ralph: specs/001-shop/tasks.md 沒有任務 T900；執行 `ralph tasks list` 查看所有編號
    ralph: 哪個任務？請給編號，例如 `ralph tasks tick T001`；`ralph tasks list` 列出全部
    ralph: 哪個任務？請給編號，例如 `ralph tasks untick T001`；`ralph tasks list` 列出全部

    --- zh-CN
    ralph: specs/001-shop/tasks.md 没有任务 T999；运行 `ralph tasks list` 查看所有编号
    ralph: specs/001-shop/tasks.md 没有任务 T900；运行 `ralph tasks list` 查看所有编号
    ralph: 哪个任务？请给出编号，例如 `ralph tasks tick T001`；`ralph tasks list` 列出全部
    ralph: 哪个任务？请给出编号，例如 `ralph tasks untick T001`；`ralph tasks list` 列出全部
    ");
    assert_eq!(changes(&env, &before), NOTHING);
}

const DOUBTFUL: (&str, &str) = (
    "openspec/changes/odd/tasks.md",
    "- [ ] 0.1 Before any section\n\n## 1. Work\n\n\
     - [ ] 1.1 One | depends: 1.2\n- [ ] 1.2 Two | depends: 1.1\n- [ ] 1.2 Two again\n\
     - [ ] 1.3 Three | depends: 9.9\n- [ ] 1.4 Four | colour: red | agent: wizard\n\
     - [ ] 1.5 Ask the user for approval\n- [x] 1.6 Six\n  - [ ] 1.6.1 Below six\n\
     - [ ] \n-[ ] 1.7 No space\n\n```\n- [ ] 1.8 In a fence that never ends\n",
);

#[test]
fn lint_finds_what_is_doubtful() {
    let env = project(DOUBTFUL);
    let before = env.snapshot();
    let shown = in_all_languages(|lang| {
        let done = env.ralph(&["tasks", "lint", "--lang", lang]);
        assert_eq!((done.code, done.stderr.as_str()), (1, ""));
        done.stdout
    });
    insta::assert_snapshot!(shown, @r#"
    --- en
    openspec/changes/odd/tasks.md:1: task 0.1 is a box outside a task section; it counts, but belongs to no phase: move it below a phase heading, or make it a plain bullet
    openspec/changes/odd/tasks.md:5: these wait for each other: 1.1 → 1.2 → 1.1; take one of the dependencies out
    openspec/changes/odd/tasks.md:7: id 1.2 is already used on line 6; give this task another one
    openspec/changes/odd/tasks.md:8: 1.3 depends on 9.9, which is not in this file; correct the id or take it out
    openspec/changes/odd/tasks.md:9: task 1.4 has a field "colour" that Ralph does not know; use agent, files, output, depends, risk, verify, proof or may-change
    openspec/changes/odd/tasks.md:9: task 1.4 names the agent "wizard"; use developer, reviewer, tester, designer or debugger
    openspec/changes/odd/tasks.md:10: task 1.5 asks for a person ("ask the user") and would stop an unattended run; reword it, make it optional, or do it first
    openspec/changes/odd/tasks.md:12: task 1.6.1 is open, but task 1.6 above it is ticked; untick 1.6 or finish 1.6.1
    openspec/changes/odd/tasks.md:13: task #10 is a box without a text; write what is to be done, or delete the line
    openspec/changes/odd/tasks.md:14: this looks like a task and is not counted: -[ ] 1.7 No space; write it as `- [ ] text` or `- [x] text`
    openspec/changes/odd/tasks.md:16: this code fence is never closed, so boxes below it count as tasks; close it with the same marks on a line of their own

    --- zh-TW
    openspec/changes/odd/tasks.md:1: 任務 0.1 位於任務區段之外；它會被計入，但不屬於任何階段：請移到階段標題下，或改成一般項目
    openspec/changes/odd/tasks.md:5: 這些項目互相等待：1.1 → 1.2 → 1.1；請移除其中一個依賴
    openspec/changes/odd/tasks.md:7: 編號 1.2 已在第 6 行使用；請給這個任務另一個編號
    openspec/changes/odd/tasks.md:8: 1.3 依賴 9.9，但檔案中沒有它；請修正編號或移除
    openspec/changes/odd/tasks.md:9: 任務 1.4 有 Ralph 不認識的欄位「colour」；請用 agent、files、output、depends、risk、verify、proof 或 may-change
    openspec/changes/odd/tasks.md:9: 任務 1.4 指定的 agent「wizard」不存在；請使用 developer、reviewer、tester、designer 或 debugger
    openspec/changes/odd/tasks.md:10: 任務 1.5 需要真人處理（「ask the user」），會卡住無人值守的執行；請改寫、設為選做，或先完成它
    openspec/changes/odd/tasks.md:12: 任務 1.6.1 尚未完成，但上層任務 1.6 已勾選；請取消勾選 1.6，或完成 1.6.1
    openspec/changes/odd/tasks.md:13: 任務 #10 只有方框沒有內容；請寫明要做什麼，或刪除該行
    openspec/changes/odd/tasks.md:14: 這一行像任務但不會被計入：-[ ] 1.7 No space；請寫成 `- [ ] 內容` 或 `- [x] 內容`
    openspec/changes/odd/tasks.md:16: 這個程式碼區塊沒有結尾，其後的方框都會算成任務；請用相同的符號另起一行結束它

    --- zh-CN
    openspec/changes/odd/tasks.md:1: 任务 0.1 位于任务区段之外；它会被计入，但不属于任何阶段：请移到阶段标题下，或改成普通项目
    openspec/changes/odd/tasks.md:5: 这些项目互相等待：1.1 → 1.2 → 1.1；请移除其中一个依赖
    openspec/changes/odd/tasks.md:7: 编号 1.2 已在第 6 行使用；请给这个任务另一个编号
    openspec/changes/odd/tasks.md:8: 1.3 依赖 9.9，但文件中没有它；请修正编号或移除
    openspec/changes/odd/tasks.md:9: 任务 1.4 有 Ralph 不认识的字段“colour”；请用 agent、files、output、depends、risk、verify、proof 或 may-change
    openspec/changes/odd/tasks.md:9: 任务 1.4 指定的 agent“wizard”不存在；请使用 developer、reviewer、tester、designer 或 debugger
    openspec/changes/odd/tasks.md:10: 任务 1.5 需要真人处理（“ask the user”），会卡住无人值守的运行；请改写、设为选做，或先完成它
    openspec/changes/odd/tasks.md:12: 任务 1.6.1 尚未完成，但上层任务 1.6 已勾选；请取消勾选 1.6，或完成 1.6.1
    openspec/changes/odd/tasks.md:13: 任务 #10 只有方框没有内容；请写明要做什么，或删除该行
    openspec/changes/odd/tasks.md:14: 这一行像任务但不会被计入：-[ ] 1.7 No space；请写成 `- [ ] 内容` 或 `- [x] 内容`
    openspec/changes/odd/tasks.md:16: 这个代码块没有结尾，其后的方框都会算成任务；请用相同的符号另起一行结束它
    "#);
    assert_eq!(changes(&env, &before), NOTHING);

    let done = env.ralph(&["tasks", "lint", "--json"]);
    assert_eq!(done.code, 1);
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(found["file"], DOUBTFUL.0);
    let kinds: Vec<String> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| format!("{} {}", f["line"], f["kind"].as_str().unwrap()))
        .collect();
    insta::assert_snapshot!(kinds.join("\n"), @"
    1 outside_section
    5 cycle
    7 duplicate_id
    8 unknown_dependency
    9 unknown_field
    9 unknown_agent
    10 human_only
    12 open_below_done
    13 empty_text
    14 not_a_box
    16 unclosed_fence
    ");
}

#[test]
fn lint_has_nothing_to_say_about_sound_files() {
    for file in ALL {
        let env = project(file);
        assert_eq!(
            look(&env, &["lint"]),
            format!("{}: nothing doubtful\n", file.0)
        );
        assert_eq!(
            look_json(&env, &["lint"]),
            json!({"file": file.0, "findings": []})
        );
    }
    let env = project(PLAIN);
    insta::assert_snapshot!(
        in_all_languages(|lang| look(&env, &["lint", "--lang", lang])), @"
    --- en
    tasks.md: nothing doubtful

    --- zh-TW
    tasks.md：沒有問題

    --- zh-CN
    tasks.md：没有问题
    ");
}

#[test]
fn a_file_can_be_named_from_anywhere() {
    let env = project(SPEC_KIT);
    env.write("sub/dir/list.md", "- [ ] Elsewhere\n");
    let mut command = env.command(&["tasks", "next", "--tasks", "list.md"]);
    let output = command.current_dir(env.path("sub/dir")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "#1 Elsewhere\n");
    let mut command = env.command(&["tasks", "next"]);
    let output = command.current_dir(env.path("sub/dir")).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "T003 Test the basket in tests/basket.rs\n"
    );
}

/// Counts that a file keeps of itself go along with a tick by hand (TASK-11).
#[test]
fn ticking_by_hand_keeps_the_progress_block_in_step() {
    let env = TestEnv::new();
    let list = "# Tasks\n\n## Progress\n\n- Total: 2\n- Completed: 0\n- Status: NOT_STARTED\n\n## Phase 1: Work\n\n- [ ] T001 one\n- [ ] T002 two\n";
    env.write("tasks.md", list);
    for (id, completed, status) in [("T001", 1, "IN_PROGRESS"), ("T002", 2, "COMPLETED")] {
        assert_eq!(env.ralph(&["tasks", "tick", id]).code, 0);
        let now = env.read("tasks.md");
        assert!(
            now.contains(&format!("- Completed: {completed}\n")),
            "{now}"
        );
        assert!(now.contains(&format!("- Status: {status}\n")), "{now}");
    }
}

/// TASK-10: what can't be started at the start can't be later either, and no
/// agent is called for nothing.
#[test]
fn a_run_whose_tasks_all_wait_is_paused_with_the_reason() {
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] T001 a\n- [ ] T002 b | depends: T009\n");
    let turn = json!({"write": {"a.txt": "1"}, "tick": ["T001"], "say": "done"});
    let (done, events) = env.run_script(&[turn.clone(), turn], &["--max-iterations", "4"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let end = events.last().unwrap();
    assert_eq!(
        (&end["reason"], &end["iterations"]),
        (&json!("depends"), &json!(1))
    );
    let report = env.ralph(&["report"]).stdout;
    assert!(report.contains("No open task can be started"), "{report}");
    // What an agent took out it can put back: nobody is waited for.
    let other = TestEnv::new();
    let list = "- [ ] T001 a\n- [ ] T002 b | depends: T001\n";
    other.write("tasks.md", list);
    let turns = [
        json!({"write": {"tasks.md": "- [ ] T002 b | depends: T001\n"}, "say": "done"}),
        json!({"write": {"tasks.md": list, "a.txt": "1"}, "tick": ["T001"], "say": "done"}),
        json!({"write": {"b.txt": "1"}, "tick": ["T002"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, _) = other.run_script(&turns, &["--max-iterations", "4"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    // A person sees to it.
    env.write("tasks.md", "- [x] T001 a\n- [ ] T002 b\n");
    let on = env.ralph(&["resume", "--yes", "--json"]);
    assert!(on.stdout.contains("\"task\":\"T002\""), "{}", on.stdout);
}

/// Two tasks of one name: whoever starts a run hears of it, not only whoever
/// asks.
#[test]
fn a_list_that_a_run_can_trip_over_is_told_at_the_start() {
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] T001 a\n- [ ] T002 b | proof: persn\n");
    let agent = env.agent(&[json!({"say": "<promise>CONTINUE</promise>"})]);
    let told = "task file, line 2: task T002 asks for the proof";
    for how in [&["--dry-run"][..], &["--max-iterations", "1"]] {
        let done = env.ralph(&[&["run", "--agent-cmd", &agent], how].concat());
        let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(told), "{how:?}: {}", done.stdout);
    }
}

/// REIN-06: what stands in a file is data, also for the agent.
#[test]
fn no_control_character_of_a_list_reaches_the_agent() {
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] T001 do \u{1b}[31mred\u{7} things\n");
    let (script, heard) = (env.outside("agent.sh"), env.outside("prompt"));
    std::fs::write(&script, format!("cat > {}", heard.display())).unwrap();
    let agent = format!("sh {}", script.display());
    env.ralph(&["run", "--max-iterations", "1", "--agent-cmd", &agent]);
    let prompt = std::fs::read_to_string(heard).unwrap();
    assert!(prompt.contains("do red things"), "{prompt:?}");
    assert!(!prompt.contains(['\u{1b}', '\u{7}']), "{prompt:?}");
}

/// Whoever looks over a shoulder, or keeps the output of a command (XCUT-06).
#[test]
fn a_key_in_the_words_of_a_task_is_shown_to_nobody() {
    let env = TestEnv::new();
    let key = "sk-proj-a1B2c3D4e5F6g7H8i9";
    env.write(
        "tasks.md",
        &format!("# T\n\n- [ ] T001 Call the service with {key}\n"),
    );
    let list = [
        "list", "list --json", "next", "next --json", "graph", "graph --svg", "lint",
    ];
    let mark = ["tick T001", "untick T001 --json"];
    for words in list.into_iter().chain(mark) {
        let args: Vec<&str> = ["tasks"].into_iter().chain(words.split(' ')).collect();
        let done = env.ralph(&args);
        assert!(!done.stdout.contains(key), "{words}: {}", done.stdout);
        let names_it = words == "lint" || done.stdout.contains("[red");
        assert!(names_it, "{words}: {}", done.stdout);
    }
    assert!(env.read("tasks.md").contains(key));
}

/// Nobody has to do it, and the end hides nothing (TASK-14).
#[test]
fn what_is_optional_and_open_is_said_at_the_end() {
    let env = TestEnv::new();
    env.write(
        ".ralph/fix_plan.md",
        "# Plan\n\n## High\n- [x] a\n\n## Optional\n- [ ] b\n- [x] c\n",
    );
    let done = env.ralph(&["run", "--agent-cmd", "true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("- 1 optional task is open"),
        "{}",
        done.stdout
    );
}
