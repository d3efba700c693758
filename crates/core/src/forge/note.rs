//! What the agent is told about the gate, its pull request and CI.

use super::phase::short;
use super::{Cause, GateFinding};
use crate::lang::{Lang, Say};
use crate::template::data::{fenced, inline, list};
use crate::text::duration::plural;
use crate::tr;

/// One thing that stands between the work and its goal.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum ForgeNote {
    /// Everything that the quality gate lacks, the first thing first.
    #[say("The quality gate is NOT passed. Missing, the first thing first:\n\n{findings}\n\nDo what each line says, in this order.", findings = list(&texts(findings, lang)))]
    Gate { findings: Vec<GateFinding> },
    /// The gate is green and there is no pull request yet.
    #[say("The quality gate is passed, and there is no open pull request for {branch} yet. Commit everything, push the branch (never with force), and create the pull request with `gh pr create`. Do not wait for CI.", branch = inline(branch))]
    NoPull { branch: String },
    #[say("{files} {files_en} not committed as {they_en}, so that what passed the gate is not what would be merged. Commit what is work, and remove or ignore what does not belong there:\n\n{names}", (files_en, they_en) = (plural(*files, "file is", "files are"), plural(*files, "it is", "they are")), names = list(names))]
    Uncommitted { files: usize, names: Vec<String> },
    #[say("{commits} commits of {branch} are not pushed, so that CI has not seen them. Push the branch, never with force.", branch = inline(branch))]
    Unpushed { branch: String, commits: usize },
    /// The remote branch has commits that are not here.
    #[say("The remote branch {branch} has commits that are not here. Fetch and merge them, then push; never push with force.", branch = inline(branch))]
    Behind { branch: String },
    #[say("CI FAILED on commit {commit} of pull request #{number}. {cause} Failed checks:\n\n{checks}\n\nThe failing part of the log:\n\n{log}\n\nRepair it, pass the quality gate again, commit and push (never with force). Do not wait for CI: that is done for you.", commit = inline(&short(commit)), cause = cause_words(*cause, lang), checks = list(checks), log = fenced(log))]
    CiFailed {
        number: u64,
        commit: String,
        cause: Cause,
        checks: Vec<String>,
        log: String,
    },
    /// The turn before was about the same red commit, and nothing was pushed.
    #[say("Your last turn was about the failed CI of commit {commit}, and it is still the newest commit of the pull request. A repair counts only when it is committed and pushed.", commit = inline(&short(commit)))]
    NothingPushed { commit: String },
    #[say("CI PASSED on commit {commit} of pull request #{number}. Do what the instructions below still ask for, change no code, and end with the promise that they name.", commit = inline(&short(commit)))]
    CiPassed { number: u64, commit: String },
    /// Within a session, where nobody waits for long.
    #[say("CI still RUNS on commit {commit} of pull request #{number}. Change nothing and promise nothing: wait a minute (for instance `sleep 60`), then end your turn; CI is looked at again.", commit = inline(&short(commit)))]
    CiPending { number: u64, commit: String },
    /// The same, where the forge can't be asked.
    #[say(
        "The forge can't be asked at the moment, so that it is not known how CI stands. Change nothing and promise nothing: wait a minute (for instance `sleep 60`), then end your turn; it is asked again."
    )]
    ForgeAway,
    /// A command of ours that was refused, in the words of whom was asked.
    #[say("{command} was refused:\n\n{words}\n\nDo what is needed so that it can be done; never use force.", command = inline(command), words = fenced(words))]
    Refused { command: String, words: String },
}

impl ForgeNote {
    /// Whether it is about a failure, with what to say of it.
    pub fn failure(&self) -> Option<(&str, &str)> {
        match self {
            ForgeNote::CiFailed { log, .. } => Some(("CI", log)),
            ForgeNote::Refused { command, words } => Some((command, words)),
            _ => None,
        }
    }
}

fn texts(findings: &[GateFinding], lang: Lang) -> Vec<String> {
    findings.iter().map(|finding| finding.say(lang)).collect()
}

fn cause_words(cause: Cause, lang: Lang) -> String {
    match cause {
        Cause::Regression => tr!(lang, "The base branch does not have this failure."),
        Cause::PreExisting => tr!(
            lang,
            "The base branch fails the same checks, so that this pull request may not have caused it; repair it only where that is simple and right."
        ),
        Cause::Flaky => tr!(lang, "It may fail by chance."),
        Cause::Infrastructure => tr!(lang, "The machines of CI may be at fault."),
    }
}

/// What the agent has to reach before a pull request (PRCI-05).
pub fn p0_prompt(feature: &str, promise: Option<&str>, lang: Lang) -> String {
    let said = match promise {
        Some(promise) => tr!(
            lang,
            " Then you may end with <promise>{promise}</promise>; the evidence decides, with or without it."
        ),
        None => String::new(),
    };
    tr!(
        lang,
        "{feature}\n\nThis work is done when its quality gate is passed and its pull request exists:\n1. The audit report says `Decision: PASS` (docs/AUDIT-REPORT.md unless the project says otherwise); no open L1 or L2 finding.\n2. `ralph gate run` passed on exactly this content; run it after the last change.\n3. The evidence file (.layer2-evidence.md) holds at least one item of evidence.\n4. Everything is committed, and the pull request of this branch is open.\nDo not wait for CI.{said}"
    )
}

/// What the agent has to reach once there is a pull request (PRCI-06).
pub fn p1_prompt(asked: Option<&str>, number: Option<u64>, merges: bool, lang: Lang) -> String {
    let pull = match number {
        Some(number) => tr!(lang, "pull request #{number}"),
        None => tr!(lang, "the pull request of this branch"),
    };
    let task = match asked.map(str::trim).filter(|asked| !asked.is_empty()) {
        Some(asked) => asked.to_owned(),
        None => tr!(lang, "Repair the CI failures of {pull}."),
    };
    let merge = match merges {
        true => tr!(
            lang,
            "Ralph merges it when CI is green: do not merge it yourself."
        ),
        false => tr!(lang, "Merge it only if the task above says so."),
    };
    tr!(
        lang,
        "{task}\n\nThis is about {pull}. Its CI is watched for you: when it fails, you get the log above. Repair the cause, run `ralph gate run` after the last change, commit and push (never with force). Do not poll and do not wait for CI. {merge}"
    )
}

#[cfg(test)]
mod tests {
    use super::{Lang, p0_prompt, p1_prompt};

    #[test]
    fn prompts_are_in_the_person_s_language_with_the_agreed_promise_disp_06() {
        for (lang, words) in [
            (Lang::En, ["quality gate is passed", "CI is watched"]),
            (Lang::ZhTw, ["質檢通過且 PR 存在時", "CI 會有人替你監看"]),
            (Lang::ZhCn, ["质检通过且 PR 存在时", "CI 会有人替你监看"]),
        ] {
            let p0 = p0_prompt("登入", Some("GATE_GREEN"), lang);
            let p1 = p1_prompt(None, Some(7), true, lang);
            assert!(p0.starts_with("登入\n\n"), "{p0}");
            assert!(p0.contains("<promise>GATE_GREEN</promise>"), "{p0}");
            assert!(p0.contains(words[0]), "{p0}");
            assert!(p1.contains(words[1]) && p1.contains("#7"), "{p1}");
        }
    }
}
