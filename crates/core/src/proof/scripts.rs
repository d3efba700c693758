//! In which language a script is written that somebody can start as it is.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Shell,
    PowerShell,
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
}

/// By its name, else by its first line; who is started by another program
/// there is written much like a shell.
pub(super) fn language(path: &str, text: &str) -> Option<Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let first = first_line(text);
    let runs = |interpreter: &str| {
        let mut program = first.unwrap_or_default().split(['/', ' ']).skip(1);
        program.any(|word| word.starts_with(interpreter))
    };
    Some(
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("sh" | "bash" | "zsh" | "ksh") => Language::Shell,
            Some("ps1") => Language::PowerShell,
            Some("py") => Language::Python,
            Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => Language::JavaScript,
            Some("rb") => Language::Ruby,
            Some("pl" | "t") => Language::Perl,
            Some("php") => Language::Php,
            _ if first.is_none() => return None,
            _ if runs("python") => Language::Python,
            _ if runs("node") || runs("deno") || runs("bun") => Language::JavaScript,
            _ if runs("ruby") => Language::Ruby,
            _ if runs("perl") => Language::Perl,
            _ if runs("php") => Language::Php,
            _ => Language::Shell,
        },
    )
}

/// The one that says who starts it.
pub(super) fn first_line(text: &str) -> Option<&str> {
    text.lines().next().filter(|line| line.starts_with("#!"))
}
