//! The languages that people are spoken to in.
//!
//! Every text for a person stands in a [`tr!`](crate::tr) in English; the
//! others lie in `texts/`, and the compiler sees to it that none is missing.
//! Machine output never passes here.

/// A language of the message catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Lang {
    #[default]
    En,
    #[strum(to_string = "zh-TW")]
    ZhTw,
    #[strum(to_string = "zh-CN")]
    ZhCn,
}

impl Lang {
    pub const ALL: [Lang; 3] = [Lang::En, Lang::ZhTw, Lang::ZhCn];

    /// The language that a `lang` setting or a locale name (`zh_TW.UTF-8`)
    /// asks for; `None` where it names none of ours.
    pub fn from_name(name: &str) -> Option<Lang> {
        let name = name
            .split(['.', '@'])
            .next()?
            .replace('_', "-")
            .to_ascii_lowercase();
        match name.as_str() {
            "en" | "c" | "posix" => Some(Lang::En),
            "zh-tw" | "zh-hk" | "zh-mo" | "zh-hant" => Some(Lang::ZhTw),
            "zh" | "zh-cn" | "zh-sg" | "zh-hans" => Some(Lang::ZhCn),
            _ if name.starts_with("en-") => Some(Lang::En),
            _ if name.starts_with("zh-hant") => Some(Lang::ZhTw),
            _ if name.starts_with("zh-hans") => Some(Lang::ZhCn),
            _ => None,
        }
    }
}

pub use ralph_texts::Say;

/// Something that can be told to a person.
///
/// A problem says what is wrong, names the file or the value, and ends with
/// the next step.
pub trait Say {
    fn say(&self, lang: Lang) -> String;
}

/// Several things in one line.
pub fn said(things: &[impl Say], between: &str, lang: Lang) -> String {
    let said: Vec<String> = things.iter().map(|thing| thing.say(lang)).collect();
    said.join(between)
}

/// One fixed text in every language: see [`text!`](crate::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    texts: [&'static str; 3],
}

impl Text {
    /// In the order of [`Lang::ALL`].
    pub const fn new(en: &'static str, tw: &'static str, cn: &'static str) -> Text {
        Text {
            texts: [en, tw, cn],
        }
    }
}

impl Say for Text {
    fn say(&self, lang: Lang) -> String {
        self.texts[lang as usize].to_owned()
    }
}

/// Words that are made where no language is known yet, and read later.
#[derive(Clone, PartialEq, Eq)]
pub struct Spoken {
    texts: [String; 3],
}

impl Spoken {
    pub fn of(thing: &impl Say) -> Spoken {
        Spoken {
            texts: Lang::ALL.map(|lang| thing.say(lang)),
        }
    }
}

/// What comes from outside is the same in every language.
impl From<&str> for Spoken {
    fn from(words: &str) -> Spoken {
        Spoken {
            texts: Lang::ALL.map(|_| words.to_owned()),
        }
    }
}

impl Say for Spoken {
    fn say(&self, lang: Lang) -> String {
        self.texts[lang as usize].clone()
    }
}

impl std::fmt::Debug for Spoken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.say(Lang::En).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Lang;

    #[test]
    fn locale_names_choose_a_language() {
        for (name, want) in [
            ("en_US.UTF-8", Some(Lang::En)),
            ("C.UTF-8", Some(Lang::En)),
            ("zh_TW.UTF-8", Some(Lang::ZhTw)),
            ("zh-TW", Some(Lang::ZhTw)),
            ("zh_HK", Some(Lang::ZhTw)),
            ("zh_Hant_TW", Some(Lang::ZhTw)),
            ("zh_CN.GB18030", Some(Lang::ZhCn)),
            ("zh", Some(Lang::ZhCn)),
            ("fr_FR.UTF-8", None),
            ("", None),
        ] {
            assert_eq!(Lang::from_name(name), want, "{name}");
        }
    }
}
