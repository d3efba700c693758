//! Every text to a person, in three languages.

use super::*;
use crate::lang::{Lang, Say};
use crate::tasks::{Changes, Finding, FindingKind, Format, Unclosed, Unmet, Waiting};

fn in_all_languages(texts: &[&dyn Say]) -> String {
    let mut lines = Vec::new();
    for text in texts {
        lines.extend(Lang::ALL.map(|lang| text.say(lang)));
    }
    lines.join("\n")
}

#[test]
fn errors_name_the_file_and_the_next_step() {
    let file = || "tasks.md".to_owned();
    let id = || "US-001".to_owned();
    let errors = [
        TaskError::Empty { file: file() },
        TaskError::NotText { file: file() },
        TaskError::TooLarge {
            file: file(),
            bytes: 50_000_000,
            limit: 8_388_608,
        },
        TaskError::NoTasks {
            file: file(),
            format: Format::Plain,
        },
        TaskError::NoTasks {
            file: "prd.json".to_owned(),
            format: Format::PrdJson,
        },
        TaskError::BadJson {
            file: file(),
            line: 3,
            column: 7,
            message: "expected value".to_owned(),
        },
        TaskError::NoStories { file: file() },
        TaskError::BadStory {
            file: file(),
            line: 4,
        },
        TaskError::NoPassesField {
            file: file(),
            id: id(),
        },
        TaskError::TaskNotFound {
            file: file(),
            id: id(),
        },
        TaskError::Changed { file: file() },
    ];
    let texts: Vec<&dyn Say> = errors.iter().map(|error| error as &dyn Say).collect();
    insta::assert_snapshot!(in_all_languages(&texts), @r#"
    tasks.md is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`
    tasks.md 是空的；請寫入任務，一行一個，例如 `- [ ] T001 新增登入頁面`
    tasks.md 是空的；请写入任务，一行一个，例如 `- [ ] T001 新增登录页面`
    tasks.md is not UTF-8 text, or holds a NUL byte; save it as UTF-8, or name the right file with --tasks
    tasks.md 不是 UTF-8 文字檔，或含有 NUL 位元組；請存成 UTF-8，或用 --tasks 指定正確的檔案
    tasks.md 不是 UTF-8 文本文件，或含有 NUL 字节；请存为 UTF-8，或用 --tasks 指定正确的文件
    tasks.md is 47.7 MiB large, and a task file may have 8 MiB; split it, or name the right file with --tasks
    tasks.md 有 47.7 MiB，超過任務檔上限 8 MiB；請拆分它，或用 --tasks 指定正確的檔案
    tasks.md 有 47.7 MiB，超过任务文件上限 8 MiB；请拆分它，或用 --tasks 指定正确的文件
    tasks.md has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`
    tasks.md 沒有任何任務；請一行寫一個，例如 `- [ ] T001 新增登入頁面`
    tasks.md 没有任何任务；请一行写一个，例如 `- [ ] T001 新增登录页面`
    prd.json has no stories; add at least one to "userStories", with "id", "title" and "passes": false
    prd.json 沒有任何故事；請在 "userStories" 加入至少一個，並寫上 "id"、"title" 與 "passes": false
    prd.json 没有任何故事；请在 "userStories" 加入至少一个，并写上 "id"、"title" 与 "passes": false
    tasks.md:3:7 is not valid JSON (expected value); correct that place and run again
    tasks.md:3:7 不是有效的 JSON（expected value）；請修正該處後再執行
    tasks.md:3:7 不是有效的 JSON（expected value）；请修正该处后再运行
    tasks.md has no list "userStories"; write the stories there, each with "id", "title" and "passes": false
    tasks.md 沒有 "userStories" 清單；請把故事寫在其中，每個都要有 "id"、"title" 與 "passes": false
    tasks.md 没有 "userStories" 列表；请把故事写在其中，每个都要有 "id"、"title" 与 "passes": false
    tasks.md:4: this entry of "userStories" is not an object; write it as {"id": …, "title": …, "passes": false}
    tasks.md:4："userStories" 的這一項不是物件；請寫成 {"id": …, "title": …, "passes": false}
    tasks.md:4："userStories" 的这一项不是对象；请写成 {"id": …, "title": …, "passes": false}
    tasks.md: story US-001 has no "passes" that is true or false; add "passes": false to it
    tasks.md：故事 US-001 沒有值為 true 或 false 的 "passes"；請為它加上 "passes": false
    tasks.md：故事 US-001 没有值为 true 或 false 的 "passes"；请为它加上 "passes": false
    tasks.md has no task US-001; run `ralph tasks list` to see the ids
    tasks.md 沒有任務 US-001；執行 `ralph tasks list` 查看所有編號
    tasks.md 没有任务 US-001；运行 `ralph tasks list` 查看所有编号
    tasks.md was changed by somebody else in the meantime and was left as it is; run again
    tasks.md 在此期間被其他程式修改，內容保持原樣；請再執行一次
    tasks.md 在此期间被其他程序修改，内容保持原样；请再运行一次
    "#);
}

#[test]
fn findings_say_what_to_do() {
    let id = || "1.1".to_owned();
    let kinds = [
        FindingKind::OutsideSection { id: id() },
        FindingKind::DuplicateId {
            id: id(),
            first_line: 2,
        },
        FindingKind::Cycle {
            ids: vec![id(), "1.2".to_owned()],
        },
        FindingKind::UnknownDependency {
            id: id(),
            on: "9.9".to_owned(),
        },
        FindingKind::UnknownField {
            id: id(),
            key: "risk".to_owned(),
        },
        FindingKind::UnknownAgent {
            id: id(),
            agent: "wizard".to_owned(),
        },
        FindingKind::UnknownRisk {
            id: id(),
            risk: "hihg".to_owned(),
            nearest: Some("high"),
        },
        FindingKind::UnknownRisk {
            id: id(),
            risk: "dangerous".to_owned(),
            nearest: None,
        },
        FindingKind::HumanOnly {
            id: id(),
            word: "by hand".to_owned(),
        },
        FindingKind::OpenBelowDone {
            id: id(),
            child: "1.1.1".to_owned(),
        },
        FindingKind::OnlyOptional,
        FindingKind::MisspeltField {
            id: id(),
            key: "verfy".to_owned(),
            nearest: "verify",
        },
        FindingKind::UnknownProof {
            id: id(),
            word: "persn".to_owned(),
        },
        FindingKind::EmptyCheck { id: id() },
        FindingKind::EmptyText { id: id() },
        FindingKind::NoPassesField { id: id() },
        FindingKind::NotABox {
            text: "- [] a".to_owned(),
        },
        FindingKind::Unclosed(Unclosed::Fence),
        FindingKind::Unclosed(Unclosed::Comment),
    ];
    let findings = kinds.map(|kind| Finding { line: 1, kind });
    let texts: Vec<&dyn Say> = findings.iter().map(|finding| finding as &dyn Say).collect();
    insta::assert_snapshot!(in_all_languages(&texts), @r#"
    task 1.1 is a box outside a task section; it counts, but belongs to no phase: move it below a phase heading, or make it a plain bullet
    任務 1.1 位於任務區段之外；它會被計入，但不屬於任何階段：請移到階段標題下，或改成一般項目
    任务 1.1 位于任务区段之外；它会被计入，但不属于任何阶段：请移到阶段标题下，或改成普通项目
    id 1.1 is already used on line 2; give this task another one
    編號 1.1 已在第 2 行使用；請給這個任務另一個編號
    编号 1.1 已在第 2 行使用；请给这个任务另一个编号
    these wait for each other: 1.1 → 1.2 → 1.1; take one of the dependencies out
    這些項目互相等待：1.1 → 1.2 → 1.1；請移除其中一個依賴
    这些项目互相等待：1.1 → 1.2 → 1.1；请移除其中一个依赖
    1.1 depends on 9.9, which is not in this file; correct the id or take it out
    1.1 依賴 9.9，但檔案中沒有它；請修正編號或移除
    1.1 依赖 9.9，但文件中没有它；请修正编号或移除
    task 1.1 has a field "risk" that Ralph does not know; use agent, files, output, depends, risk, verify, proof or may-change
    任務 1.1 有 Ralph 不認識的欄位「risk」；請用 agent、files、output、depends、risk、verify、proof 或 may-change
    任务 1.1 有 Ralph 不认识的字段“risk”；请用 agent、files、output、depends、risk、verify、proof 或 may-change
    task 1.1 names the agent "wizard"; use developer, reviewer, tester, designer or debugger
    任務 1.1 指定的 agent「wizard」不存在；請使用 developer、reviewer、tester、designer 或 debugger
    任务 1.1 指定的 agent“wizard”不存在；请使用 developer、reviewer、tester、designer 或 debugger
    task 1.1 names the risk "hihg"; did you mean high?
    任務 1.1 的風險等級「hihg」不存在；是不是 high？
    任务 1.1 的风险等级“hihg”不存在；是不是 high？
    task 1.1 names the risk "dangerous"; use low, medium or high
    任務 1.1 的風險等級「dangerous」不存在；請使用 low、medium 或 high
    任务 1.1 的风险等级“dangerous”不存在；请使用 low、medium 或 high
    task 1.1 asks for a person ("by hand") and would stop an unattended run; reword it, make it optional, or do it first
    任務 1.1 需要真人處理（「by hand」），會卡住無人值守的執行；請改寫、設為選做，或先完成它
    任务 1.1 需要真人处理（“by hand”），会卡住无人值守的运行；请改写、设为选做，或先完成它
    task 1.1.1 is open, but task 1.1 above it is ticked; untick 1.1 or finish 1.1.1
    任務 1.1.1 尚未完成，但上層任務 1.1 已勾選；請取消勾選 1.1，或完成 1.1.1
    任务 1.1.1 尚未完成，但上层任务 1.1 已勾选；请取消勾选 1.1，或完成 1.1.1
    every task here is optional, so a run has nothing to do; move what has to be done to another section, or change tasks.optional_sections
    這裡的任務都是選做，所以沒有可做的事；請把必須完成的移到其他區段，或修改 tasks.optional_sections
    这里的任务都是选做，所以没有可做的事；请把必须完成的移到其他章节，或修改 tasks.optional_sections
    task 1.1 has "verfy:", which means nothing; did you mean verify?
    任務 1.1 有「verfy:」，這沒有任何作用；是指 verify 嗎？
    任务 1.1 有“verfy:”，这没有任何作用；是指 verify 吗？
    task 1.1 asks for the proof "persn", which nobody knows; use change, person, tests or preserved
    任務 1.1 要求的 proof「persn」不存在；請用 change、person、tests 或 preserved
    任务 1.1 要求的 proof“persn”不存在；请用 change、person、tests 或 preserved
    task 1.1 has a "verify:" without a command; write the command, or take it out
    任務 1.1 的「verify:」沒有命令；請寫上命令，或拿掉它
    任务 1.1 的“verify:”没有命令；请写上命令，或拿掉它
    task 1.1 is a box without a text; write what is to be done, or delete the line
    任務 1.1 只有方框沒有內容；請寫明要做什麼，或刪除該行
    任务 1.1 只有方框没有内容；请写明要做什么，或删除该行
    story 1.1 has no "passes" that is true or false, so it can never be ticked; add "passes": false
    故事 1.1 沒有值為 true 或 false 的 "passes"，因此永遠無法勾選；請加上 "passes": false
    故事 1.1 没有值为 true 或 false 的 "passes"，因此永远无法勾选；请加上 "passes": false
    this looks like a task and is not counted: - [] a; write it as `- [ ] text` or `- [x] text`
    這一行像任務但不會被計入：- [] a；請寫成 `- [ ] 內容` 或 `- [x] 內容`
    这一行像任务但不会被计入：- [] a；请写成 `- [ ] 内容` 或 `- [x] 内容`
    this code fence is never closed, so boxes below it count as tasks; close it with the same marks on a line of their own
    這個程式碼區塊沒有結尾，其後的方框都會算成任務；請用相同的符號另起一行結束它
    这个代码块没有结尾，其后的方框都会算成任务；请用相同的符号另起一行结束它
    this comment is never closed, so boxes below it count as tasks; close it with `-->`
    這個註解沒有結尾，其後的方框都會算成任務；請用 `-->` 結束它
    这个注释没有结尾，其后的方框都会算成任务；请用 `-->` 结束它
    "#);
}

#[test]
fn waiting_tasks_say_for_what() {
    let waiting = Waiting {
        task: 0,
        id: "2.1".to_owned(),
        on: vec![
            Unmet::Task("1.1".to_owned()),
            Unmet::Phase("1".to_owned()),
            Unmet::Unknown("9.9".to_owned()),
        ],
    };
    insta::assert_snapshot!(in_all_languages(&[&waiting]), @r"
    task 2.1 waits for task 1.1, phase 1, 9.9 (not in this file)
    任務 2.1 正在等待任務 1.1、階段 1、「9.9」（檔案中沒有）
    任务 2.1 正在等待任务 1.1、阶段 1、“9.9”（文件中没有）
    ");
}

#[test]
fn picks_without_a_task_say_why() {
    let waiting = |id: &str| Waiting {
        task: 0,
        id: id.to_owned(),
        on: vec![Unmet::Task("1.1".to_owned())],
    };
    let known = vec!["1".to_owned(), "2".to_owned()];
    let picks = [
        Pick::Blocked {
            waiting: vec![waiting("1.2"), waiting("1.3")],
        },
        Pick::Cycle {
            ids: vec!["1.1".to_owned()],
        },
        Pick::NothingInScope {
            phase: Some("9".to_owned()),
            known: known.clone(),
        },
        Pick::NothingInScope { phase: None, known },
        Pick::NothingInScope {
            phase: Some("9".to_owned()),
            known: Vec::new(),
        },
    ];
    let in_all = |pick: &Pick| Lang::ALL.map(|lang| pick.problem(lang).unwrap()).join("\n");
    let texts: Vec<String> = picks.iter().map(in_all).collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    no task can be started: task 1.2 waits for task 1.1; task 1.3 waits for task 1.1; finish what they wait for, or correct their `depends`
    沒有可以開始的任務：任務 1.2 正在等待任務 1.1；任務 1.3 正在等待任務 1.1；請先完成它們等待的項目，或修正 `depends`
    没有可以开始的任务：任务 1.2 正在等待任务 1.1；任务 1.3 正在等待任务 1.1；请先完成它们等待的项目，或修正 `depends`
    these wait for each other: 1.1 → 1.1; take one of the dependencies out
    這些項目互相等待：1.1 → 1.1；請移除其中一個依賴
    这些项目互相等待：1.1 → 1.1；请移除其中一个依赖
    phase 9 has no tasks; the phases of this file are: 1, 2
    階段 9 沒有任務；此檔案的階段有：1、2
    阶段 9 没有任务；此文件的阶段有：1、2
    every task is optional or was skipped, so there is nothing to do; take one back into scope
    所有任務都是選做或已略過，沒有可做的事；請把至少一個任務放回範圍
    所有任务都是选做或已跳过，没有可做的事；请把至少一个任务放回范围
    there is no phase 9, because this file has no phases; run without --phase
    沒有階段 9，因為此檔案不分階段；請不要加 --phase
    没有阶段 9，因为此文件不分阶段；请不要加 --phase
    ");
    assert_eq!(Pick::Done.problem(Lang::En), None);
}

#[test]
fn changes_are_told() {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let changes = Changes {
        newly_done: ids(&["T001", "T002"]),
        unticked: ids(&["T003"]),
        removed: ids(&["T004"]),
        added: ids(&["T005"]),
        reworded: ids(&["T006"]),
        replaced: Vec::new(),
        thinned: Vec::new(),
    };
    insta::assert_snapshot!(in_all_languages(&[&changes]), @r"
    ticked: T001, T002; unticked: T003; removed: T004; added: T005; reworded: T006
    已勾選：T001、T002；取消勾選：T003；已刪除：T004；新增：T005；改寫：T006
    已勾选：T001、T002；取消勾选：T003；已删除：T004；新增：T005；改写：T006
    ");
}
