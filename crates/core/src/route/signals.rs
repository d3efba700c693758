//! The words that count, in English and in both ways of writing Chinese.

use super::{Adjustment, Dimension, Heard};

/// The words of a task, ready to be looked up.
pub(super) struct Words {
    text: String,
    latin: Vec<String>,
    /// Things that are listed: `a, b and c`, `甲、乙和丙`.
    items: usize,
    characters: usize,
}

impl Words {
    pub(super) fn of(task: &str) -> Words {
        let text = task.to_lowercase();
        let latin = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let separators = text.matches([',', ';', '、', '，', '；', '\n']).count();
        let ands = latin.iter().filter(|word| *word == "and").count();
        let chinese = ["和", "與", "与", "及"];
        let joins: usize = chinese.iter().map(|word| text.matches(word).count()).sum();
        Words {
            items: separators + ands + joins,
            characters: text.chars().filter(|c| !c.is_whitespace()).count(),
            latin,
            text,
        }
    }

    /// The first of these that the task says. A Latin word is known by its
    /// beginning, so that `refactor` is also in `refactoring`; one that ends
    /// with a dot has to be whole.
    fn first(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.says(word))
    }

    fn says(&self, word: &str) -> bool {
        if !word.is_ascii() {
            return self.text.contains(word);
        }
        let (word, whole) = match word.strip_suffix('.') {
            Some(word) => (word, true),
            None => (word, false),
        };
        if word.contains(' ') || word.contains('-') {
            return self.text.contains(word);
        }
        let fits = |said: &String| match whole {
            true => said == word,
            false => said.starts_with(word),
        };
        self.latin.iter().any(fits)
    }
}

/// One of its words is worth so much of the weight of a dimension.
struct Signal {
    dimension: Dimension,
    percent: u32,
    words: &'static [&'static str],
}

const fn signal(dimension: Dimension, percent: u32, words: &'static [&'static str]) -> Signal {
    Signal {
        dimension,
        percent,
        words,
    }
}

use Dimension::{Dependency, Risk, Scope, Technical, Time, Ui};

const SIGNALS: [Signal; 40] = [
    signal(
        Scope,
        20,
        &[
            "add",
            "implement",
            "create",
            "build",
            "support",
            "新增",
            "加入",
            "增加",
            "添加",
            "實作",
            "实现",
            "實現",
            "建立",
            "创建",
            "開發",
            "开发",
            "支援",
            "支持",
        ],
    ),
    signal(Scope, 20, &["feature", "功能"]),
    signal(
        Scope,
        25,
        &[
            "module",
            "component",
            "service",
            "package",
            "模組",
            "模块",
            "組件",
            "组件",
            "服務",
            "服务",
        ],
    ),
    signal(
        Scope,
        30,
        &[
            "system",
            "platform",
            "application",
            "engine",
            "framework",
            "系統",
            "系统",
            "平台",
            "應用",
            "应用",
            "引擎",
            "框架",
        ],
    ),
    signal(
        Scope,
        30,
        &[
            "all ", "every", "entire", "whole", "across", "全部", "所有", "整個", "整个", "全面",
        ],
    ),
    signal(
        Scope,
        20,
        &[
            "refactor", "rewrite", "redesign", "重構", "重构", "重寫", "重写",
        ],
    ),
    signal(
        Scope,
        20,
        &[
            "end-to-end",
            "full stack",
            "fullstack",
            "full-stack",
            "端到端",
            "全棧",
            "全栈",
            "前後端",
            "前后端",
        ],
    ),
    signal(
        Dependency,
        25,
        &[
            "integrat", "connect", "sync", "整合", "集成", "串接", "對接", "对接", "同步",
        ],
    ),
    signal(
        Dependency,
        25,
        &[
            "database",
            "postgres",
            "mysql",
            "sqlite",
            "redis",
            "mongo",
            "資料庫",
            "数据库",
            "緩存",
            "缓存",
            "快取",
        ],
    ),
    signal(
        Dependency,
        20,
        &[
            "api.", "apis.", "endpoint", "rest.", "graphql", "grpc", "webhook", "接口", "介接",
        ],
    ),
    signal(
        Dependency,
        25,
        &[
            "third-party",
            "third party",
            "external",
            "oauth",
            "stripe",
            "aws.",
            "kafka",
            "rabbitmq",
            "queue",
            "第三方",
            "外部",
            "消息隊列",
            "訊息佇列",
            "消息队列",
        ],
    ),
    signal(
        Dependency,
        25,
        &[
            "microservice",
            "distributed",
            "multi-module",
            "cross-module",
            "modules",
            "微服務",
            "微服务",
            "分散式",
            "分布式",
            "多模組",
            "多模块",
            "跨模組",
            "跨模块",
        ],
    ),
    signal(
        Dependency,
        20,
        &[
            "upgrade", "migrat", "depend", "升級", "升级", "遷移", "迁移", "依賴", "依赖",
        ],
    ),
    signal(
        Technical,
        25,
        &[
            "algorithm",
            "optimi",
            "performance",
            "latency",
            "演算法",
            "算法",
            "優化",
            "优化",
            "性能",
            "效能",
        ],
    ),
    signal(
        Technical,
        30,
        &[
            "concurren",
            "parallel",
            "async",
            "thread",
            "race condition",
            "deadlock",
            "lock-free",
            "real-time",
            "realtime",
            "併發",
            "並發",
            "并发",
            "非同步",
            "异步",
            "多執行緒",
            "多线程",
            "即時",
            "实时",
        ],
    ),
    signal(
        Technical,
        25,
        &[
            "architecture",
            "design pattern",
            "protocol",
            "compiler",
            "parser",
            "架構",
            "架构",
            "協定",
            "协议",
            "編譯",
            "编译",
            "解析器",
        ],
    ),
    signal(
        Technical,
        25,
        &[
            "machine learning",
            "encryption",
            "crypto",
            "stream",
            "search engine",
            "scheduler",
            "cache",
            "websocket",
            "機器學習",
            "机器学习",
            "加密",
            "串流",
            "流式",
            "調度",
            "调度",
            "排程",
        ],
    ),
    signal(
        Technical,
        20,
        &[
            "jwt",
            "auth",
            "session",
            "login",
            "permission",
            "role.",
            "roles.",
            "rbac",
            "認證",
            "认证",
            "授權",
            "授权",
            "登入",
            "登录",
            "權限",
            "权限",
        ],
    ),
    signal(Technical, 15, &["test", "測試", "测试"]),
    signal(
        Technical,
        15,
        &[
            "api.",
            "apis.",
            "endpoint",
            "query",
            "queries",
            "pagination",
            "filter",
            "validat",
            "接口",
            "查詢",
            "查询",
            "分頁",
            "分页",
            "驗證",
            "验证",
            "篩選",
            "筛选",
        ],
    ),
    signal(
        Technical,
        20,
        &["refactor", "rewrite", "重構", "重构", "重寫", "重写"],
    ),
    signal(
        Technical,
        20,
        &[
            "bug", "crash", "leak", "fix", "error", "修復", "修复", "修正", "錯誤", "错误", "崩潰",
            "崩溃", "洩漏", "泄漏",
        ],
    ),
    signal(
        Risk,
        35,
        &[
            "auth",
            "login",
            "permission",
            "password",
            "token",
            "secret",
            "security",
            "vulnerab",
            "認證",
            "认证",
            "授權",
            "授权",
            "密碼",
            "密码",
            "權限",
            "权限",
            "安全",
            "漏洞",
        ],
    ),
    signal(
        Risk,
        40,
        &[
            "payment", "billing", "money", "invoice", "支付", "付款", "金流", "帳單", "账单",
        ],
    ),
    signal(
        Risk,
        35,
        &[
            "migrat",
            "schema",
            "production",
            "delete",
            "data loss",
            "遷移",
            "迁移",
            "生產環境",
            "生产环境",
            "正式環境",
            "刪除",
            "删除",
        ],
    ),
    signal(
        Risk,
        25,
        &[
            "breaking",
            "backward",
            "compatib",
            "public api",
            "相容",
            "兼容",
            "不相容",
        ],
    ),
    signal(
        Risk,
        20,
        &[
            "deploy",
            "ci.",
            "pipeline",
            "docker",
            "kubernetes",
            "部署",
            "流水線",
            "流水线",
            "容器",
        ],
    ),
    signal(
        Risk,
        20,
        &[
            "refactor", "rewrite", "system", "重構", "重构", "重寫", "重写", "系統", "系统",
        ],
    ),
    signal(
        Time,
        30,
        &[
            "implement",
            "build",
            "develop",
            "實作",
            "实现",
            "實現",
            "開發",
            "开发",
            "構建",
            "构建",
        ],
    ),
    signal(
        Time,
        40,
        &[
            "refactor", "rewrite", "migrat", "redesign", "重構", "重构", "重寫", "重写", "遷移",
            "迁移",
        ],
    ),
    signal(
        Time,
        40,
        &[
            "system",
            "platform",
            "from scratch",
            "complete.",
            "architecture",
            "系統",
            "系统",
            "平台",
            "從零",
            "从零",
            "完整",
            "架構",
            "架构",
        ],
    ),
    signal(
        Time,
        30,
        &[
            "multiple", "several", "multi", "phase", "stage", "多個", "多个", "階段", "阶段",
            "逐步",
        ],
    ),
    signal(
        Ui,
        30,
        &[
            "ui.",
            "ux.",
            "user interface",
            "frontend",
            "front-end",
            "介面",
            "界面",
            "前端",
        ],
    ),
    signal(
        Ui,
        30,
        &[
            "page",
            "screen",
            "view.",
            "dashboard",
            "頁面",
            "页面",
            "畫面",
            "儀表板",
            "仪表板",
            "儀表盤",
            "仪表盘",
        ],
    ),
    signal(
        Ui,
        30,
        &[
            "button",
            "form.",
            "modal",
            "dialog",
            "dropdown",
            "navbar",
            "sidebar",
            "menu",
            "按鈕",
            "按钮",
            "表單",
            "表单",
            "彈窗",
            "弹窗",
            "對話框",
            "对话框",
            "選單",
            "菜单",
            "導覽列",
            "导航栏",
            "側邊欄",
            "侧边栏",
        ],
    ),
    signal(
        Ui,
        30,
        &[
            "css",
            "style",
            "layout",
            "responsive",
            "theme",
            "color",
            "colour",
            "animation",
            "dark mode",
            "樣式",
            "样式",
            "佈局",
            "布局",
            "響應式",
            "响应式",
            "主題",
            "主题",
            "顏色",
            "颜色",
            "動畫",
            "动画",
            "深色",
        ],
    ),
    signal(
        Ui,
        20,
        &[
            "react",
            "vue",
            "svelte",
            "tailwind",
            "html",
            "component",
            "組件",
            "组件",
            "元件",
        ],
    ),
    signal(
        Scope,
        15,
        &[
            "update", "change", "modify", "extend", "improve", "fix", "更新", "修改", "調整",
            "调整", "擴充", "扩展", "改進", "改进", "修復", "修复", "修正",
        ],
    ),
    signal(
        Dependency,
        15,
        &[
            "module",
            "service",
            "component",
            "plugin",
            "模組",
            "模块",
            "服務",
            "服务",
            "組件",
            "组件",
            "外掛",
            "插件",
        ],
    ),
    signal(
        Dependency,
        15,
        &["system", "platform", "系統", "系统", "平台"],
    ),
];

/// What every task is worth, before a word of it was read.
const BASE: [(Dimension, u32); 4] = [(Scope, 20), (Technical, 15), (Risk, 10), (Time, 20)];

/// Listed things and long texts are more work than a line.
const ITEMS: u32 = 8;
const MOST_ITEMS: u32 = 5;
const LONG: [(usize, u32); 3] = [(40, 8), (100, 10), (250, 15)];

pub(super) fn heard(words: &Words) -> Vec<Heard> {
    let mut heard: Vec<Heard> = BASE
        .into_iter()
        .map(|(dimension, percent)| Heard {
            dimension,
            word: String::new(),
            percent,
        })
        .collect();
    for signal in &SIGNALS {
        if let Some(word) = words.first(signal.words) {
            heard.push(Heard {
                dimension: signal.dimension,
                word: word.trim_end_matches('.').trim().to_owned(),
                percent: signal.percent,
            });
        }
    }
    let items = u32::try_from(words.items)
        .unwrap_or(u32::MAX)
        .min(MOST_ITEMS);
    if items > 0 {
        for dimension in [Scope, Dependency] {
            heard.push(Heard {
                dimension,
                word: format!("×{}", items + 1),
                percent: items * ITEMS,
            });
        }
    }
    let long = LONG.iter().filter(|(least, _)| words.characters >= *least);
    let percent: u32 = long.map(|(_, percent)| percent).sum();
    if percent > 0 {
        for dimension in [Scope, Time] {
            heard.push(Heard {
                dimension,
                word: format!("{}+", words.characters),
                percent,
            });
        }
    }
    heard
}

/// Words that move the sum itself (ROUT-04).
const MOVING: [(i32, &[&str]); 9] = [
    (
        -10,
        &[
            "typo", "comment", "錯字", "错字", "拼寫", "拼写", "註解", "注释", "註釋",
        ],
    ),
    (-8, &["rename", "改名", "重新命名", "重命名"]),
    (-5, &["readme", "changelog", "說明文件", "说明文档"]),
    (
        -5,
        &[
            "simple", "small", "minor", "trivial", "簡單", "简单", "小修", "小幅",
        ],
    ),
    (
        20,
        &["system", "architecture", "系統", "系统", "架構", "架构"],
    ),
    (15, &["complete.", "full.", "完整", "全面"]),
    (15, &["refactor", "重構", "重构"]),
    (
        25,
        &["from scratch", "greenfield", "從零", "从零", "從頭", "从头"],
    ),
    (
        15,
        &[
            "multi-module",
            "cross-module",
            "multiple modules",
            "多模組",
            "多模块",
            "跨模組",
            "跨模块",
        ],
    ),
];

pub(super) fn adjustments(words: &Words) -> Vec<Adjustment> {
    MOVING
        .iter()
        .filter_map(|(points, list)| {
            let word = words.first(list)?;
            Some(Adjustment {
                word: word.trim_end_matches('.').to_owned(),
                points: *points,
            })
        })
        .collect()
}
