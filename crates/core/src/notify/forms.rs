//! The same message as each service wants to have it. What a service takes
//! for markup is made harmless, and what it would cut is cut here.

use serde_json::{Value, json};

use super::Message;
use crate::config::NotifyForm;
use crate::machine::Level;
use crate::text::excerpt;

/// A body to be posted, and where to: some services want to know in it whom
/// it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    pub url: String,
    pub body: Value,
}

impl Message {
    pub fn post(&self, form: NotifyForm, url: &str, chat: &str) -> Post {
        let body = match form {
            NotifyForm::Json => self.json(),
            NotifyForm::Slack => self.slack(),
            NotifyForm::Discord => self.discord(),
            NotifyForm::Telegram => self.telegram(chat),
            NotifyForm::Ntfy => return self.ntfy(url),
        };
        let url = url.to_owned();
        Post { url, body }
    }

    fn lines(&self) -> String {
        let words = std::iter::once(self.words());
        let all = words.chain(self.link.clone());
        all.collect::<Vec<_>>().join("\n")
    }

    /// All but the link.
    fn words(&self) -> String {
        let next = self.next.iter().map(|next| format!("→ {next}"));
        let all = std::iter::once(self.text.clone())
            .chain(self.facts.iter().cloned())
            .chain(next);
        all.collect::<Vec<_>>().join("\n")
    }

    /// A text for where no blocks are shown, and the blocks. Only the link
    /// that a person set is one.
    fn slack(&self) -> Value {
        const LONGEST_SECTION: usize = 2900;
        let plain = |text: &str, limit| {
            let text = excerpt(text, limit);
            json!({"type": "plain_text", "text": text, "emoji": false})
        };
        let mut blocks = vec![
            json!({"type": "header", "text": plain(&self.title, 150)}),
            json!({"type": "section", "text": plain(&self.words(), LONGEST_SECTION)}),
        ];
        let link = self.link.as_deref().map(slack_link);
        // Half a link leads nowhere.
        if let Some(link) = link.filter(|link| link.chars().count() <= LONGEST_SECTION) {
            let text = json!({"type": "mrkdwn", "text": link, "verbatim": true});
            blocks.push(json!({"type": "section", "text": text}));
        }
        json!({"text": slack_escaped(&self.title), "mrkdwn": false, "blocks": blocks})
    }

    /// Nobody is called by a message, whatever stands in it.
    fn discord(&self) -> Value {
        let body: String = self
            .lines()
            .chars()
            .flat_map(|c| {
                let is_markup = "\\*_~`|>#[]".contains(c);
                is_markup.then_some('\\').into_iter().chain([c])
            })
            .collect();
        json!({
            "embeds": [{
                "title": excerpt(&self.title, 250),
                "description": excerpt(&body, 4000),
                "color": match self.level {
                    Level::Info => 0x2e_a0_43,
                    Level::Warn => 0xd2_99_22,
                    Level::Error => 0xf8_51_49,
                },
            }],
            "allowed_mentions": {"parse": []},
        })
    }

    /// Plain text: nothing in it is markup.
    fn telegram(&self, chat: &str) -> Value {
        let text = format!("{}\n{}", self.title, self.lines());
        json!({
            "chat_id": chat,
            "text": excerpt(&text, 4000),
            "link_preview_options": {"is_disabled": true},
        })
    }

    /// The address of a topic is where people read it; JSON goes to the
    /// server, with the topic in it.
    fn ntfy(&self, url: &str) -> Post {
        let (server, topic) = url
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or_default();
        let mut body = json!({
            "topic": topic,
            "title": excerpt(&self.title, 250),
            "message": excerpt(&self.lines(), 3900),
            "priority": if self.level == Level::Info { 3 } else { 4 },
            "tags": [match self.level {
                Level::Info => "white_check_mark",
                Level::Warn => "warning",
                Level::Error => "rotating_light",
            }],
        });
        if let Some(link) = &self.link {
            body["click"] = json!(link);
        }
        Post {
            url: format!("{server}/"),
            body,
        }
    }

    /// For `sendmail -t`.
    pub fn mail(&self, to: &str) -> String {
        let body = format!("{}\n\n{}\n", self.lines(), self.run_id);
        format!(
            "To: {to}\nSubject: {}\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n\
             Content-Type: text/plain; charset=utf-8\n\
             Content-Transfer-Encoding: quoted-printable\n\n{}",
            encoded_words(&self.title),
            quoted_printable(&body)
        )
    }
}

fn slack_escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// A bar would end the address, and a blank the link.
fn slack_link(link: &str) -> String {
    let link = slack_escaped(link).replace('|', "%7C").replace(' ', "%20");
    format!("<{link}>")
}

/// RFC 2047: words of at most 75 characters, none of which cuts a character.
fn encoded_words(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let mut bytes = [0; 4];
        let encoded: String = match c {
            ' ' => "_".into(),
            c if c.is_ascii_alphanumeric() => c.into(),
            c => hex(c.encode_utf8(&mut bytes).as_bytes()),
        };
        if word.len() + encoded.len() > 60 {
            words.push(std::mem::take(&mut word));
        }
        word.push_str(&encoded);
    }
    words.push(word);
    let words = words.iter().map(|word| format!("=?UTF-8?Q?{word}?="));
    words.collect::<Vec<_>>().join("\n ")
}

/// RFC 2045: lines of at most 76 characters.
fn quoted_printable(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut width = 0;
        for c in line.chars() {
            let mut bytes = [0; 4];
            let encoded: String = match c {
                ' ' | '!'..='~' if c != '=' => c.into(),
                c => hex(c.encode_utf8(&mut bytes).as_bytes()),
            };
            if width + encoded.len() > 70 {
                out.push_str("=\n");
                width = 0;
            }
            // A line of one dot would end the message of a careless program.
            let encoded = if width == 0 && encoded == "." {
                hex(b".")
            } else {
                encoded
            };
            width += encoded.len();
            out.push_str(&encoded);
        }
        out.push('\n');
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("={byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_subject_are_short_and_whole() {
        assert_eq!(encoded_words("A b"), "=?UTF-8?Q?A_b?=");
        let long = encoded_words(&"任務".repeat(20));
        for line in long.lines() {
            assert!(line.trim().len() <= 75, "{line}");
            let word = line.trim().strip_prefix("=?UTF-8?Q?").unwrap();
            let bytes: Vec<u8> = word
                .trim_end_matches("?=")
                .split('=')
                .filter(|part| !part.is_empty())
                .map(|part| u8::from_str_radix(part, 16).unwrap())
                .collect();
            assert!(std::str::from_utf8(&bytes).is_ok(), "{line}");
        }
    }

    #[test]
    fn mail_lines_are_short_and_ascii() {
        let text = format!("a=b 任務\n.\n{}", "x".repeat(200));
        let encoded = quoted_printable(&text);
        assert!(encoded.starts_with("a=3Db =E4=BB=BB=E5=8B=99\n=2E\n"));
        assert!(encoded.is_ascii() && encoded.lines().all(|line| line.len() <= 76));
    }
}
