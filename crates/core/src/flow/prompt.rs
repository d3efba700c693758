//! What every prompt of a role ends with: how to answer so that a program can
//! read it. A flow of one's own needs not say it.

use super::{FlowTurn, VerdictKind};

/// Behind the prompt of a step.
pub fn trailer(turn: &FlowTurn) -> String {
    let mut out = String::new();
    if let Some(output) = &turn.output {
        out.push_str(&format!(
            "\n\nWrite the result of this step into the file `{output}`. The step counts as done only when that file is there and not empty."
        ));
    }
    match turn.verdict {
        VerdictKind::None => {}
        VerdictKind::Review => {
            out.push_str(FINDINGS);
            if turn.strict {
                out.push_str(STRICT);
            }
            out.push_str(
                "\n\nEnd your answer with exactly one line of its own, outside code and quotes: `VERDICT: APPROVE` or `VERDICT: REJECT`.",
            );
        }
        VerdictKind::Test => {
            out.push_str(FINDINGS);
            out.push_str(
                "\n\nEnd your answer with exactly one line of its own, outside code and quotes: `RESULT: PASS` or `RESULT: FAIL`.",
            );
        }
    }
    out.push('\n');
    out
}

const FINDINGS: &str = "\n\nReport each problem on a line of its own: `FINDING <critical|high|medium|low>: <file and line, what is wrong>`, and behind it, where there is one, `REPRODUCE: <command that fails while the problem is there>`.";

const STRICT: &str = "\n\nThis work was sent back twice already. From now on a finding sends it back only if it is at least medium and has a REPRODUCE command: Ralph runs it, and it must fail. Everything else may be said and does not block.";
