use super::{MAX_BYTES, Node, Reader, ShellError, check as read};

fn check(text: &str, accepted: bool) {
    assert_eq!(read(text).is_ok(), accepted, "{text:?}: {:?}", read(text));
}

#[test]
fn what_bash_accepts_is_read() {
    for text in [
        "",
        "# only a comment",
        "echo a # b",
        "echo a#b",
        "a | b |& c && d || e; f & g",
        "( a; b ) > x 2>&1",
        "{ a; b; }",
        "if a; then b; elif c; then d; else e; fi",
        "for i in 1 2; do echo $i; done",
        "for i; do :; done",
        "for ((i=0;i<3;i++)); do :; done",
        "while read -r l; do :; done < f",
        "until a; do b; done",
        "select x in a b; do :; done",
        "case $x in a|b) c ;; (d) e ;& *) f ;; esac",
        "case x in esac",
        "f() { a; }",
        "function f { a; }",
        "function f() ( a )",
        "[[ -f a && ! $b =~ ^(c|d)$ ]]",
        "((i++))",
        "echo $((1 + (2*3)))",
        "x=(a b c)",
        "x+=(d)",
        "x[1]=a b",
        "declare -a x=(1 2)",
        "cat <<EOF\nhi $x `y` $(z)\nEOF",
        "cat <<'EOF'\n$(rm)\nEOF\necho",
        "cat <<-E\n\ta\n\tE",
        "cat <<A <<B\na\nA\nb\nB",
        "cat <<EOF | sh\nls\nEOF",
        "cat <<'EOF'; echo a\nb\nEOF",
        "cat <<EOF && echo b\na\nEOF\necho c",
        "cat <<< \"$x\"",
        "a <(b) >(c)",
        "a &> x; a &>> x; a >| x; a <> x",
        "echo 'it''s' \"a \\\" b\" $'a\\'b' $\"c\"",
        "echo a\\\n b",
        "echo ${x:-a} ${x#*/} ${x//a/b} ${#x} ${!x} ${x[@]} ${x:1:2} ${x^^}",
        "echo `echo \\`a\\``",
        "echo \"$(echo \"$(echo a)\")\"",
        "! a",
        "time a",
        "coproc a",
        "coproc N { a; }",
        "echo {a,b}{1..3}",
        "a=1 b=2 c",
        "echo a >&2",
        "exec 3>&1",
        "{ { a; }; }",
        "echo }",
        "echo if then fi",
        "ls !(a|b)",
        "echo $(( $(echo 1) + 1 ))",
        "echo \"${x:-\"a b\"}\"",
        "a;\n\n b",
        "a &&\n b",
        "a |\n b",
        "echo $'\\x72m'",
        "foo=bar",
        "> file",
        "echo \"$\"",
        "echo a\r\nb\r\n",
        "$(a)",
        "echo ${x:?no}",
        "echo \"${a}\"'b'c",
        "trap 'a' EXIT",
        "[ a = b ]",
        "echo \u{e9}\\\u{e9}'\u{e9}'",
        "function a-b { c; }",
        "a.b() { c; }",
        "echo $[1+1]",
        "if (a); then b; fi",
        "while :; do break; done &",
        "x=$(cat <<EOF\na ) b\nEOF\n)",
    ] {
        check(text, true);
    }
}

#[test]
fn what_bash_refuses_is_refused() {
    for text in [
        "echo 'a", "echo \"a", "echo `a", "echo $(a", "echo ${a", "if a; then b", "for do done",
        "a && && b", "| a", ")", "{ a", "case x in a) b", "a ;; b", "while a; do done", "(a", "fi",
        "echo a; done",
    ] {
        check(text, false);
    }
}

#[test]
fn the_body_of_a_here_document_is_no_command() {
    let text = "cat <<'EOF' > x.sh\nrm -rf /\nEOF\necho done";
    let mut reader = Reader::new(text).unwrap();
    let piece = reader.next_piece().unwrap().unwrap();
    assert_eq!(reader.next_piece(), Ok(None));
    assert_eq!(piece.script.nodes.len(), 2);
    assert_eq!(piece.heredocs.len(), 1);
    let Node::Simple(last) = &piece.script.nodes[1] else {
        panic!("a simple command");
    };
    assert_eq!(last.words[0].literal_text(), "echo");
}

#[test]
fn bounds_are_errors_and_never_overflow_the_stack() {
    for open in [
        "(", "{ ", "$(", "\"$(", "${x:-", "if ", "<(", "while a; do ", "f() ", "[[ ", "a=(", "$(( ",
    ] {
        let text = open.repeat(100_000 / open.len());
        assert!(read(&text).is_err(), "{open:?}");
    }
    assert_eq!(read(&"a".repeat(MAX_BYTES + 1)), Err(ShellError::TooLong));
    assert_eq!(read(&"a ".repeat(100_000)), Err(ShellError::TooMany));
}
