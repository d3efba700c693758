//! What `make` and `just` run: the recipes of what is asked for.

use super::super::files::{self, is_object};
use super::unsaid::assigned;
use super::{Court, MOST, Part, joined};

/// A file of recipes, as far as it takes to know who decides.
pub(super) struct Recipes {
    rules: Vec<Rule>,
    /// Lines under a name, which recipes take in by it.
    defined: Vec<(String, String)>,
    pub variables: String,
    /// What it makes where nothing is asked for.
    pub goal: Option<String>,
}

struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    recipe: String,
}

/// What a call of `make` asks for.
#[derive(Default)]
pub(super) struct Call {
    pub folder: Option<String>,
    pub files: Vec<String>,
    pub targets: Vec<String>,
}

impl Call {
    pub fn of(args: &[String]) -> Call {
        let mut call = Call::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = |names: [&str; 2]| {
                let rest = names.iter().find_map(|name| arg.strip_prefix(name))?;
                match rest.trim_start_matches('=') {
                    "" => args.next().cloned(),
                    rest => Some(rest.to_owned()),
                }
            };
            if let Some(folder) = value(["--directory", "-C"]) {
                call.folder = Some(folder);
            } else if let Some(file) = value(["--file", "-f"]) {
                call.files.push(file);
            } else if !arg.starts_with('-') && !arg.contains('=') {
                call.targets.push(arg.clone());
            }
        }
        call
    }
}

/// The files that a text takes in.
pub(super) fn included(text: &str) -> Vec<String> {
    let words = text.lines().map(|line| line.split_whitespace());
    let files = words.filter_map(|mut words| {
        let first = words.next()?;
        ["include", "-include", "sinclude", "import"]
            .contains(&first)
            .then(|| words.map(|word| word.trim_matches(['\'', '"']).to_owned()))
    });
    files.flatten().collect()
}

impl Court<'_> {
    /// The lines of a target and of all that it needs.
    pub(super) fn recipes(&mut self, files: &[&str], args: &[String], folder: &str) -> Part {
        let is_make = files.contains(&"Makefile");
        let call = Call::of(args);
        let folder = call
            .folder
            .as_ref()
            .map_or(folder.to_owned(), |to| joined(folder, to));
        let Some(text) = self.recipe_text(files, &call, &folder) else {
            return Part::None;
        };
        let recipes = Recipes::read(&text);
        let mut wanted = call.targets.clone();
        if wanted.is_empty() {
            wanted.extend(recipes.goal.clone());
        }
        let mut done: Vec<String> = Vec::new();
        let mut part = Part::None;
        while let Some(name) = wanted.pop() {
            if done.len() >= MOST || done.contains(&name) {
                continue;
            }
            let (recipe, needs) = recipes.of(&name);
            let place = joined(&folder, &name);
            let is_made = call.targets.contains(&name) || recipes.make(&name);
            let is_name = !name.contains(['$', '%']);
            let is_new = self.read(&place).is_none() && !self.made.contains(&place);
            if is_made && is_make && is_name && is_new {
                self.made.push(place);
            }
            wanted.extend(needs);
            if self.hand_on(&recipe, &folder, &recipes.variables) == Part::Tests {
                part = Part::Tests;
            }
            done.push(name);
        }
        part
    }

    /// The file of a call with all that it takes in; what is not called as such
    /// files are belongs to the checks all the same.
    fn recipe_text(&mut self, files: &[&str], call: &Call, folder: &str) -> Option<String> {
        let usual = files.iter().map(|file| joined(folder, file));
        let mut names: Vec<String> = match call.files.is_empty() {
            true => usual
                .filter(|file| self.read(file).is_some())
                .take(1)
                .collect(),
            false => call.files.iter().map(|file| joined(folder, file)).collect(),
        };
        let mut all: Option<String> = None;
        let mut at = 0;
        while let Some(name) = names.get(at).cloned().filter(|_| at < MOST) {
            at += 1;
            let Some(text) = self.read(&name) else {
                continue;
            };
            for file in included(&text).iter().map(|file| joined(folder, file)) {
                if !names.contains(&file) {
                    names.push(file);
                }
            }
            if !files::kind_of(&name).is_check() && !self.found.contains(&name) {
                self.found.push(name);
            }
            let all = all.get_or_insert_default();
            all.push_str(&text);
            all.push('\n');
        }
        all
    }
}

impl Recipes {
    pub fn read(text: &str) -> Recipes {
        let mut read = Recipes {
            rules: Vec::new(),
            defined: Vec::new(),
            variables: String::new(),
            goal: None,
        };
        let (mut is_in, mut is_defined) = (false, false);
        for line in text.replace("\\\n", " ").lines() {
            if let Some(name) = line.trim_start().strip_prefix("define ") {
                let name = name.trim().trim_end_matches(['=', ':', ' ']);
                read.defined.push((name.to_owned(), String::new()));
                is_defined = true;
            } else if is_defined {
                is_defined = line.trim() != "endef";
                if let Some((_, lines)) = read.defined.last_mut().filter(|_| is_defined) {
                    lines.push_str(&as_shell(line));
                }
            } else if line.starts_with([' ', '\t']) {
                if let Some(rule) = read.rules.last_mut().filter(|_| is_in) {
                    rule.add(line);
                }
            } else if let Some(goal) = line.strip_prefix(".DEFAULT_GOAL") {
                let goal = goal.trim_start_matches([' ', ':', '=']).trim();
                read.goal = Some(goal.to_owned());
            } else if let Some(rule) = Rule::of(line) {
                is_in = true;
                read.rules.push(rule);
            } else if line.contains('=') {
                is_in = false;
                read.variables.push_str(line);
                read.variables.push('\n');
            }
        }
        if read.goal.is_none() {
            let first = read.rules.iter().flat_map(|rule| &rule.targets);
            read.goal = first.clone().next().cloned();
        }
        read
    }

    /// The recipe of a target, and what it needs; that of every pattern where
    /// it has none.
    pub fn of(&self, name: &str) -> (String, Vec<String>) {
        let is_of = |rule: &&Rule| rule.targets.iter().any(|target| target == name);
        let mut rules: Vec<&Rule> = self.rules.iter().filter(is_of).collect();
        if rules.is_empty() {
            let is_pattern = |rule: &&Rule| rule.targets.iter().any(|t| t.contains('%'));
            rules = self.rules.iter().filter(is_pattern).collect();
        }
        let needs = rules.iter().flat_map(|rule| &rule.needs);
        let needs = needs.flat_map(|need| self.values(need)).collect();
        let mut recipe: String = rules.iter().map(|rule| rule.recipe.as_str()).collect();
        self.take_in_defined(&mut recipe);
        (recipe, needs)
    }

    /// Whether something is made under this name, by a recipe or by a rule
    /// that make brings along.
    pub fn make(&self, name: &str) -> bool {
        let makes = |rule: &Rule| {
            let is_built = rule.needs.iter().any(|need| is_object(need));
            rule.targets.iter().any(|target| target == name)
                && (!rule.recipe.is_empty() || is_built)
        };
        // A pattern of every name would be one of those that are written, too.
        let fits = |target: &String| {
            let parts = target.split_once('%').filter(|parts| *parts != ("", ""));
            parts.is_some_and(|(start, end)| name.starts_with(start) && name.ends_with(end))
        };
        let by_pattern = |rule: &Rule| rule.targets.iter().any(fits);
        let mut rules = self.rules.iter();
        is_object(name) || rules.any(|rule| makes(rule) || by_pattern(rule))
    }

    /// The lines of each name that a recipe, or what it takes in, mentions.
    fn take_in_defined(&self, recipe: &mut String) {
        let mut left: Vec<_> = self.defined.iter().collect();
        let is_asked = |recipe: &str, name: &str| recipe.contains('$') && recipe.contains(name);
        while let Some(at) = left.iter().position(|(name, _)| is_asked(recipe, name)) {
            recipe.push_str(&left.remove(at).1);
        }
    }

    /// What a word among the needs stands for.
    fn values(&self, need: &str) -> Vec<String> {
        let Some(name) = need.strip_prefix("$(").or(need.strip_prefix("${")) else {
            return vec![need.to_owned()];
        };
        let name = name.split([')', '}', ':']).next().unwrap_or_default();
        let values = assigned(name, &self.variables);
        let words = values.iter().flat_map(|value| value.split_whitespace());
        let words: Vec<String> = words.map(str::to_owned).collect();
        match words.is_empty() {
            true => vec![need.to_owned()],
            false => words,
        }
    }
}

impl Rule {
    fn of(line: &str) -> Option<Rule> {
        let (names, rest) = line.split_once(':')?;
        let is_rule =
            !line.starts_with(['#', '.']) && !rest.starts_with('=') && !names.contains('=');
        let targets: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        if !is_rule || targets.is_empty() {
            return None;
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
        let words = needs.split_whitespace();
        let mut rule = Rule {
            targets,
            needs: words.map(str::to_owned).collect(),
            recipe: String::new(),
        };
        if !inline.trim().is_empty() {
            rule.add(inline);
        }
        Some(rule)
    }

    fn add(&mut self, line: &str) {
        self.recipe.push_str(&as_shell(line));
    }
}

/// A line of a recipe as the shell gets it.
fn as_shell(line: &str) -> String {
    let line = line.trim_start().trim_start_matches(['@', '-', '+']);
    let line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
    line.replace("$$", "$") + "\n"
}
