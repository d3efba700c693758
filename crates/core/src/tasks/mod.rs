//! Task files: reading them, counting, choosing the next task, changing one
//! box, and telling what is doubtful about them.
//!
//! Bytes go in and data comes out; finding and writing files is the caller's
//! work. Five formats are known, see [`Format`]. The rule that runs through
//! all of this: losing a real task is worse than counting one too many, so
//! every doubt is counted and then reported by [`TaskList::lint`].

mod change;
mod compare;
mod depends;
mod detect;
mod edit;
mod error;
mod fields;
mod finding;
mod format;
mod human_only;
mod json;
mod lint;
mod markdown;
mod model;
mod order;
mod pick;
mod picture;
mod prd_json;
mod progress_block;
mod read;
mod say;
mod sections;

#[cfg(test)]
mod tests;

pub use change::{ChangedList, ListChange};
pub use compare::{Changes, Moved, compare, moved};
pub use depends::Unmet;
pub use detect::{DETECTION_ORDER, detection_rank};
pub use edit::{set_mark, set_marks};
pub use error::{TaskError, Unfit};
pub use finding::{Finding, FindingKind, Severity};
pub use format::Format;
pub use markdown::Unclosed;
pub use model::{Counts, Mode, Phase, Scope, Task, TaskList};
pub use order::{Before, Piece, Why};
pub use pick::{Pick, Waiting};
pub use picture::picture;
pub use progress_block::sync_progress_block;
pub use read::{MAX_BYTES, ReadOptions, read};
