//! The formats of task files.

/// The kinds of task file that people already have on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Format {
    /// `## Phase N: …` with `- [ ] T001 [P] [US1] …`.
    #[strum(to_string = "spec-kit")]
    SpecKit,
    /// `## 1. Group` with `- [ ] 1.1 … | agent: …`.
    #[strum(to_string = "openspec")]
    OpenSpec,
    /// snarktank's `prd.json` with `userStories[].passes`.
    #[strum(to_string = "prd.json")]
    PrdJson,
    /// frankbria's `.ralph/fix_plan.md` with optional sections.
    FixPlan,
    /// Any other Markdown file with boxes.
    Plain,
}
