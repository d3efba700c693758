//! Fields of JSON that are read as far as they are what we expect. Clients
//! change their streams without notice: a field of another type is as good as
//! none, and must not hide the rest of its line.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, or nothing.
#[derive(Debug, Default)]
pub(super) struct Words<'a>(pub Option<Cow<'a, str>>);

/// A number, or nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Number(pub Option<f64>);

/// `true` or `false`, or nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Switch(pub Option<bool>);

/// A list; anything else is an empty one.
#[derive(Debug)]
pub(super) struct Many<T>(pub Vec<T>);

/// An object, or nothing.
#[derive(Debug)]
pub(super) struct Maybe<T>(pub Option<T>);

impl<T> Default for Many<T> {
    fn default() -> Many<T> {
        Many(Vec::new())
    }
}

impl<T> Default for Maybe<T> {
    fn default() -> Maybe<T> {
        Maybe(None)
    }
}

impl Words<'_> {
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(super) fn text(&self) -> &str {
        self.get().unwrap_or_default()
    }
}

impl Number {
    /// A count; a negative number and a broken one are none.
    pub(super) fn count(self) -> Option<u64> {
        self.0.filter(|n| (0.0..9e15).contains(n)).map(|n| n as u64)
    }

    pub(super) fn or_zero(self) -> u64 {
        self.count().unwrap_or(0)
    }
}

/// A visitor that takes one kind of value and lets every other one go by.
macro_rules! lenient {
    ({$($generics:tt)*} $type:ty { $($methods:tt)* }) => {
        impl<$($generics)*> Visitor<'de> for Taking<$type> {
            type Value = $type;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            $($methods)*
        }

        impl<$($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Taking::<Self>(PhantomData))
            }
        }
    };
}

struct Taking<T>(PhantomData<T>);

/// What a visitor does with a value that it has no use for.
macro_rules! pass {
    ($($method:ident($value:ty)),* $(,)?) => {
        $(fn $method<E>(self, _: $value) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        })*
    };
    (unit) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

lenient!({'de: 'a, 'a} Words<'a> {
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'a>, E> {
        Ok(Words(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Words<'a>, E> {
        Ok(Words(Some(Cow::Owned(text.to_owned()))))
    }

    pass!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
    pass!(unit);
    pass!(seq);
    pass!(map);
});

lenient!({'de} Number {
    fn visit_i64<E>(self, n: i64) -> Result<Number, E> {
        Ok(Number(Some(n as f64)))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Number, E> {
        Ok(Number(Some(n as f64)))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Number, E> {
        Ok(Number(Some(n)))
    }

    pass!(visit_bool(bool), visit_str(&str));
    pass!(unit);
    pass!(seq);
    pass!(map);
});

lenient!({'de} Switch {
    fn visit_bool<E>(self, on: bool) -> Result<Switch, E> {
        Ok(Switch(Some(on)))
    }

    pass!(visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    pass!(unit);
    pass!(seq);
    pass!(map);
});

lenient!({'de, T: Deserialize<'de>} Many<T> {
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(Maybe(item)) = seq.next_element::<Maybe<T>>()? {
            items.extend(item);
        }
        Ok(Many(items))
    }

    pass!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    pass!(unit);
    pass!(map);
});

lenient!({'de, T: Deserialize<'de>} Maybe<T> {
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Maybe<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Maybe(Some(value)))
    }

    pass!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    pass!(unit);
    pass!(seq);
});

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    struct Line<'a> {
        #[serde(borrow)]
        words: Words<'a>,
        number: Number,
        switch: Switch,
        many: Many<Inner>,
        maybe: Maybe<Inner>,
    }

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default)]
    struct Inner {
        n: Number,
    }

    #[test]
    fn each_field_takes_its_own_kind_and_nothing_else() {
        let values = [
            "null", "true", "3", "-3.5", r#""w""#, r#"[1,{"n":1}]"#, r#"{"n":2}"#,
        ];
        for value in values {
            let line = format!(
                r#"{{"words":{value},"number":{value},"switch":{value},"many":{value},"maybe":{value}}}"#
            );
            let line: Line<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(line.words.get(), (value == r#""w""#).then_some("w"));
            assert_eq!(line.number.0, value.parse().ok());
            assert_eq!(line.switch.0, value.parse().ok());
            assert_eq!(line.many.0.len(), usize::from(value.starts_with('[')));
            let n = line.maybe.0.and_then(|inner| inner.n.count());
            assert_eq!(n, value.starts_with('{').then_some(2));
        }
        assert_eq!(Number(Some(-1.0)).count(), None);
        assert_eq!(Number(Some(f64::NAN)).or_zero(), 0);
    }
}
