//! The settings of the guard as they count: what the project's file says,
//! without what loosens the guard and no person confirmed.

use std::io::ErrorKind;
use std::path::Path;

use ralph_core::config::{ConfigError, GuardFile, GuardRule, GuardSettings, Layer};
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_store::regular;

use super::trust;

/// The file in messages.
const NAME: &str = ".ralph/config.toml";

/// A hook is no place to read more.
const LARGEST: u64 = 1024 * 1024;

/// What the hook works with.
#[derive(Debug, Default)]
pub struct Loaded {
    pub lang: Option<Lang>,
    pub settings: GuardSettings,
    /// Keys that loosen the guard and do not count.
    pub ignored: Vec<&'static str>,
    /// The text of the file; `None` where there is none.
    text: Option<String>,
}

/// Why the configuration says nothing.
#[derive(Debug, Say)]
pub enum Trouble {
    #[say(_0.say(lang))]
    Config(Vec<ConfigError>),
    /// A rule of the file has the name of a built-in one and would stand in
    /// its place.
    #[say("{NAME}: the rule \"{id}\" has the id of a built-in one. Give it another id.")]
    Taken { id: String },
}

/// Reads the guard's part of the project's file, if there is one.
pub fn load(project: &Path) -> Result<Loaded, Trouble> {
    let text = match regular::read_to_string_within(project.join(NAME), LARGEST) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Loaded::default());
        }
        Err(error) => {
            return Err(Trouble::Config(vec![ConfigError::Unreadable {
                file: NAME.to_owned(),
                detail: error.to_string(),
            }]));
        }
    };
    let file = GuardFile::read(&text).map_err(|_| in_words(&text))?;
    let taken = |rule: &&GuardRule| ralph_guard::rule(&rule.id).is_some();
    if let Some(rule) = file.settings.rules.iter().find(taken) {
        let id = rule.id.clone();
        return Err(Trouble::Taken { id });
    }
    let mut ignored = file.loosens.clone();
    if !ignored.is_empty() && trust::is_trusted(project, &file.digest()) {
        ignored.clear();
    }
    Ok(Loaded {
        lang: file.lang.as_deref().and_then(Lang::from_name),
        settings: match ignored.is_empty() {
            true => file.settings,
            false => file.tightened(),
        },
        ignored,
        text: Some(text),
    })
}

/// The whole reader knows the line and the next step.
fn in_words(text: &str) -> Trouble {
    let errors = Layer::own_file(NAME, text).err().unwrap_or_default();
    if errors.is_empty() {
        let detail = String::from("[guard]");
        let file = NAME.to_owned();
        return Trouble::Config(vec![ConfigError::Unreadable { file, detail }]);
    }
    Trouble::Config(errors)
}

impl Loaded {
    /// The file as it was read; `None` where there is none.
    pub fn file(&self) -> Option<GuardFile> {
        GuardFile::read(self.text.as_deref()?).ok()
    }

    /// What a message says of settings that do not count; nothing where all
    /// do.
    pub fn note(&self, lang: Lang) -> String {
        if self.ignored.is_empty() {
            return String::new();
        }
        let keys = self.ignored.join(", ");
        tr!(
            lang,
            "[guard] of {NAME} loosens the guard ({keys}); that does not count, since no person has confirmed it."
        )
    }
}
