//! `ralph web --fleet`: the page, with the runs of all workers.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as sync_mpsc};
use std::time::{Duration, Instant};

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::clock;
use ralph_fleet::FleetError;
use ralph_fleet::board::{Board, Login, Word};
use ralph_fleet::conf::Role;
use ralph_fleet::job::Phase;
use serde_json::Value;
use tokio::sync::mpsc;

use super::mirror::Mirror;
use crate::app::{App, OrFail};
use crate::args::ServerArgs;
use crate::web::{Elsewhere, Told};

/// How often it is asked who works on what.
const LOOK: Duration = Duration::from_secs(1);
/// A worker says what came of a word within this, or is not there.
pub const ANSWER: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_secs(1);

/// Something to say to a run, and who waits to hear what came of it.
struct Request {
    job: String,
    verb: String,
    body: Value,
    answer: sync_mpsc::Sender<Told>,
}

type Waiting = Arc<Mutex<BTreeMap<String, (Instant, sync_mpsc::Sender<Told>)>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows the server for as long as this process lives; gives what the page
/// shows.
pub fn follow(app: &App) -> Result<Elsewhere, u8> {
    reach(app)?;
    let login = super::login(app, &ServerArgs::default())?;
    let dir = app.home.dir().join("fleet-page");
    let alone = take(app, &dir)?;
    let mut mirror = Mirror::new(&dir);
    mirror.forget();
    let home = mirror.home().clone();
    let (say, requests) = mpsc::unbounded_channel();
    let lang = app.lang();
    std::thread::spawn(move || {
        let _alone = alone;
        let runtime = tokio::runtime::Builder::new_current_thread();
        if let Ok(runtime) = { runtime }.enable_all().build() {
            runtime.block_on(stay(&login, mirror, requests, lang));
        }
    });
    let tell = move |job: &str, verb: &str, body: &Value| {
        let (answer, answered) = sync_mpsc::channel();
        let request = Request {
            job: job.to_owned(),
            verb: verb.to_owned(),
            body: body.clone(),
            answer,
        };
        let gone = || Err(tr!(lang, "the worker does not answer"));
        match say.send(request) {
            Ok(()) => answered.recv_timeout(ANSWER).unwrap_or_else(|_| gone()),
            Err(_) => gone(),
        }
    };
    Ok(Elsewhere {
        home,
        tell: Box::new(tell),
    })
}

/// Says what is wrong where there is no way to the fleet.
pub fn reach(app: &App) -> Result<(), u8> {
    let login = super::login(app, &ServerArgs::default())?;
    let opened = app.block_on(Board::open(&login, Role::Submitter))?;
    opened.or_fail(app).map(drop)
}

/// One page at a time: what is mirrored is nobody else's.
fn take(app: &App, dir: &PathBuf) -> Result<File, u8> {
    let made = std::fs::create_dir_all(dir).and_then(|()| File::create(dir.join("lock")));
    let file = made.or_else(|error| app.refuse(&format!("{}: {error}", dir.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => app.refuse(&tr!(
            app.lang(),
            "another page shows the fleet already; close it, or look at that one"
        )),
    }
}

async fn stay(
    login: &Login,
    mirror: Mirror,
    mut requests: mpsc::UnboundedReceiver<Request>,
    lang: Lang,
) {
    let board = loop {
        match Board::open(login, Role::Submitter).await {
            Ok(board) => break board,
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    };
    let mirror = Arc::new(Mutex::new(mirror));
    let waiting = Waiting::default();
    let hearing = async {
        loop {
            let each = |job: &str, told: ralph_fleet::board::JobEvent| {
                if let Some(answer) = told.event["word"].as_str() {
                    let who = locked(&waiting).remove(answer);
                    let said = told.event["said"].as_str().unwrap_or_default().to_owned();
                    let said = match told.event["ok"] == true {
                        true => Ok(said),
                        false => Err(said),
                    };
                    // Whoever does not wait any more does not want to know.
                    let _ = who.map(|(_, who)| who.send(said));
                }
                locked(&mirror).take(job, told);
            };
            let _ = board.events("*", true, each, async || false).await;
            tokio::time::sleep(AGAIN).await;
            locked(&mirror).forget();
        }
    };
    let looking = async {
        loop {
            if let Ok(states) = board.states().await {
                locked(&mirror).settle(&states);
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let saying = async {
        while let Some(request) = requests.recv().await {
            if let Err(why) = say(&board, &waiting, &request).await {
                let _ = request.answer.send(Err(why.say(lang)));
            }
        }
    };
    tokio::join!(hearing, looking, saying);
}

async fn say(board: &Board, waiting: &Waiting, request: &Request) -> Result<(), FleetError> {
    let (name, word) = word(board, &request.job, &request.verb, &request.body).await?;
    {
        let mut all = locked(waiting);
        // Who asked long ago hears no answer any more.
        all.retain(|_, (since, _)| since.elapsed() < ANSWER);
        all.insert(name.clone(), (Instant::now(), request.answer.clone()));
    }
    board.say(&request.job, &name, &word).await
}

/// A word for whoever works on a job now, with a name of its own.
pub async fn word(
    board: &Board,
    job: &str,
    verb: &str,
    body: &Value,
) -> Result<(String, Word), FleetError> {
    let (state, _) = board.state(job).await?;
    if !matches!(state.phase, Phase::Leased(_)) {
        return Err(FleetError::NotAtWork { id: job.into() });
    }
    let name = format!("{:08x}{:08x}", clock::random(), clock::random());
    let word = Word {
        attempt: state.attempt,
        verb: verb.to_owned(),
        body: body.clone(),
    };
    Ok((name, word))
}
