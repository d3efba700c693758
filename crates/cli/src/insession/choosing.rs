//! The menu of an unfinished loop, as seed 004 shows it: in a session it is
//! shown in one call of a hook, and answered in the next (RESM-04).

use ralph_core::display::{self, ResumeView, Screen};
use ralph_core::machine::Request;
use ralph_core::tr;
use ralph_engine::past::{self, Past};
use ralph_engine::plan::Asked;
use ralph_engine::session::adopt::{self, Foreign};
use ralph_engine::session::{InSession, SessionLoop, Verdict, index};
use ralph_store::checkpoint::CheckpointDir;
use ralph_store::layout::RunId;

use super::{Here, Problem, Steered, WIDE, cancelled, ending, slash, taken_up};
use crate::app;
use crate::commands::from_file::Source;
use crate::commands::resume::Choice;
use crate::commands::{from_file, resume};

/// Of how many loops it is looked whether they rest.
const LOOKED_AT: usize = 3;

/// What stands in front of a run whose box at a limit was shown.
const AT_LIMIT: &str = "limit ";

/// What was offered with the box at a limit.
pub(super) fn at_limit_of(run: &RunId) -> String {
    format!("{AT_LIMIT}{run}")
}

/// What a person may take up here.
enum Unfinished {
    Run(RunId, Box<Past>),
    /// A state file is all that there is of it (RESM-06).
    File(Foreign),
    /// Neither is left, and a checkpoint is (RESM-06).
    Checkpoint(Box<Source>),
}

impl Unfinished {
    /// What was offered, and so what an answer is about.
    fn name(&self) -> String {
        match self {
            Unfinished::Run(run, _) => run.to_string(),
            Unfinished::File(_) => "file".to_owned(),
            Unfinished::Checkpoint(_) => "checkpoint".to_owned(),
        }
    }

    fn view(&self) -> Option<ResumeView> {
        match self {
            Unfinished::Run(_, past) => Some(resume::view(past)),
            Unfinished::File(Foreign::Delta(state)) => {
                let asked = Foreign::Delta(state.clone()).asked();
                Some(from_file::view(state, &asked))
            }
            Unfinished::File(Foreign::Plugin(_)) => None,
            Unfinished::Checkpoint(found) => Some(from_file::view(&found.state, &found.asked)),
        }
    }
}

impl Here {
    /// This session's own loop where it rests, else the newest of the project
    /// that does, else what a state file says, else what a checkpoint does.
    fn find_unfinished(&self) -> Option<Unfinished> {
        let left = index::all(&self.layout).into_iter().take(LOOKED_AT);
        let rests = self.run().into_iter().chain(left);
        let rests = rests.into_iter().find(|run| self.rests(run));
        let of_run = rests.and_then(|run| {
            let past = past::read(&self.layout.run(&run)).ok()?;
            Some(Unfinished::Run(run, Box::new(past)))
        });
        of_run
            .or_else(|| {
                let found = adopt::find(&self.layout, &self.session).ok()??;
                Some(Unfinished::File(found)).filter(|found| found.view().is_some())
            })
            .or_else(|| Some(Unfinished::Checkpoint(Box::new(self.checkpoint()?))))
    }

    /// The checkpoint of a task that no run of ours knows.
    fn checkpoint(&self) -> Option<Source> {
        let (settings, _) = self.settings(&[]).ok()?;
        let dir = self.layout.checkpoint_dir(&settings.checkpoint.dir);
        let found = CheckpointDir::new(dir, settings.checkpoint.backups).load();
        let found = found.ok()?.checkpoint;
        let is_new = adopt::runs_of(&self.layout, &found.task_id).is_empty();
        is_new.then(|| from_file::of_checkpoint(&found))
    }

    /// The unfinished loop that a person may take up here, when a session
    /// begins, and how that is done from here.
    pub fn unfinished(&self) -> Option<String> {
        let found = self.find_unfinished()?;
        // It may be older than anybody remembers: who wants it asks for it.
        if matches!(found, Unfinished::Checkpoint(_)) {
            return None;
        }
        let screen = self.screen();
        let notice = display::resume_notice(&screen, &found.view()?);
        index::offer(&self.layout, &self.session, &found.name());
        let slash = slash(self.root(), self.host);
        let words = tr!(
            screen.lang,
            "Type 1 to 4 to choose here, or say \"continue\" to go on and {slash}cancel-ralph to give it up; in a terminal, `ralph resume` asks the same."
        );
        Some(format!("{notice}{words}\n"))
    }

    /// `/do --resume`: a person chooses what becomes of the loop that rests.
    pub fn offer(&self) -> Result<Steered, Problem> {
        if let Some(run) = self.run()
            && let Some(text) = self.open(&run)?.remind()
        {
            return Ok(Steered::Told(text));
        }
        // One that can't be read says so, and hides nothing.
        if !matches!(self.find_unfinished(), Some(Unfinished::Run(..))) {
            adopt::find(&self.layout, &self.session).map_err(Problem::Foreign)?;
        }
        Ok(self.menu().map_or(Steered::NoLoop, Steered::Ended))
    }

    fn menu(&self) -> Option<String> {
        let found = self.find_unfinished()?;
        index::offer(&self.layout, &self.session, &found.name());
        Some(display::resume_menu(&self.screen(), &found.view()?))
    }

    /// The person's answer to what was offered; `None` where that is not what
    /// there is any more.
    pub fn choose(&self, offered: &str, choice: Choice) -> Result<Option<Steered>, Problem> {
        if let Some(run) = offered.strip_prefix(AT_LIMIT).and_then(RunId::parse) {
            return match self.rests(&run) {
                true => self.choose_at_limit(&run, choice).map(Some),
                false => Ok(None),
            };
        }
        let found = self.find_unfinished();
        let Some(found) = found.filter(|found| found.name() == offered) else {
            return Ok(None);
        };
        let steered = match (choice, found) {
            (Choice::Continue, Unfinished::Run(run, _)) => self.go_on_with(&run)?,
            (Choice::Continue, Unfinished::File(_)) => self.go_on_from_file()?,
            (Choice::Restart, Unfinished::Run(run, past)) => {
                let asked = adopt::asked_from_the_beginning(&self.layout, &past.header);
                let begun = self.start_over(asked)?;
                index::forget_run(&self.layout, &run);
                begun
            }
            (Choice::Restart, Unfinished::File(foreign)) => {
                self.start_over(foreign.asked_anew())?
            }
            (Choice::Continue, Unfinished::Checkpoint(found)) => {
                let (opened, verdict) = self.go_on_from(found.asked)?;
                begun(&opened, verdict)
            }
            (Choice::Restart, Unfinished::Checkpoint(found)) => self.start_over(found.asked)?,
            (Choice::Abandon, Unfinished::Checkpoint(found)) => {
                let (mut opened, _) = self.go_on_from(found.asked)?;
                let turn = opened.state().turn.number;
                opened.leave(Request::Cancel)?;
                Steered::Ended(cancelled(turn, opened.plan().lang))
            }
            (Choice::Show, found) => {
                let details = self.details(&found);
                let menu = self.menu().unwrap_or_default();
                Steered::Ended(format!("{}\n\n{menu}", details.trim_end()))
            }
            (Choice::Abandon, Unfinished::Run(run, past)) => {
                let mut opened = self.open(&run)?;
                opened.leave(Request::Cancel)?;
                let lang = opened.plan().lang;
                Steered::Ended(cancelled(past.state.turn.number, lang))
            }
            (Choice::Abandon, Unfinished::File(_)) => self.leave_foreign(Request::Cancel)?,
        };
        Ok(Some(steered))
    }

    /// The lines of the box at a limit stand for the same as in a terminal
    /// (VALV-05).
    fn choose_at_limit(&self, run: &RunId, choice: Choice) -> Result<Steered, Problem> {
        let lang = self.screen().lang;
        Ok(match choice {
            Choice::Continue => self.go_on_with(run)?,
            Choice::Restart => {
                index::offer(&self.layout, &self.session, &at_limit_of(run));
                let past = past::read(&self.layout.run(run));
                let open = past.map(|past| past.state.claims.file.parts());
                let open = open.unwrap_or_default().into_iter().map(|part| part.id);
                let open = open.collect::<Vec<_>>().join(", ");
                let how = tr!(
                    lang,
                    "Leave tasks out in a terminal with `ralph tasks skip ID`, then say \"continue\" here; they are not done, and the end says so."
                );
                Steered::Ended(match open.is_empty() {
                    true => how,
                    false => tr!(lang, "{how} Open are: {open}"),
                })
            }
            Choice::Show => Steered::Ended(tr!(
                lang,
                "Progress is saved; \"continue\" goes on, here or in another session."
            )),
            Choice::Abandon => {
                let mut opened = self.open(run)?;
                let turn = opened.state().turn.number;
                opened.leave(Request::Cancel)?;
                Steered::Ended(cancelled(turn, lang))
            }
        })
    }

    /// The same wish once more, from its first turn.
    fn start_over(&self, mut asked: Asked) -> Result<Steered, Problem> {
        asked.adopted = None;
        let plan = self.plan(asked)?;
        let (opened, verdict) = SessionLoop::start(plan, &self.in_session())?;
        Ok(begun(&opened, verdict))
    }

    /// The same wish, from the turn that it came to.
    fn go_on_from(&self, asked: Asked) -> Result<(SessionLoop, Verdict), Problem> {
        let adopted = asked.adopted.clone();
        let mut plan = self.plan(asked)?;
        plan.rules.turns_before = adopted.as_ref().map_or(0, |adopted| adopted.turns);
        let session = InSession {
            task_id: adopted.map(|adopted| adopted.task_id),
            ..self.in_session()
        };
        Ok(SessionLoop::start(plan, &session)?)
    }

    fn details(&self, found: &Unfinished) -> String {
        match found {
            Unfinished::Run(run, past) => resume::details(&self.screen(), &self.layout, run, past),
            Unfinished::File(Foreign::Delta(state)) => state.write(),
            Unfinished::File(Foreign::Plugin(_)) => String::new(),
            Unfinished::Checkpoint(found) => found.state.write(),
        }
    }

    fn screen(&self) -> Screen {
        let configured = self.settings(&[]).ok();
        let configured = configured.map_or_else(String::new, |(settings, _)| settings.lang);
        Screen {
            lang: app::hook_lang(&configured),
            width: WIDE,
            ..Screen::default()
        }
    }
}

/// What a loop that begins tells.
fn begun(opened: &SessionLoop, verdict: Verdict) -> Steered {
    match verdict {
        Verdict::GoOn(go_on) => taken_up(opened, go_on.text),
        Verdict::Ended(ended) => Steered::Ended(ending(opened, &ended)),
    }
}
