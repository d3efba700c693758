//! The settings of the guard as they count: what the project's file says,
//! without what loosens the guard and no person confirmed.

use std::io::ErrorKind;
use std::path::Path;

use ralph_core::config::{
    self, ConfigError, GuardFailure, GuardFile, GuardMode, GuardPack, GuardRule, GuardSettings,
    Layer,
};
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_guard::{Fail, Mode, Pack, Settings, UserRule};

use super::trust;

/// The file in messages.
const NAME: &str = ".ralph/config.toml";

/// What the hook works with.
#[derive(Debug)]
pub struct Loaded {
    pub enabled: bool,
    pub shadow: bool,
    pub lang: Option<Lang>,
    pub settings: Settings,
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
    let text = match std::fs::read_to_string(project.join(NAME)) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Loaded::from_settings(GuardSettings::default()));
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
    let counts = file.loosens.is_empty() || trust::is_trusted(project, &file.digest());
    let lang = file.lang.as_deref().and_then(Lang::from_name);
    let mut loaded = if counts {
        Loaded::from_settings(file.settings)
    } else {
        let ignored = file.loosens.clone();
        Loaded {
            ignored,
            ..Loaded::from_settings(file.tightened())
        }
    };
    loaded.lang = lang;
    loaded.text = Some(text);
    Ok(loaded)
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

    fn from_settings(settings: GuardSettings) -> Loaded {
        Loaded {
            enabled: settings.enabled,
            shadow: settings.shadow,
            lang: None,
            settings: for_guard(settings),
            ignored: Vec::new(),
            text: None,
        }
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

fn for_guard(settings: GuardSettings) -> Settings {
    let pack = |pack: &GuardPack| match pack {
        GuardPack::Publishing => Pack::Publishing,
        GuardPack::Database => Pack::Database,
        GuardPack::Container => Pack::Container,
        GuardPack::Cloud => Pack::Cloud,
    };
    let on: Vec<Pack> = settings.packs.iter().map(pack).collect();
    Settings {
        disabled: settings.disable,
        enabled: settings.enable,
        modes: settings
            .modes
            .into_iter()
            .map(|(id, mode)| (id, for_rule(mode)))
            .collect(),
        without_packs: Pack::ALL
            .into_iter()
            .filter(|pack| !on.contains(pack))
            .collect(),
        allow_paths: settings.allow_paths,
        allow_hosts: settings.allow_hosts,
        rules: settings.rules.into_iter().map(user_rule).collect(),
        ignore_case: cfg!(any(windows, target_os = "macos")),
        fail: match settings.fail {
            GuardFailure::Closed => Fail::Closed,
            GuardFailure::Open => Fail::Open,
        },
    }
}

fn for_rule(mode: GuardMode) -> Mode {
    match mode {
        GuardMode::Block => Mode::Block,
        GuardMode::Ask => Mode::Ask,
        GuardMode::Warn => Mode::Warn,
    }
}

fn user_rule(rule: config::GuardRule) -> UserRule {
    UserRule {
        id: rule.id,
        program: rule.program,
        args: rule.args,
        paths: rule.paths,
        reason: rule.reason,
        hint: rule.hint,
        mode: for_rule(rule.mode),
        matches: rule.matches,
        not_matches: rule.not_matches,
    }
}
