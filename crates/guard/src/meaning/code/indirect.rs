//! Code that says what it does in a roundabout way: a function that is named
//! by a string, and the home directory as a value.

use super::Language;
use super::token::{self, Token};
use crate::meaning::{Env, Flow, Walker, files, known};

/// Functions that run a command, as a string may name them.
const RUNNERS: &[&str] = words!(
    "system exec execSync execFile execFileSync spawn spawnSync popen passthru shell_exec
     proc_open pcntl_exec Popen check_output eval assert"
);

/// Functions that delete.
const DELETERS: &[&str] =
    words!("unlink rmdir rmtree rmSync unlinkSync rmdirSync rm_rf remove_tree removedirs");

/// What finds the home directory, as it is written without blanks.
const HOMES: &[&str] = words!(
    "Path.home() homedir() Dir.home process.env.HOME expanduser( ENV{HOME} getenv( os.environ[
     ENV[ UserHomeDir()"
);

/// What deletes, as it is written without blanks.
const DELETIONS: &[&str] = words!(
    ".unlink( rmtree( os.remove( os.unlink( rmSync( unlinkSync( rm_rf rm_r( remove_tree(
     unlink( RemoveAll( remove_dir_all("
);

pub fn judge(walker: &mut Walker, language: Language, text: &str, tokens: &[Token], env: &Env) {
    let strings: Vec<&str> = token::strings(tokens).collect();
    if strings.iter().any(|text| RUNNERS.contains(text)) && calls_a_value(tokens) {
        for text in strings.iter().filter(|text| text.contains(' ')) {
            walker.aside(text, env);
        }
    }
    if strings.iter().any(|text| DELETERS.contains(text)) && calls_a_value(tokens) {
        files::delete_all(
            walker,
            strings.iter().filter(|text| text.contains(['/', '~'])),
            env,
        );
    }
    below_home(walker, text, &strings, env);
    if language == Language::Other {
        any_language(walker, text, &strings, env);
    }
}

/// A language that we do not know: what stands in its strings is a command
/// where something runs commands, and a target where something deletes.
fn any_language(walker: &mut Walker, text: &str, strings: &[&str], env: &Env) {
    const RUNS: &[&str] =
        words!("system exec cmd command process Process run shell popen spawn sh( qx");
    const DELETES: &[&str] =
        words!("rm( rm_rf File.rm file.remove unlink delete remove Remove rmtree rmdir");
    if RUNS.iter().any(|word| text.contains(word)) {
        for (at, first) in strings.iter().enumerate() {
            if first.contains(' ') {
                let program = first.split_whitespace().next().unwrap_or_default();
                if known::is_dangerous_program(program) {
                    walker.aside(first, env);
                }
            } else if known::is_dangerous_program(first) {
                let rest = strings.iter().skip(at);
                let argv: Vec<String> = rest.map(|text| (*text).to_owned()).collect();
                walker.run(&argv, &mut env.clone(), &Flow::Unknown);
            }
        }
    }
    if DELETES.iter().any(|word| text.contains(word)) {
        let is_path = |word: &&str| word.starts_with(['/', '~']) || word.starts_with("$HOME");
        let words = text.split([' ', '(', ')', ',', '"', '\'', ';', '\n']);
        for word in words.filter(is_path) {
            let home = walker.home();
            let path = match word.strip_prefix('~').or(word.strip_prefix("$HOME")) {
                Some(rest) => format!("{home}{rest}"),
                None => word.to_owned(),
            };
            files::delete(walker, &path, env, true);
        }
    }
}

/// Is something called whose name does not stand there: `$f(…)`, `x["f"](…)`,
/// `call_user_func("f", …)`?
fn calls_a_value(tokens: &[Token]) -> bool {
    const CALLERS: &[&str] = words!(
        "call_user_func array_map array_walk array_filter usort register_shutdown_function
         ReflectionFunction getattr .send( .public_send( Reflect. $"
    );
    let code = |token: &Token| match token {
        Token::Code(code) => {
            CALLERS.iter().any(|caller| code.contains(caller))
                || code.trim_start().starts_with("](")
        }
        _ => false,
    };
    tokens.iter().any(code)
}

/// What is written, deleted or read in the home directory.
fn below_home(walker: &mut Walker, text: &str, strings: &[&str], env: &Env) {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let named = |home: &&str| {
        compact.contains(*home)
            && (home.to_ascii_lowercase().contains("home")
                || strings
                    .iter()
                    .any(|text| *text == "HOME" || text.starts_with('~')))
    };
    if !HOMES.iter().any(named) {
        return;
    }
    let home = walker.home();
    if DELETIONS.iter().any(|word| compact.contains(word)) {
        files::delete(walker, home, env, true);
    }
    let modes = ["w", "a", "w+", "a+"];
    let writes = WRITES.iter().any(|word| compact.contains(word))
        || strings.iter().any(|text| modes.contains(text));
    for text in strings {
        let name = text.trim_start_matches(['~', '/']);
        if name.starts_with('.') && name.len() > 2 && !name.contains([' ', '\n']) {
            let path = format!("{home}/{name}");
            if writes {
                files::write(walker, &path, env);
            } else {
                files::mentioned(walker, &path, env);
            }
        }
    }
}

/// What writes, as it is written without blanks.
const WRITES: &[&str] = words!(
    "writeFile appendFile .write( write_text( File.write file_put_contents( copyFile
     shutil.copy"
);
