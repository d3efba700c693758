//! Members of PowerShell's values: methods that fetch, write, delete or run,
//! and those that make a text of another.

use super::decoded;
use super::power_shell::Shell;
use crate::RuleId;
use crate::mark::{NETWORK, SECRET, UNKNOWN};
use crate::meaning::env::Flow;
use crate::meaning::{files, hosts};

impl Shell<'_, '_, '_, '_> {
    /// A property or a method of a value.
    pub fn member(&mut self, target: &str, name: &str, args: &[String]) -> String {
        if let Some(text) = self.text_member(target, name, args) {
            return text;
        }
        let first = args.first().map_or("", String::as_str);
        let class = target.trim_matches(['[', ']']).to_lowercase();
        match name {
            "downloadstring" | "downloaddata" | "getstringasync" | "getasync" | "openread"
            | "getbytearrayasync" => {
                hosts::fetch(self.walker, first);
                return NETWORK.to_string();
            }
            "downloadfile" | "downloadfileasync" => {
                hosts::fetch(self.walker, first);
                if let Some(path) = args.get(1) {
                    files::write(self.walker, path, self.env);
                    self.walker.note_file(path, &Flow::Network, self.env);
                }
            }
            "uploadfile" | "uploadstring" | "uploaddata" | "postasync" => {
                hosts::fetch(self.walker, first);
                let rest = args.iter().skip(1);
                if rest.clone().any(|text| text.contains(SECRET)) {
                    self.walker.report(RuleId::SecretSend, first);
                }
                files::read_all(self.walker, rest.filter(|_| name == "uploadfile"), self.env);
            }
            "delete" => {
                let path = if target.starts_with('[') {
                    first
                } else {
                    target
                };
                files::delete(self.walker, path, self.env, true);
            }
            "writealltext" | "writeallbytes" | "writealllines" | "appendalltext" | "createtext"
            | "createdirectory" | "openwrite" => files::write(self.walker, first, self.env),
            "readalltext" | "readalllines" | "readallbytes" | "opentext" => {
                files::read(self.walker, first, self.env);
            }
            "start" if class.ends_with("process") => {
                let mut argv = args.to_vec();
                if !argv.is_empty() {
                    let program = argv.remove(0);
                    let words: Vec<String> = argv
                        .iter()
                        .flat_map(|text| text.split(' ').map(str::to_owned))
                        .collect();
                    self.walker
                        .windows_program(&program, &words, self.env, &Flow::Unknown);
                }
            }
            "create" if class.ends_with("scriptblock") => return first.to_owned(),
            "invoke" | "invokereturnasis" if !target.is_empty() => {
                self.evaluate(target);
            }
            "invokescript" | "newscriptblock" | "addscript" => {
                self.evaluate(first);
            }
            "run" | "exec" | "shellexecute" if !first.is_empty() => {
                self.walker.cmd(&args.join(" "), self.env, &Flow::Unknown);
            }
            "getenvironmentvariables" => {
                self.walker.report(RuleId::SecretEnvironment, name);
                return SECRET.to_string();
            }
            "getenvironmentvariable" => return self.walker.windows_variable(first, self.env),
            // For more than this process alone.
            "setenvironmentvariable" if args.len() > 2 => {
                self.walker.report(RuleId::SystemKernel, name);
            }
            _ => {}
        }
        match target.contains(NETWORK) {
            true => NETWORK.to_string(),
            false => UNKNOWN.to_string(),
        }
    }

    /// Members that give another text.
    fn text_member(&self, target: &str, name: &str, args: &[String]) -> Option<String> {
        let first = args.first().map_or("", String::as_str);
        Some(match name {
            "frombase64string" => decoded(first).unwrap_or_else(|| UNKNOWN.to_string()),
            "getstring" | "concat" => args.concat(),
            "replace" if !first.is_empty() => {
                target.replace(first, args.get(1).map_or("", String::as_str))
            }
            "tolower" => target.to_lowercase(),
            "toupper" => target.to_uppercase(),
            "tostring"
            | "trim"
            | "trimend"
            | "trimstart"
            | "fullname"
            | "path"
            | "content"
            | "currentuserallhosts"
            | "currentusercurrenthost"
            | "unicode"
            | "utf8"
            | "ascii"
            | "text"
            | "value" => target.to_owned(),
            "getfolderpath" => self.walker.home().to_owned(),
            "combine" => args.join("/"),
            "gettemppath" => self.walker.temporary().to_owned(),
            _ => return None,
        })
    }
}
