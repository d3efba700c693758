//! The scorer: tasks as people write them, and the routes that they take.

use super::*;
use crate::lang::{Lang, Say};
use proptest::prelude::*;

use Route::{Architect, Direct, Planned, Ralph, UiFlow};

const TASKS: [(&str, Route); 66] = [
    ("Fix a typo in the README", Direct),
    ("Rename the variable foo to bar", Direct),
    ("Remove an unused import", Direct),
    ("Correct a comment in main.rs", Direct),
    ("Bump the version to 1.2.3", Direct),
    ("Print the version with --version", Direct),
    ("Delete the old log file", Direct),
    ("Make the timeout 30 seconds", Direct),
    ("Add a missing semicolon", Direct),
    ("Small correction of a help text", Direct),
    ("Update the changelog", Direct),
    ("Sort the list of names", Direct),
    ("Explain what main does in a comment", Direct),
    ("修正 README 的錯字", Direct),
    ("把變數 a 改名為 b", Direct),
    ("刪除沒有用到的檔案", Direct),
    ("更新版本號", Direct),
    ("修改一个注释", Direct),
    ("删除没用的文件", Direct),
    ("简单调整超时时间", Direct),
    ("Add pagination to the users endpoint", Planned),
    (
        "Implement a retry with backoff for the HTTP client and test it",
        Planned,
    ),
    ("Add input validation to the order API", Planned),
    (
        "Fix the memory leak in the worker and add a test for it",
        Planned,
    ),
    (
        "Support a second output format, CSV, in the export command",
        Planned,
    ),
    ("Cache the results of the search query in Redis", Planned),
    (
        "Add an endpoint that lists all invoices of a customer",
        Planned,
    ),
    (
        "Optimise the slow query on the orders table of the database",
        Planned,
    ),
    ("Add a feature flag for the new checkout", Planned),
    (
        "Make the importer parallel, with a limit of workers",
        Planned,
    ),
    (
        "Upgrade the HTTP library, adapt the client and test it",
        Planned,
    ),
    (
        "Add rate limiting to the public API and document it",
        Planned,
    ),
    ("為訂單 API 新增輸入驗證", Planned),
    ("新增匯出 CSV 的功能並加上測試", Planned),
    ("優化資料庫查詢效能", Planned),
    ("为用户接口增加分页功能", Planned),
    ("修复内存泄漏并添加测试", Planned),
    ("实现带重试的 HTTP 客户端功能，并测试", Planned),
    (
        "Implement login with JWT, refresh tokens and roles, with tests and a database schema",
        Ralph,
    ),
    (
        "Integrate Stripe payments: checkout, webhooks, invoices and refunds, with tests",
        Ralph,
    ),
    (
        "Refactor the session module and migrate its data to the new schema",
        Ralph,
    ),
    (
        "Build a notification service with email, SMS and webhooks on a queue, with retries",
        Ralph,
    ),
    (
        "Migrate the user database from MySQL to Postgres, with a rollback and tests",
        Planned,
    ),
    (
        "Implement real-time sync over websockets with conflict handling and a local cache",
        Planned,
    ),
    (
        "Refactor the whole error handling across all modules",
        Ralph,
    ),
    (
        "Add OAuth login with Google and GitHub, roles, permissions and an audit log in the database",
        Ralph,
    ),
    (
        "Build a job scheduler service with a queue, retries, a database and an API",
        Ralph,
    ),
    (
        "實作使用者登入、JWT 認證、權限管理與資料庫遷移，並加上測試",
        Ralph,
    ),
    (
        "整合第三方支付服務，包括付款、退款、帳單和 webhook，並加上測試",
        Ralph,
    ),
    ("重構會話模組並遷移資料庫", Ralph),
    (
        "实现用户认证模块，包括登录、权限、会话管理和数据库迁移",
        Ralph,
    ),
    ("重构支付模块并补充测试", Ralph),
    (
        "实现实时同步服务，支持并发、缓存和断线重连，并添加测试",
        Ralph,
    ),
    (
        "Design and build a complete e-commerce system from scratch with microservices",
        Architect,
    ),
    (
        "Redesign the whole architecture into distributed services, migrate all data and keep the API compatible",
        Architect,
    ),
    (
        "Build a complete multi-module payment platform from scratch, with database, API, security and deployment",
        Architect,
    ),
    (
        "Rewrite the monolith as a system of microservices with Kafka, Postgres and Kubernetes",
        Architect,
    ),
    (
        "從零設計並實作完整的電商系統架構，包括會員、訂單、支付與部署",
        Architect,
    ),
    (
        "重構整個系統架構為微服務，遷移資料庫並保持 API 相容",
        Architect,
    ),
    (
        "从零构建完整的分布式任务调度系统，支持多模块、并发、数据库和部署",
        Architect,
    ),
    ("设计完整的微服务系统架构，并迁移所有数据", Architect),
    (
        "Design a settings page with a form and a dark mode theme",
        UiFlow,
    ),
    ("Build a responsive dashboard UI with React", UiFlow),
    ("Restyle the navbar and the login page layout", UiFlow),
    ("設計登入頁面的表單與按鈕樣式", UiFlow),
    ("优化首页界面布局和按钮颜色", UiFlow),
];

/// ROUT-02 to ROUT-04, and ROUT-06 for user interfaces.
#[test]
fn tasks_take_the_route_that_fits_them() {
    let scale = Scale::default();
    let wrong: Vec<String> = TASKS
        .iter()
        .filter_map(|(task, want)| {
            let card = score(task, &scale, None);
            (card.route != *want).then(|| {
                format!(
                    "{task}: {} {} (want {})",
                    card.total,
                    card.route.into_str(),
                    want.into_str()
                )
            })
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// ROUT-05.
#[test]
fn the_person_s_choice_wins_and_the_score_stays() {
    let scale = Scale::default();
    let own = score(TASKS[0].0, &scale, None);
    let asked = score(TASKS[0].0, &scale, Some(Ralph));
    assert_eq!((asked.route, asked.why), (Ralph, Why::Asked));
    assert_eq!(asked.total, own.total);
}

/// ROUT-06.
#[test]
fn near_a_border_the_other_route_is_named() {
    let scale = Scale::default();
    for (total, near) in [
        (0, None),
        (17, None),
        (18, None),
        (19, Some(Planned)),
        (20, Some(Planned)),
        (21, Some(Direct)),
        (22, Some(Direct)),
        (23, None),
        (44, Some(Ralph)),
        (47, Some(Planned)),
        (69, Some(Architect)),
        (72, Some(Ralph)),
        (100, None),
    ] {
        assert_eq!(scale.near(total), near, "{total}");
    }
}

/// ROUT-12.
#[test]
fn the_card_explains_every_point() {
    let card = score(
        "Add pagination to the users endpoint",
        &Scale::default(),
        None,
    );
    insta::assert_snapshot!(card.say(Lang::En), @"
    Route: PLANNED (score 23/100)
      scope        10/25 add
      dependencies  4/20 endpoint
      technical     6/20 endpoint
      risk          1/15
      time          2/10
      UI            0/10
    ");
    insta::assert_snapshot!(card.say(Lang::ZhTw), @"
    路由: PLANNED（評分 23/100）
      範圍         10/25 add
      依賴          4/20 endpoint
      技術          6/20 endpoint
      風險          1/15
      時間          2/10
      UI            0/10
    ");
}

proptest! {
    /// ROUT-12: the same words, the same score.
    #[test]
    fn a_score_is_within_its_bounds_and_the_same_again(task in "\\PC{0,200}") {
        let scale = Scale::default();
        let card = score(&task, &scale, None);
        prop_assert!(card.total <= 100);
        for (dimension, points) in &card.scores {
            prop_assert!(points <= &scale.weights[dimension]);
        }
        prop_assert_eq!(card, score(&task, &scale, None));
    }
}
