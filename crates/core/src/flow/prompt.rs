//! What every prompt of a role ends with: how to answer so that a program can
//! read it. A flow of one's own needs not say it.

use super::{FlowTurn, VerdictKind};
use crate::lang::Lang;
use crate::tr;

/// Behind the prompt of a step; `promise` says as well as its file that it is
/// done.
pub fn trailer(turn: &FlowTurn, promise: Option<&str>, lang: Lang) -> String {
    let mut parts = Vec::new();
    if let Some(output) = &turn.output {
        parts.push(match promise {
            Some(promise) => tr!(
                lang,
                "When this step is done, write its result into the file `{output}`, or end your answer with `<promise>{promise}</promise>` on a line of its own: that is how you say that it is done."
            ),
            None => tr!(
                lang,
                "Write the result of this step into the file `{output}`. The step counts as done only when that file is there and not empty."
            ),
        });
    }
    if turn.verdict != VerdictKind::None {
        parts.push(tr!(
            lang,
            "Report each problem on a line of its own: `FINDING <critical|high|medium|low>: <file and line, what is wrong>`, and behind it, where there is one, `REPRODUCE: <command that fails while the problem is there>`."
        ));
    }
    if turn.verdict == VerdictKind::Review && turn.strict {
        parts.push(tr!(
            lang,
            "This work was sent back twice already. Give each finding that is at least medium a REPRODUCE command: Ralph runs it and shows the developer what came of it. Send it back again only for what really is wrong: after a few more rejections a person has to decide."
        ));
    }
    let (good, bad) = match turn.verdict {
        VerdictKind::None => ("", ""),
        VerdictKind::Review => ("VERDICT: APPROVE", "VERDICT: REJECT"),
        VerdictKind::Test => ("RESULT: PASS", "RESULT: FAIL"),
    };
    if turn.verdict != VerdictKind::None {
        parts.push(tr!(
            lang,
            "End your answer with exactly one line of its own, outside code and quotes: `{good}` or `{bad}`."
        ));
    }
    let parts = parts.iter().map(|part| format!("\n\n{part}"));
    parts.collect::<String>() + "\n"
}
