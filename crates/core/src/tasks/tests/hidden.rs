//! Fenced code and comments hide boxes only when they are balanced (TASK-03).

use super::*;

/// The texts of the tasks that are seen.
fn check(text: &str, want: &[&str]) {
    let text = format!("{text}\n- [ ] end");
    for text in [
        text.clone(),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
    ] {
        let list = list("todo.md", &text);
        let mut seen: Vec<&str> = list.tasks.iter().map(|task| task.text.as_str()).collect();
        let end = seen.pop();
        assert_eq!((seen.as_slice(), end), (want, Some("end")), "{text:?}");
    }
}

#[test]
fn balanced_fences_hide() {
    check("```\n- [ ] a\n```", &[]);
    check("~~~md\n- [ ] a\n~~~", &[]);
    check("- item\n\n  ```\n  - [ ] a\n  ```", &[]);
    check(
        "- ```sh\n  - [ ] a\n  ```\n- [ ] b\n```\n- [ ] c\n```",
        &["b"],
    );
    check("````\n```\n- [ ] a\n```\n- [ ] b\n````", &[]);
    check("```\n- [ ] a\n`````", &[]);
    check("```\n~~~\n- [ ] a\n```\n- [ ] b", &["b"]);
    check("```\n- [ ] a\n```sh\n- [ ] b\n```\n- [ ] c", &["c"]);
}

#[test]
fn unbalanced_fences_do_not_hide() {
    check("```\n- [ ] a", &["a"]);
    check("````\n- [ ] a\n```", &["a"]);
    check("```\n- [ ] a\n~~~", &["a"]);
    check("```\n- [ ] a\n```\n- [ ] b\n```\n- [ ] c", &["b", "c"]);
    check("``\n- [ ] a\n``", &["a"]);
    check("``` a ` b\n- [ ] a\n``` c ` d", &["a"]);
    // The list item ends, and the fence inside it with it.
    check(
        "- [ ] a\n  ```\n  x\n- [ ] b\n```sh\n- [ ] c\n```\n- [ ] d",
        &["a", "b", "d"],
    );
}

#[test]
fn balanced_comments_hide() {
    check("<!--\n- [ ] a\n-->", &[]);
    check(
        "text <!-- more\n- [ ] a\n--> <!--\n- [ ] b\n-->\n- [ ] c",
        &["c"],
    );
    check("- [ ] a <!-- b\n- [ ] c\n-->", &["a <!-- b"]);
    check("<!-- x -->\n- [ ] a\n<!-- y -->", &["a"]);
    check("<!-->\n- [ ] a\n-->", &["a"]);
    check(
        "- [ ] 1.1 <!-- Task description -->",
        &["1.1 <!-- Task description -->"],
    );
    check("`<!--`\n- [ ] a\n`-->`", &["a"]);
    check("`` ` <!-- ``\n- [ ] a\n-->", &["a"]);
    check("` <!-- ``\n- [ ] a\n-->", &[]);
}

#[test]
fn unbalanced_comments_do_not_hide() {
    check("<!--\n- [ ] a", &["a"]);
    check("-->\n- [ ] a\n<!--", &["a"]);
    check("<!-- a -->\n<!-- b\n- [ ] a", &["a"]);
}

#[test]
fn what_opens_first_wins() {
    check("```\n<!--\n```\n- [ ] a\n-->", &["a"]);
    check("<!--\n```\n-->\n- [ ] a\n```", &["a"]);
    check("<!--\n```\n- [ ] a\n```\n- [ ] b\n-->\n- [ ] c", &["c"]);
    // The fence is never closed, so the comment in it is one.
    check("```\n<!--\n- [ ] a\n-->\n- [ ] b", &["b"]);
    // The comment is never closed, so the fence in it is one.
    check("<!--\n```\n- [ ] a\n```\n- [ ] b", &["b"]);
}

/// A quadratic search would take minutes here.
#[test]
fn hostile_files_are_read_in_linear_time() {
    for (line, count) in [
        ("```a\n", 30_000),
        ("  ```a\n", 30_000),
        ("<!-- \n", 30_000),
        ("`<!--\n", 30_000),
        ("` `` <!-- --> ", 15_000),
        ("- [ ] a\n    ```a\n", 30_000),
    ] {
        for tail in ["\n- [ ] end\n", "\n- [ ] end\n`````\n", "\n- [ ] end\n-->"] {
            let text = line.repeat(count) + tail;
            let _ = read("todo.md", text.as_bytes(), &ReadOptions::default());
        }
    }
}
