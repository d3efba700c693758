//! Tells a person who is not looking: a command, a webhook, the desktop.
//!
//! Messages are delivered beside the loop, which never waits for them but at
//! its end, and then not for long. A message is tried again only where it is
//! certain that nobody got it: whoever is told is told at most once. A run
//! that is taken up again tells nothing of what it told before, since only
//! what happens now is told.

mod deliver;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use ralph_core::config::{NotifyForm, NotifySettings, NotifyTopic};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Notice, Now, State};
use ralph_core::notify::{self, Message, Sender};
use ralph_core::tr;
use tokio::time::sleep;

use deliver::Delivery;

/// Wait before the second attempt; each further one takes twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// More messages than this at once help nobody.
const MOST_WAITING: usize = 100;
/// How long the end of a run may be held up, and how long before it is said.
pub const LAST_WAIT: Duration = Duration::from_secs(8);
pub const SILENT_WAIT: Duration = Duration::from_secs(1);

/// Whom to tell, and of what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifier {
    pub ways: Vec<Way>,
    pub on: Vec<NotifyTopic>,
    pub attempts: u32,
    /// For one attempt.
    pub timeout: Duration,
    pub root: PathBuf,
    pub link: String,
}

/// A way to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A line for the shell.
    Command(String),
    /// An address, which may be a secret itself, how it is posted to, and the
    /// chat that it is for.
    Webhook {
        url: String,
        form: NotifyForm,
        chat: String,
    },
    /// Through `sendmail`.
    Mail {
        to: String,
        program: String,
    },
    Desktop,
}

impl Notifier {
    pub fn new(root: &Path, settings: &NotifySettings) -> Notifier {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let ways = [
            text(&settings.command).map(Way::Command),
            text(&settings.webhook).map(|url| Way::Webhook {
                url,
                form: settings.form,
                chat: settings.chat.clone(),
            }),
            text(&settings.email).map(|to| Way::Mail {
                to,
                program: settings.sendmail.clone(),
            }),
            settings.desktop.then_some(Way::Desktop),
        ];
        Notifier {
            ways: ways.into_iter().flatten().collect(),
            on: settings.on.clone(),
            attempts: settings.attempts,
            timeout: settings.timeout,
            root: root.into(),
            link: settings.link.clone(),
        }
    }

    /// Whether anybody would ever hear anything.
    pub fn is_on(&self) -> bool {
        !self.ways.is_empty() && !self.on.is_empty()
    }
}

impl Way {
    /// An address that `curl` may be handed.
    pub fn is_sound(&self) -> bool {
        match self {
            Way::Webhook { url, form, chat } => {
                let web = url.starts_with("http://") || url.starts_with("https://");
                let whole = *form != NotifyForm::Telegram || !chat.is_empty();
                web && whole && !url.chars().any(|c| c.is_control() || c.is_whitespace())
            }
            // One address: nothing that could be a line of the head.
            Way::Mail { to, .. } => {
                to.contains('@') && !to.chars().any(|c| c.is_control() || c.is_whitespace())
            }
            Way::Command(_) | Way::Desktop => true,
        }
    }
}

impl Say for Way {
    /// Of an address only the host is shown: the rest is often a key.
    fn say(&self, lang: Lang) -> String {
        match self {
            Way::Command(line) => {
                let line = ralph_core::text::redact(line);
                tr!(lang, "command `{line}`")
            }
            Way::Webhook { url, form, .. } => {
                let host = host(url);
                match form {
                    NotifyForm::Json => tr!(lang, "webhook at {host}"),
                    form => {
                        let form = form.into_str();
                        tr!(lang, "{form} at {host}")
                    }
                }
            }
            Way::Mail { to, .. } => tr!(lang, "mail to {to}"),
            Way::Desktop => tr!(lang, "desktop"),
        }
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// A message that could not be delivered, once and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    pub way: Way,
    pub topic: NotifyTopic,
    pub why: String,
}

/// Delivers the messages of one run, one after the other.
pub struct Courier {
    notifier: Notifier,
    run_id: String,
    lang: Lang,
    /// Notices that were heard, which is what messages are named by.
    heard: u64,
    waiting: VecDeque<(Way, Message)>,
    /// Of a limit that is reached: not told where the end follows at once,
    /// which says it all.
    held: Vec<(Way, Message)>,
    on_the_way: Option<OnTheWay>,
}

struct OnTheWay {
    way: Way,
    topic: NotifyTopic,
    /// Why the last attempt failed.
    why: Rc<RefCell<String>>,
    trip: Trip,
}

impl std::fmt::Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.waiting.len();
        f.debug_struct("Courier")
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

type Trip = Pin<Box<dyn Future<Output = Result<(), Undelivered>>>>;

impl Courier {
    /// `heard` is how much the journal holds already, so that a message never
    /// has the name of one of an earlier process.
    pub fn new(notifier: Notifier, run_id: &str, lang: Lang, heard: u64) -> Courier {
        Courier {
            notifier,
            run_id: run_id.to_owned(),
            lang,
            heard,
            waiting: VecDeque::new(),
            held: Vec::new(),
            on_the_way: None,
        }
    }

    /// Takes a notice to whoever wants to know of it. It costs nothing where
    /// nobody does.
    pub fn take(&mut self, notice: &Notice, state: &State, at: Now) {
        self.heard += 1;
        if !self.notifier.is_on() {
            return;
        }
        let on = &self.notifier.on;
        let wanted = notify::topic(notice).filter(|topic| on.contains(topic));
        let Some(topic) = wanted.filter(|_| notify::is_news(notice, state, on)) else {
            return;
        };
        let project = self.notifier.root.file_name().unwrap_or_default();
        let sender = Sender {
            run_id: &self.run_id,
            project: &project.to_string_lossy(),
            lang: self.lang,
            link: &self.notifier.link,
        };
        let message = Message::new(notice, topic, at, self.heard, &sender, state);
        if topic == NotifyTopic::End {
            self.held.clear();
        }
        let tells_end = on.contains(&NotifyTopic::End);
        let is_reached = matches!(notice, Notice::LimitReached { .. });
        for way in &self.notifier.ways {
            let told = (way.clone(), message.clone());
            if is_reached && tells_end {
                self.held.push(told);
            } else if self.waiting.len() < MOST_WAITING {
                self.waiting.push_back(told);
            }
        }
    }

    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.on_the_way.is_none()
    }

    /// Goes on delivering; ends with what could not be delivered, and never
    /// where everything can. It may be dropped and called again.
    pub async fn work(&mut self) -> Undelivered {
        // Somebody waits: the run goes on.
        self.waiting.extend(self.held.drain(..));
        loop {
            if let Err(undelivered) = self.one().await {
                return undelivered;
            }
        }
    }

    async fn one(&mut self) -> Result<(), Undelivered> {
        if self.on_the_way.is_none() {
            let Some((way, message)) = self.waiting.pop_front() else {
                return std::future::pending().await;
            };
            let (notifier, why) = (self.notifier.clone(), Rc::default());
            self.on_the_way = Some(OnTheWay {
                way: way.clone(),
                topic: message.topic,
                why: Rc::clone(&why),
                trip: Box::pin(deliver(notifier, way, message, why)),
            });
        }
        let result = match &mut self.on_the_way {
            Some(on_the_way) => on_the_way.trip.as_mut().await,
            None => Ok(()),
        };
        self.on_the_way = None;
        result
    }

    /// Delivers what is left, as far as this time goes; the failures.
    pub async fn finish(&mut self, time: Duration) -> Vec<Undelivered> {
        let mut failures = Vec::new();
        let deadline = tokio::time::Instant::now() + time;
        while !self.is_idle() {
            match tokio::time::timeout_at(deadline, self.one()).await {
                Ok(Ok(())) => {}
                Ok(Err(undelivered)) => failures.push(undelivered),
                Err(_) => break,
            }
        }
        failures
    }

    /// Whom it is tried to tell now.
    pub fn trying(&self) -> Option<&Way> {
        let next = self.waiting.front().map(|(way, _)| way);
        self.on_the_way.as_ref().map(|trip| &trip.way).or(next)
    }

    /// What is left is not delivered any more.
    pub fn give_up(&mut self) -> Vec<Undelivered> {
        let no_time = || tr!(self.lang, "there was no time left for it");
        let begun = self.on_the_way.take().map(|begun| Undelivered {
            why: Some(begun.why.take())
                .filter(|why| !why.is_empty())
                .unwrap_or_else(no_time),
            way: begun.way,
            topic: begun.topic,
        });
        let rest = self.waiting.drain(..).map(|(way, message)| Undelivered {
            way,
            topic: message.topic,
            why: no_time(),
        });
        begun.into_iter().chain(rest).collect()
    }
}

async fn deliver(
    notifier: Notifier,
    way: Way,
    message: Message,
    last: Rc<RefCell<String>>,
) -> Result<(), Undelivered> {
    let mut wait = FIRST_WAIT;
    let mut left = notifier.attempts.max(1);
    loop {
        let why = match deliver::once(&notifier, &way, &message).await {
            Delivery::Done => return Ok(()),
            Delivery::Refused(why) => why,
            Delivery::NotReached(why) if left > 1 => {
                left -= 1;
                last.replace(why);
                sleep(wait).await;
                wait *= 2;
                continue;
            }
            Delivery::NotReached(why) => why,
        };
        let topic = message.topic;
        return Err(Undelivered { way, topic, why });
    }
}
