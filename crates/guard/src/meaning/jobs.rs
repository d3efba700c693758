//! What the shape of a script says: loops that pile up jobs, commands that
//! leave it.

use crate::shell::{Node, Script, Word};

/// Does each round start another job and wait for none?
pub fn piles_up(body: &Script) -> bool {
    let starts = |node: &Node| matches!(node, Node::Background(_));
    let ends_or_waits = |node: &Node| {
        one_of!(
            name(node).as_str(),
            "wait sleep read break exit return inotifywait fswatch flock sem"
        )
    };
    any(body, true, &starts) && !any(body, false, &ends_or_waits)
}

/// Does nothing come behind it?
pub fn leaves(node: &Node) -> bool {
    match node {
        Node::Group(script, _) => script.nodes.last().is_some_and(leaves),
        node => one_of!(name(node).as_str(), "exit return break continue die"),
    }
}

fn name(node: &Node) -> String {
    match node {
        Node::Simple(simple) => simple.words.first().map(Word::literal_text),
        _ => None,
    }
    .unwrap_or_default()
}

/// Is there such a node in it, at whatever depth, in its jobs too?
fn any(script: &Script, jobs: bool, is: &impl Fn(&Node) -> bool) -> bool {
    script.nodes.iter().any(|node| within(node, jobs, is))
}

fn within(node: &Node, jobs: bool, is: &impl Fn(&Node) -> bool) -> bool {
    is(node)
        || match node {
            Node::Pipeline(nodes) => nodes.iter().any(|node| within(node, jobs, is)),
            Node::AndOr(nodes) => nodes.iter().any(|(_, node)| within(node, jobs, is)),
            Node::Background(inner) | Node::Coproc(_, inner) => jobs && within(inner, jobs, is),
            Node::Subshell(script, _) | Node::Group(script, _) => any(script, jobs, is),
            Node::If(scripts, _) => scripts.iter().any(|script| any(script, jobs, is)),
            Node::Case { arms, .. } => arms.iter().any(|script| any(script, jobs, is)),
            Node::For { body, .. } => any(body, jobs, is),
            Node::While {
                condition, body, ..
            } => any(condition, jobs, is) || any(body, jobs, is),
            Node::Simple(_) | Node::Function { .. } | Node::Test(_) => false,
        }
}
