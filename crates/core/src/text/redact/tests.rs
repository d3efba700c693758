use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn check(table: &[(&str, &str)]) {
    for (input, want) in table {
        assert_eq!(redact(input), *want, "{input:?}");
    }
}

fn check_unchanged(texts: &[&str]) {
    for text in texts {
        assert!(
            matches!(redact(text), Cow::Borrowed(same) if same == *text),
            "{text:?} became {:?}",
            redact(text)
        );
    }
}

#[test]
fn tokens_are_known_by_their_form() {
    check(&[
        ("key sk-proj-a1B2c3D4e5F6g7H8i9 end", "key [redacted] end"),
        ("sk-abcdefghijklmnopqrstuvwxyz", "[redacted]"),
        ("sk-ant-api03-Ab_c-dEfGh", "[redacted]"),
        ("(ghp_0123456789abcdefghij0123456789abcdef)", "([redacted])"),
        ("gho_0123456789abcdefghij", "[redacted]"),
        ("ghs_0123456789abcdefghij.", "[redacted]."),
        ("github_pat_11ABCDEFG0_abcdefghijklmnop", "[redacted]"),
        ("xoxb-1234567890-abcdef", "[redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("AIzaSyA-1234567890abcdefghijklmnopqrstu", "[redacted]"),
        ("glpat-abcdefghij0123456789", "[redacted]"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl ok",
            "[redacted] ok",
        ),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", "[redacted]"),
        (
            r"log:\nghp_0123456789abcdefghij\nnext",
            r"log:\n[redacted]\nnext",
        ),
        ("前ghp_0123456789abcdefghij後", "前[redacted]後"),
    ]);
}

#[test]
fn headers_and_urls() {
    check(&[
        ("Bearer abc123def456", "Bearer [redacted]"),
        ("bearer abcdefghijklmnopqrstuv", "bearer [redacted]"),
        ("Authorization: Bearer abc", "Authorization: Bearer abc"),
        ("Authorization: Bearer abcd", "Authorization: [redacted]"),
        (
            "authorization: basic dXNlcjpwYXNz",
            "authorization: [redacted]",
        ),
        (
            "Proxy-Authorization: Basic dXNlcg==",
            "Proxy-Authorization: [redacted]",
        ),
        (
            r#"curl -H "Authorization: token abc123" x"#,
            r#"curl -H "Authorization: [redacted]" x"#,
        ),
        (
            r#"{"Authorization": "Bearer abcdefg"}"#,
            r#"{"Authorization": "[redacted]"}"#,
        ),
        (
            "Authorization: 0123456789abcdef",
            "Authorization: [redacted]",
        ),
        ("https://user:pass@host/x", "https://user:[redacted]@host/x"),
        (
            "postgres://me:p@ss@db:5432/x",
            "postgres://me:[redacted]@db:5432/x",
        ),
        (
            "git clone https://x-access-token:abc@github.com/o/r",
            "git clone https://x-access-token:[redacted]@github.com/o/r",
        ),
        ("https://0123456789abcdef0@host", "https://[redacted]@host"),
    ]);
}

#[test]
fn values_are_known_by_their_name() {
    check(&[
        ("password=hunter2", "password=[redacted]"),
        ("DB_PASSWORD=letmein", "DB_PASSWORD=[redacted]"),
        ("passwd=a", "passwd=[redacted]"),
        ("DB_PASS=hunter2", "DB_PASS=[redacted]"),
        ("password=$ecret1", "password=[redacted]"),
        ("password=12345678", "password=[redacted]"),
        ("password: hunter2", "password: [redacted]"),
        (
            "  password: letmein\nuser: me",
            "  password: [redacted]\nuser: me",
        ),
        (
            "use password: hunter2 to log in",
            "use password: [redacted] to log in",
        ),
        ("token: abc123def", "token: [redacted]"),
        ("token：abc123def", "token：[redacted]"),
        ("api_key=abcdef", "api_key=[redacted]"),
        ("apiKey: 'abcdef'", "apiKey: '[redacted]'"),
        ("X-API-Key: abc123def456", "X-API-Key: [redacted]"),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG",
            "AWS_SECRET_ACCESS_KEY=[redacted]",
        ),
        ("secret=abcd&next=1", "secret=[redacted]&next=1"),
        (
            "https://h/x?token=abcd1234&y=2",
            "https://h/x?token=[redacted]&y=2",
        ),
        (
            "export GITHUB_TOKEN=\"abcd\"",
            "export GITHUB_TOKEN=\"[redacted]\"",
        ),
        (
            r#"{"password": "a \"b\" c", "x": 1}"#,
            r#"{"password": "[redacted]", "x": 1}"#,
        ),
        (
            r#"{"out":"{\"password\": \"hunter2\", \"x\": 1}"}"#,
            r#"{"out":"{\"password\": \"[redacted]\", \"x\": 1}"}"#,
        ),
        (
            r"env:\npassword=hunter2\nuser=me",
            r"env:\npassword=[redacted]\nuser=me",
        ),
        ("client_secret => 'abcdef'", "client_secret => '[redacted]'"),
        ("login(password=b'hunter')", "login(password=b'[redacted]')"),
        ("{password=abc}", "{password=[redacted]}"),
        ("\"password\": \"cut off here", "\"password\": \"[redacted]"),
        (
            "mysql --password hunter2 db",
            "mysql --password [redacted] db",
        ),
        ("tool --token=abcd1234", "tool --token=[redacted]"),
        ("password=密碼很長", "password=[redacted]"),
    ]);
}

#[test]
fn private_keys_lose_their_body() {
    check(&[
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb",
            "a\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nb",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE cut off",
            "-----BEGIN PRIVATE KEY-----[redacted]",
        ),
        (
            r"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]-----END OPENSSH PRIVATE KEY-----",
        ),
    ]);
}

/// STAT-08, XCUT-06: of what is long only the end is shown.
#[test]
fn a_key_whose_beginning_was_cut_off_is_hidden() {
    const END: &str = "-----END RSA PRIVATE KEY-----";
    for (text, want) in [
        (
            "[… 87 …]\nIEow\nab/c=\n{END}\nb",
            "[… 87 …]\n[redacted]\n{END}\nb",
        ),
        (
            "I read it.\n1 MIIE\n2 ab=\n{END}",
            "I read it.\n[redacted]\n{END}",
        ),
        (
            "IEow\n{END}\nIEow\n{END}",
            "[redacted]\n{END}\n[redacted]\n{END}",
        ),
        ("It ends with\n\n{END}", "It ends with\n\n{END}"),
        (
            "MIIE\n-----END CERTIFICATE-----",
            "MIIE\n-----END CERTIFICATE-----",
        ),
    ] {
        let full = |text: &str| text.replace("{END}", END);
        check(&[(&full(text), &full(want))]);
    }
}

/// STAT-08, XCUT-06: the lines of a log or of a screen come one by one.
#[test]
fn private_keys_lose_their_body_line_by_line() {
    const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
    const END: &str = "-----END OPENSSH PRIVATE KEY-----";
    const BODY: &str = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt";
    let long = "MIIE\n".repeat(2_000);
    let hides = |text: &str, want: &str| {
        let mut redactor = LineRedactor::default();
        let said: Vec<_> = text.lines().map(|line| redactor.redact(line)).collect();
        assert_eq!(said.join("\n"), want, "{text}");
    };
    for (body, want) in [
        (BODY, "[redacted]"),
        ("Zmlu==", "[redacted]"),
        ("Proc-Type: 4,ENCRYPTED\n\nMIIE", "[redacted]\n\n[redacted]"),
        (
            "     2\tMIIE\n+MIIE\n> MIIE",
            "[redacted]\n[redacted]\n[redacted]",
        ),
        (r#"  "MIIE\n","#, "[redacted]"),
    ] {
        for end in [
            END,
            "     9\t-----END OPENSSH PRIVATE KEY-----",
            "It works now.",
        ] {
            hides(
                &format!("a\n{BEGIN}\n{body}\n{end}\nDone\n"),
                &format!("a\n{BEGIN}\n{want}\n{end}\nDone"),
            );
        }
    }
    for text in [
        "The file has -----BEGIN PRIVATE KEY----- in it\nI look further",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIE",
        "MIIE\nDone",
    ] {
        let mut redactor = LineRedactor::default();
        let second = text.lines().map(|line| redactor.redact(line)).last();
        assert_eq!(second.as_deref(), text.lines().last(), "{text}");
    }
    let mut redactor = LineRedactor::default();
    let _ = redactor.redact(BEGIN);
    let hidden = long.lines().filter(|line| redactor.redact(line) != *line);
    assert_eq!(hidden.count(), 200, "nothing is hidden for ever");
}

#[test]
fn ordinary_text_stays() {
    check_unchanged(&[
        "",
        "tokenizer",
        "task token count 5",
        "the token count: 5",
        "input_tokens: 5123, output_tokens=40000",
        "\"max_tokens\": 4096",
        "token: 5",
        "token=5",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "The password must be long. Password: it is required",
        "Add a password: field and test it",
        "password: required",
        "password: String,",
        "    password: String",
        "token: Option<Token>,",
        "let token = lexer.next_token();",
        "let token = tokens1.first2;",
        "const token := lexer.Next()",
        "if token == expected1234 {",
        "Token::Number1234567",
        "connect(password=password, token=self.token)",
        "connect(password=db_password)",
        "password=$PASSWORD",
        "password=${DB_PASSWORD}",
        "password=$(cat file1234)",
        "\"password\": \"\"",
        "\"password\": \"string\"",
        "\"password\": \"{{ secret }}\"",
        "password=<your password>",
        "password=****",
        "password=None",
        "token = '+'",
        "use --token to set it",
        "--password must be given",
        "task-list risk-averse desk-lamp",
        "sk-learn-compatible-estimators",
        "npm_config_registry npm_lifecycle_event_name_that_is_long",
        "bearer authentication, Bearer of news",
        "Authorization: only for admins",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "https://user@host/x ssh://git@github.com/o/r",
        "http://localhost:3000/@scope/pkg:1@2",
        "https://user:$TOKEN@host",
        "AKIA is a prefix, AKIAIOSFODNN7EXAMPLELONGER is not a key",
        "eyJust a word. And. more",
        "cat /etc/passwd",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "secretary: Ms 12345678",
        "密碼和權杖",
        "PWD=/home/me",
    ]);
}

#[test]
fn hostile_text_costs_linear_time() {
    for piece in [
        "sk-",
        "eyJ-",
        "eyJ.",
        "a-",
        "-----BEGIN ",
        "-----END ",
        "MIIE\n-----END PRIVATE KEY-----",
        "://",
        "token=",
        "token: \"",
        "\\",
        "bearer ",
        "password",
        "--token ",
        "-",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let start = Instant::now();
        let _ = redact(&text);
        assert!(start.elapsed() < Duration::from_secs(5), "{piece:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_redacted_once_and_for_all(text in "\\PC*") {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn secretive_text_is_redacted_once_and_for_all(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "password", "token", "api_key", "Authorization", "Bearer", "Basic", "=", ":", ": ",
                " = ", "\"", "'", "\\\"", "\\n", "\n", " ", ",", "--", "-", "_", ".", "@", "://",
                "https", "user", "hunter2", "abc123def456ghi789", "sk-", "sk-ant-", "ghp_", "eyJ",
                "npm_", "xoxb-", "AKIAIOSFODNN7EXAMPLE", "-----BEGIN ", "PRIVATE KEY-----",
                "-----END ", "[redacted]", "[", "]", "$", "{", "(", "密", "b",
            ]),
            0..14,
        )
    ) {
        let text = pieces.concat();
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str(), "of {:?}", text);
        if once == text {
            prop_assert!(matches!(redact(&text), Cow::Borrowed(_)));
        }
    }
}
