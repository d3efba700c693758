//! Whose runs are shown: those of one project, or those of a fleet.

#[cfg(feature = "fleet")]
use ralph_core::lang::Lang;
#[cfg(feature = "fleet")]
use ralph_core::tr;
use ralph_engine::watch::{Brief, briefs};
use ralph_store::FileError;
#[cfg(feature = "fleet")]
use ralph_store::home::StateHome;
use ralph_store::layout::{Layout, RunId};
#[cfg(feature = "fleet")]
use serde_json::{Value, json};

#[cfg(feature = "fleet")]
use super::{Act, http::Response};

#[derive(Debug)]
pub enum Projects {
    One(Layout),
    #[cfg(feature = "fleet")]
    Elsewhere(Elsewhere),
}

/// What came of a word: what was said, or what is wrong.
#[cfg(feature = "fleet")]
pub type Told = Result<String, String>;

/// Says something to the run of a job: a verb of the page, and its body.
#[cfg(feature = "fleet")]
pub type Tell = Box<dyn Fn(&str, &str, &Value) -> Told + Send + Sync>;

/// Runs of other machines, as far as they are known here.
#[cfg(feature = "fleet")]
pub struct Elsewhere {
    /// A project for each job, with its name.
    pub home: StateHome,
    pub tell: Tell,
}

#[cfg(feature = "fleet")]
impl std::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Elsewhere({})", self.home.dir().display())
    }
}

fn name(layout: &Layout) -> String {
    let root = layout.root();
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

impl Projects {
    /// What the page is called, and the run that it begins with.
    pub fn in_short(&self) -> (String, Option<RunId>) {
        match self {
            Projects::One(layout) => {
                let current = layout.current_run().ok().flatten();
                (name(layout), current.map(|run| run.id))
            }
            #[cfg(feature = "fleet")]
            Projects::Elsewhere(_) => ("fleet".into(), None),
        }
    }

    /// Where a run stands, where there is one.
    #[cfg_attr(
        not(feature = "fleet"),
        expect(unused_variables, reason = "there is one project")
    )]
    pub fn of_run(&self, run: &RunId) -> Option<Layout> {
        match self {
            Projects::One(layout) => Some(layout.clone()),
            #[cfg(feature = "fleet")]
            Projects::Elsewhere(elsewhere) => {
                let mut layouts = elsewhere.layouts();
                layouts.find(|layout| layout.run(run).journal().is_file())
            }
        }
    }

    /// The newest runs, with the jobs that they belong to.
    pub fn briefs(&self, most: usize) -> Result<Vec<(Option<String>, Brief)>, FileError> {
        match self {
            Projects::One(layout) => {
                let all = briefs(layout, most)?.into_iter();
                Ok(all.map(|brief| (None, brief)).collect())
            }
            #[cfg(feature = "fleet")]
            Projects::Elsewhere(elsewhere) => {
                let mut all = Vec::new();
                for layout in elsewhere.layouts() {
                    let runs = briefs(&layout, 1)?.into_iter();
                    all.extend(runs.map(|brief| (Some(name(&layout)), brief)));
                }
                // Those that live first, in an order that stays; then the newest.
                all.sort_by(|(job, brief), (other_job, other)| {
                    let newest = || other.updated.cmp(&brief.updated);
                    match (brief.pid.is_some(), other.pid.is_some()) {
                        (true, true) => job.cmp(other_job),
                        (false, false) => newest(),
                        (lives, _) => lives.cmp(&false).reverse(),
                    }
                });
                all.truncate(most);
                Ok(all)
            }
        }
    }

    #[cfg(feature = "fleet")]
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Projects::Elsewhere(_))
    }

    /// Says something to a run of another machine.
    #[cfg(feature = "fleet")]
    pub fn say(
        &self,
        layout: &Layout,
        (act, verb, body): (&Act, &str, &[u8]),
        lang: Lang,
    ) -> Response {
        let Projects::Elsewhere(elsewhere) = self else {
            return Response::problem(409, "");
        };
        if !act.is_for_the_living() {
            let why = tr!(lang, "this can't be done from another machine");
            return Response::problem(409, &why);
        }
        let body = serde_json::from_slice(body).unwrap_or(Value::Null);
        match (elsewhere.tell)(&name(layout), verb, &body) {
            Ok(said) => Response::json(&json!({ "said": said })),
            Err(why) => Response::problem(409, &why),
        }
    }
}

#[cfg(feature = "fleet")]
impl Elsewhere {
    fn layouts(&self) -> impl Iterator<Item = Layout> {
        let known = self.home.known().into_iter();
        known.map(|known| Layout::new(&known.root, &self.home))
    }
}
