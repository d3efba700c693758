//! The words of the monitor, in three languages.

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::watch::Standing;

use super::model::Tab;

impl Tab {
    pub fn title(self, lang: Lang) -> String {
        match self {
            Tab::Overview => tr!(lang, "Overview", "總覽", "总览"),
            Tab::Tasks => tr!(lang, "Tasks", "任務", "任务"),
            Tab::Output => tr!(lang, "Output", "輸出", "输出"),
            Tab::Events => tr!(lang, "Events", "事件", "事件"),
            Tab::Verify => tr!(lang, "Verify", "驗證", "验证"),
            Tab::Guard => tr!(lang, "Guard", "守衛", "守卫"),
            Tab::Charts => tr!(lang, "Charts", "圖表", "图表"),
            Tab::Diff => tr!(lang, "Diff", "差異", "差异"),
        }
    }
}

pub fn standing(standing: Standing, lang: Lang) -> String {
    match standing {
        Standing::New => tr!(lang, "starting", "啟動中", "启动中"),
        Standing::Working => tr!(lang, "working", "執行中", "运行中"),
        Standing::Verifying => tr!(lang, "verifying", "驗證中", "验证中"),
        Standing::Waiting => tr!(lang, "waiting", "等待中", "等待中"),
        Standing::Asking => tr!(lang, "at a limit", "達到上限", "达到上限"),
        Standing::Frozen => tr!(
            lang,
            "frozen (Ctrl+Z)",
            "已凍結 (Ctrl+Z)",
            "已冻结 (Ctrl+Z)"
        ),
        Standing::Ended => tr!(lang, "ended", "已結束", "已结束"),
        Standing::Dead => tr!(
            lang,
            "dead (its process is gone)",
            "已意外終止",
            "已意外终止"
        ),
    }
}

pub fn keys(lang: Lang) -> String {
    tr!(
        lang,
        "? help  q quit  p pause  c continue  s stop  e extend  a answer",
        "? 說明  q 離開  p 暫停  c 繼續  s 停止  e 延長  a 回答",
        "? 帮助  q 离开  p 暂停  c 继续  s 停止  e 延长  a 回答",
    )
}

pub fn help(lang: Lang) -> Vec<(&'static str, String)> {
    vec![
        (
            "Tab 1-8",
            tr!(lang, "another tab", "切換分頁", "切换标签页"),
        ),
        ("j k g G", tr!(lang, "scroll", "捲動", "滚动")),
        ("[ ]", tr!(lang, "another run", "切換執行", "切换运行")),
        (
            ", .",
            tr!(
                lang,
                "another turn's output",
                "切換輪次的輸出",
                "切换轮次的输出"
            ),
        ),
        ("/", tr!(lang, "filter events", "篩選事件", "筛选事件")),
        (
            "p",
            tr!(lang, "pause after this turn", "本輪後暫停", "本轮后暂停"),
        ),
        (
            "c",
            tr!(
                lang,
                "continue: resume, or wait no longer",
                "繼續：恢復，或不再等待",
                "继续：恢复，或不再等待"
            ),
        ),
        (
            "s",
            tr!(
                lang,
                "stop now, everything is saved",
                "立即停止並保存",
                "立即停止并保存"
            ),
        ),
        ("e", tr!(lang, "allow more turns", "增加迭代", "增加迭代")),
        ("a", tr!(lang, "answer a question", "回答問題", "回答问题")),
        ("l", tr!(lang, "open the log", "開啟日誌", "打开日志")),
        (
            "q",
            tr!(
                lang,
                "quit; the run goes on",
                "離開；執行不受影響",
                "离开；运行不受影响"
            ),
        ),
    ]
}
