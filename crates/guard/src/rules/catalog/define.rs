//! How the table of rules is written: each row becomes a name that judges can
//! report, so that a rule that does not exist is not compiled.

/// `Name = "its.id", Family; reason text!(…) hint text!(…) matches […] not_matches […];`
/// with `, pack: Name` or `, off: true` behind the family where it applies.
macro_rules! rules {
    ($($name:ident = $id:literal, $family:ident $(, pack: $pack:ident)? $(, off: $off:literal)?;
        reason $reason:ident ! $reasons:tt
        hint $hint:ident ! $hints:tt
        matches [$($matched:expr),*]
        not_matches [$($unmatched:expr),*];)*) => {
        /// The name of a built-in rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RuleId {
            $($name,)*
        }

        impl RuleId {
            /// What settings and journals call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(RuleId::$name => $id,)*
                }
            }
        }

        /// Every rule, in the order of [`RuleId`].
        pub(super) static RULES: &[super::Rule] = &[
            $(super::Rule {
                id: $id,
                family: super::Family::$family,
                pack: rules!(@pack $($pack)?),
                off: rules!(@off $($off)?),
                reason: $reason! $reasons,
                hint: $hint! $hints,
                matches: &[$($matched),*],
                not_matches: &[$($unmatched),*],
            },)*
        ];
    };
    (@pack) => { None };
    (@pack $pack:ident) => { Some(super::GuardPack::$pack) };
    (@off) => { false };
    (@off $off:literal) => { $off };
}
