use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::lang::{Lang, Say};

fn path(text: &str) -> Vec<Step> {
    let step = |part: &str| match part.parse::<usize>() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(part.to_owned()),
    };
    text.split('.')
        .filter(|part| !part.is_empty())
        .map(step)
        .collect()
}

fn value(text: &str) -> Value {
    parse(text)
        .unwrap_or_else(|e| panic!("{}: {text}", e.say(Lang::En)))
        .to_value()
}

/// A member `"new": {"a": 1}` is added at `place`, and goes again.
fn check_member(place: &str, before: &str, after: &str) {
    let place = path(place);
    let added = insert_member(before, &place, "new", &json!({"a": 1}))
        .unwrap()
        .unwrap();
    assert_eq!(added.text, after);
    let there = [place, vec!["new".into()]].concat();
    let back = remove_added(&added.text, &there, &added.tail).unwrap();
    assert_eq!(back.as_deref(), Some(before));
}

fn check_element(place: &str, before: &str, after: &str) {
    let place = path(place);
    let added = push_element(before, &place, &json!([1, 2]))
        .unwrap()
        .unwrap();
    assert_eq!(added.text, after);
    let count = parse(before).unwrap().at(&place).unwrap().list().len();
    let there = [place, vec![count.into()]].concat();
    let back = remove_added(&added.text, &there, &added.tail).unwrap();
    assert_eq!(back.as_deref(), Some(before));
}

#[test]
fn a_member_is_added_in_the_style_of_its_file() {
    for (place, before, after) in [
        ("", "{}", "{\n  \"new\": {\n    \"a\": 1\n  }\n}"),
        ("", "{\n}\n", "{\n  \"new\": {\n    \"a\": 1\n  }\n}\n"),
        ("", "{ }", "{\n  \"new\": {\n    \"a\": 1\n  } \n}"),
        ("", "{\"x\": 1}", "{\"x\": 1, \"new\": {\"a\":1}}"),
        (
            "",
            "{\n\t\"x\": 1\n}\n",
            "{\n\t\"x\": 1,\n\t\"new\": {\n\t\t\"a\": 1\n\t}\n}\n",
        ),
        (
            "",
            "{\r\n    \"x\": 1 // one\r\n}\r\n",
            "{\r\n    \"x\": 1, // one\r\n    \"new\": {\r\n        \"a\": 1\r\n    }\r\n}\r\n",
        ),
        (
            "",
            "{\n  \"x\": 1, // one\n  // two\n}",
            "{\n  \"x\": 1, // one\n  // two\n  \"new\": {\n    \"a\": 1\n  },\n}",
        ),
        (
            "x",
            "\u{feff}{\n   \"x\": { /* nothing */ }\n}",
            "\u{feff}{\n   \"x\": { /* nothing */\n      \"new\": {\n         \"a\": 1\n      } \n   }\n}",
        ),
        (
            "x.0",
            "// first\n{ \"x\": [ {\"y\": []} ] } // last",
            "// first\n{ \"x\": [ {\"y\": [], \"new\": {\"a\":1}} ] } // last",
        ),
    ] {
        check_member(place, before, after);
    }
}

#[test]
fn an_element_is_added_behind_the_others() {
    for (place, before, after) in [
        ("", "[]", "[\n  [\n    1,\n    2\n  ]\n]"),
        ("", "[1, 2 ]", "[1, 2, [1,2] ]"),
        ("", "[1, 2,]", "[1, 2, [1,2],]"),
        (
            "x",
            "{\n \"x\": [\n  1\n ]\n}",
            "{\n \"x\": [\n  1,\n  [\n   1,\n   2\n  ]\n ]\n}",
        ),
        (
            "",
            "[\n  1,\n  2]",
            "[\n  1,\n  2,\n  [\n    1,\n    2\n  ]\n]",
        ),
    ] {
        check_element(place, before, after);
    }
}

#[test]
fn what_people_wrote_around_it_stays() {
    for (before, place, after) in [
        ("[1, 2, 3]", "0", "[ 2, 3]"),
        ("[1, 2, 3]", "1", "[1, 3]"),
        ("[1, 2, 3]", "2", "[1, 2]"),
        ("[1, 2, 3,]", "2", "[1, 2,]"),
        ("[1 /* a */, /* b */ 2]", "1", "[1 /* a */ /* b */]"),
        // The comment must not swallow the bracket.
        ("[ // c\n  1]", "0", "[ // c\n  ]"),
        // Nor the next element.
        ("[ // c\n  1,2 // d\n]", "0", "[ // c\n  2 // d\n]"),
        (
            "{\"a\": 1,\n // why\n \"b\": 2, // b\n \"c\": 3}",
            "b",
            "{\"a\": 1,\n // why // b\n \"c\": 3}",
        ),
    ] {
        let got = remove(before, &path(place)).unwrap().unwrap();
        assert_eq!(got, after, "{before} without {place}");
        parse(&got).unwrap();
    }
    assert_eq!(remove("{}", &path("a")).unwrap(), None);
    assert_eq!(remove("{}", &[]).unwrap(), None);
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let (text, before) = replace("{\"a\" :  \"8\" /* cap */}", &path("a"), "\"51\"")
        .unwrap()
        .unwrap();
    assert_eq!(text, "{\"a\" :  \"51\" /* cap */}");
    assert_eq!(before, "\"8\"");
    assert_eq!(replace("{}", &path("a"), "1").unwrap(), None);
}

#[test]
fn nothing_is_added_where_there_is_no_room() {
    let add = |text, place| insert_member(text, &path(place), "new", &json!(1)).unwrap();
    assert_eq!(add("[]", ""), None);
    assert_eq!(add("{\"new\": 2}", ""), None);
    assert_eq!(add("{\"a\": {}}", "b"), None);
    assert_eq!(push_element("{}", &[], &json!(1)).unwrap(), None);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    for (text, place, problem) in [
        ("", (1, 1), Problem::Value),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", (3, 3), Problem::CommaOrEnd),
        ("{\"a\" 1}", (1, 6), Problem::Colon),
        ("{a: 1}", (1, 2), Problem::Key),
        ("{\"a\": nul}", (1, 7), Problem::Value),
        ("{\"a\": 01}", (1, 7), Problem::Number),
        ("{\"a\": }", (1, 7), Problem::Value),
        ("[1,,2]", (1, 4), Problem::Value),
        ("[1", (1, 3), Problem::CommaOrEnd),
        ("{\"é\": \"x\n\"}", (1, 7), Problem::OpenString),
        ("{\"a\": \"\\q\"}", (1, 7), Problem::Text),
        ("{} /* x", (1, 4), Problem::OpenComment),
        ("{} {}", (1, 4), Problem::More),
        ("\u{feff}{,}", (1, 2), Problem::Key),
        ("{\"a\": 1, \"a\": 2}", (1, 10), Problem::Twice),
        (&"[".repeat(1_000), (1, 102), Problem::Deep),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(
            ((error.line, error.column), error.problem),
            (place, problem),
            "{text}"
        );
    }
}

/// Every way to write the same JSON: a document from a tree and a seed that
/// chooses white space, comments and commas.
fn written(value: &Value, style: &mut Style, depth: usize) -> String {
    let (open, close, items): (_, _, Vec<String>) = match value {
        Value::Object(members) => {
            let items = members.iter().map(|(key, value)| {
                let key = Value::from(key.as_str());
                let gap = style.gap(depth + 1);
                format!("{key}:{gap}{}", written(value, style, depth + 1))
            });
            ('{', '}', items.collect())
        }
        Value::Array(elements) => {
            let items = elements.iter().map(|v| written(v, style, depth + 1));
            ('[', ']', items.collect())
        }
        scalar => return scalar.to_string(),
    };
    let mut text = String::from(open);
    let count = items.len();
    for (i, item) in items.iter().enumerate() {
        text.push_str(&style.gap(depth + 1));
        text.push_str(item);
        text.push_str(&style.gap(depth));
        if i + 1 < count || style.next(4) == 0 {
            text.push(',');
        }
    }
    text.push_str(&style.gap(depth));
    text.push(close);
    text
}

#[derive(Debug)]
struct Style {
    choices: Vec<u8>,
    at: usize,
    newline: &'static str,
    unit: &'static str,
}

impl Style {
    fn next(&mut self, below: u8) -> u8 {
        self.at += 1;
        let length = self.choices.len();
        self.choices[self.at % length] % below
    }

    fn gap(&mut self, depth: usize) -> String {
        let line = format!("{}{}", self.newline, self.unit.repeat(depth));
        match self.next(8) {
            0 => String::new(),
            1 => " ".into(),
            2 => format!(" // {{ \"comment\": {line}"),
            3 => format!("/* ] }} , */{line}"),
            4 => format!("{line}{line}"),
            _ => line,
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é停]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\]{1,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn documents() -> impl Strategy<Value = (Value, String)> {
    let style = (
        prop::collection::vec(any::<u8>(), 8..40),
        prop::sample::select(vec!["\n", "\r\n"]),
        prop::sample::select(vec!["  ", "    ", "\t", " ", ""]),
        any::<bool>(),
    );
    let whole = prop::collection::btree_map("[a-z]{1,4}", values(), 0..4);
    (whole, style).prop_map(|(members, (choices, newline, unit, marked))| {
        let value = Value::Object(members.into_iter().collect());
        let mut style = Style {
            choices,
            at: 0,
            newline,
            unit,
        };
        let mark = if marked { "\u{feff}" } else { "" };
        let (before, body) = (style.gap(0), written(&value, &mut style, 0));
        let text = format!("{mark}{before}{body}{}", style.gap(0));
        (value, text)
    })
}

/// The paths of all containers in a value.
fn containers(value: &Value, at: &[Step], all: &mut Vec<(Vec<Step>, bool)>) {
    let mut below = |step: Step, value: &Value| {
        let at = [at, &[step]].concat();
        containers(value, &at, all);
    };
    match value {
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(key, value)| below(key.as_str().into(), value));
            all.push((at.to_vec(), true));
        }
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(i, value)| below(i.into(), value));
            all.push((at.to_vec(), false));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn taking_away_what_was_added_gives_every_byte_back(
        (value, text) in documents(),
        new in values(),
        which in any::<prop::sample::Index>(),
    ) {
        prop_assert_eq!(&parse(&text).unwrap().to_value(), &value);
        let mut all = Vec::new();
        containers(&value, &[], &mut all);
        let (place, is_object) = which.get(&all).clone();
        let root = parse(&text).unwrap();
        let count = root.at(&place).unwrap().list().len();
        let (added, there) = if is_object {
            let added = insert_member(&text, &place, "NEW", &new).unwrap().unwrap();
            (added, Step::from("NEW"))
        } else {
            let added = push_element(&text, &place, &new).unwrap().unwrap();
            (added, Step::Index(count))
        };
        let there = [place, vec![there]].concat();
        let read = parse(&added.text).unwrap();
        prop_assert_eq!(read.at(&there).unwrap().to_value(), new);
        let back = remove_added(&added.text, &there, &added.tail).unwrap().unwrap();
        prop_assert_eq!(back, text);
    }

    #[test]
    fn anything_can_be_taken_away_and_the_rest_stays(
        (value, text) in documents(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut all = Vec::new();
        containers(&value, &[], &mut all);
        all.retain(|(place, _)| !place.is_empty());
        prop_assume!(!all.is_empty());
        let (place, _) = which.get(&all).clone();
        let left = remove(&text, &place).unwrap().unwrap();
        let mut want = value;
        take(&mut want, &place);
        prop_assert_eq!(super::tests::value(&left), want);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", braces in "[\\[\\]{}\",:/*0-9a \n\\\\-]{0,40}") {
        let _ = parse(&text);
        let _ = parse(&braces);
        let _ = insert_member(&braces, &[], "a", &json!(1));
    }
}

fn take(value: &mut Value, place: &[Step]) {
    let Some((last, above)) = place.split_last() else {
        return;
    };
    let inside = above.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Index(index) => &mut value[*index],
    });
    match (inside, last) {
        (Value::Object(members), Step::Key(key)) => {
            members.shift_remove(key.as_str());
        }
        (Value::Array(elements), Step::Index(index)) => {
            elements.remove(*index);
        }
        _ => {}
    }
}
