//! What can be typed about jobs on many machines.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct FleetArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(subcommand)]
    pub verb: FleetVerb,
}

#[derive(Debug, Default, Args)]
pub struct ServerArgs {
    /// The NATS server, tls://HOST:4222 [default: $RALPH_FLEET_SERVER, or 127.0.0.1]
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// File with the seed of an nkey [default: $RALPH_FLEET_KEY]
    #[arg(long, global = true, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Credentials file of the server's account [default: $RALPH_FLEET_CREDS]
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "key")]
    pub creds: Option<PathBuf>,
    /// Certificates of whoever signed the server's [default: $RALPH_FLEET_CA]
    #[arg(long, global = true, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum FleetVerb {
    /// Write a configuration and keys for a server, or make its buckets
    Init(FleetInitArgs),
    /// Put a job into the queue; the same submission twice is one job
    Submit(FleetSubmitArgs),
    /// Work on jobs until told to go
    Worker(FleetWorkerArgs),
    /// List jobs
    List(FleetListArgs),
    /// Count jobs, and show the workers
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the events of a job's run
    Logs {
        job: String,
        /// Go on until the job is over
        #[arg(long, short)]
        follow: bool,
        /// Print the events as they are
        #[arg(long)]
        json: bool,
    },
    /// Show all that is known of a job, and its report
    Show {
        job: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a job back; a worker that has it ends its run
    Cancel { job: String },
    /// Let workers finish what they have, take nothing more, and go
    Drain {
        /// Workers, as `ralph fleet status` names them [default: all]
        workers: Vec<String>,
    },
    /// Say something to the run of a job: pause, stop, wake, extend N, answer N WORDS, hint WORDS, …
    Tell {
        job: String,
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Bring the branch of a job into this repository, as ralph/JOB
    Fetch(FleetFetchArgs),
}

#[derive(Debug, Args)]
pub struct FleetInitArgs {
    /// Where the files go
    #[arg(default_value = "ralph-fleet")]
    pub dir: PathBuf,
    /// Address that the server listens on
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<SocketAddr>,
    /// Certificate of the server
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Gigabytes that the server may store
    #[arg(long, value_name = "GB", default_value_t = 10)]
    pub max_store: u32,
    /// The server is older than 2.10, as Debian 12 has it
    #[arg(long)]
    pub old_server: bool,
    /// Make the buckets on a server that runs, with the operator's key
    #[arg(long, conflicts_with_all = ["tls_cert", "old_server"])]
    pub buckets: bool,
}

#[derive(Debug, Args)]
pub struct FleetSubmitArgs {
    /// What to do, where there is no task file
    pub prompt: Option<String>,
    /// Task file, as it is in the commit
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub tasks: Option<PathBuf>,
    /// File with one prompt per line, each of them a job
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "tasks", "id"])]
    pub prompts: Option<PathBuf>,
    /// Repository that workers clone [default: this one, through the server]
    #[arg(long, value_name = "URL")]
    pub repo: Option<String>,
    /// Commit to begin with [default: HEAD]
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Only for workers with all of these
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Variables that the worker has to hold; only their names are sent
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub secrets: Vec<String>,
    /// Higher comes first
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub priority: i32,
    /// Turns that the run may take
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// Name of the job [default: made from what is asked for]
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FleetWorkerArgs {
    /// Name of this worker [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What it is: jobs can ask for that
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Variables of its environment that jobs may get which ask for them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub secrets: Vec<String>,
    /// Jobs at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub capacity: u16,
    /// Account of the agents: a usage limit that one worker meets holds all with it
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Where it works [default: below Ralph's state folder]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Seconds after which a silent worker's jobs are taken over
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub lease: u64,
    /// Go when no job is left that it could do
    #[arg(long)]
    pub until_empty: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// More for each `ralph run`: -- --agent codex --max-cost 5usd
    #[arg(last = true, value_name = "OPTIONS")]
    pub run: Vec<String>,
}

#[derive(Debug, Args)]
pub struct FleetFetchArgs {
    #[arg(required = true, value_name = "JOB")]
    pub jobs: Vec<String>,
    /// Bring it onto your branch, where its checks are green there
    #[arg(long)]
    pub land: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// More for the `ralph run` that lands: -- --verify 'cargo test'
    #[arg(last = true, value_name = "OPTIONS", requires = "land")]
    pub run: Vec<String>,
}

#[derive(Debug, Args)]
pub struct FleetListArgs {
    /// Only jobs that are not over
    #[arg(long)]
    pub open: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl FleetVerb {
    /// Whether it does more than look.
    pub fn acts(&self) -> bool {
        !matches!(
            self,
            FleetVerb::List(_)
                | FleetVerb::Status { .. }
                | FleetVerb::Logs { .. }
                | FleetVerb::Show { .. }
        )
    }
}
