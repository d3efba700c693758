//! Texts for people: English in the code, every other language in
//! `texts/<language>/<area>.po` of the crate that speaks. A text that a
//! language lacks is an error of the compiler, so none can be forgotten;
//! `cargo xtask texts` writes the entries that are missing.

mod literal;
mod po;
mod say;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

/// The languages beside English: folder, and variant of `Lang`.
const LANGUAGES: [(&str, &str); 2] = [("zh-TW", "ZhTw"), ("zh-CN", "ZhCn")];

/// One text in the language of a person: `tr!(lang, "{done} of {total}")`.
/// The text is a format string with inline captures, in every language.
#[proc_macro]
pub fn tr(input: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    if is_punct(tokens.last(), ',') {
        tokens.pop();
    }
    let english = match tokens.pop() {
        Some(TokenTree::Literal(english)) if is_punct(tokens.last(), ',') => english,
        _ => return error("write tr!(lang, \"English text\")", Span::call_site()),
    };
    tokens.pop();
    let arm = |variant: &str, text: TokenTree| {
        let mut arm = code(&format!(
            "::ralph_core::lang::Lang::{variant} => ::std::format!"
        ));
        arm.extend([parenthesised(TokenStream::from(text))]);
        arm.extend(code(","));
        arm
    };
    let mut arms = arm("En", english.clone().into());
    for (language, variant) in LANGUAGES {
        match translated(&english, language) {
            Ok(text) => arms.extend(arm(variant, text.into())),
            Err(problem) => return error(&problem, english.span()),
        }
    }
    let mut out = code("match");
    out.extend([parenthesised(tokens.into_iter().collect())]);
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, arms))]);
    out
}

/// One fixed text in every language, as a constant: `text!("It is gone.")`.
#[proc_macro]
pub fn text(input: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    if is_punct(tokens.last(), ',') {
        tokens.pop();
    }
    let (Some(TokenTree::Literal(english)), true) = (tokens.pop(), tokens.is_empty()) else {
        return error("write text!(\"English text\")", Span::call_site());
    };
    let mut texts = TokenStream::from(TokenTree::from(english.clone()));
    for (language, _) in LANGUAGES {
        texts.extend(code(","));
        match translated(&english, language) {
            Ok(text) => texts.extend([TokenTree::from(text)]),
            Err(problem) => return error(&problem, english.span()),
        }
    }
    let mut out = code("::ralph_core::lang::Text::new");
    out.extend([parenthesised(texts)]);
    out
}

/// The texts of an enum at its variants: see [`say`].
#[proc_macro_derive(Say, attributes(say))]
pub fn say(input: TokenStream) -> TokenStream {
    say::derive(input)
}

/// Tells the compiler which files the texts of this crate come from.
#[proc_macro]
pub fn texts(_: TokenStream) -> TokenStream {
    let files = LANGUAGES
        .iter()
        .flat_map(|(language, _)| po::files(&folder(language)));
    let mut out = TokenStream::new();
    for file in files {
        out.extend(code(&format!("const _: &[u8] = include_bytes!({file:?});")));
    }
    out
}

fn folder(language: &str) -> PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    PathBuf::from(root).join("texts").join(language)
}

/// What the files of this crate say for an English text.
fn translated(english: &Literal, language: &'static str) -> Result<Literal, String> {
    type Catalogues = HashMap<&'static str, Result<HashMap<String, String>, String>>;
    static READ: OnceLock<Catalogues> = OnceLock::new();
    let read = READ.get_or_init(|| {
        let read = |(language, _)| (language, po::read_folder(&folder(language)));
        LANGUAGES.map(read).into_iter().collect()
    });
    let key = literal::value(&english.to_string()).ok_or("a text is a plain string literal")?;
    let catalogue = match read.get(language) {
        Some(Ok(catalogue)) => catalogue,
        Some(Err(problem)) => return Err(problem.clone()),
        None => return Err(format!("no language {language}")),
    };
    let Some(text) = catalogue.get(&key).filter(|text| !text.is_empty()) else {
        return Err(format!(
            "no {language} text for this: `cargo xtask texts` writes the entry into texts/{language}/, then translate it"
        ));
    };
    if let Some(name) = literal::placeholder_missing(&key, text) {
        return Err(format!(
            "the {language} text leaves {{{name}}} out, or names one that is not there"
        ));
    }
    let mut text = Literal::string(text);
    // Captures are looked up where the English text stands.
    text.set_span(english.span());
    Ok(text)
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn parenthesised(inner: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Parenthesis, inner))
}

/// Tokens of code that this file wrote itself.
fn code(source: &str) -> TokenStream {
    source.parse().unwrap_or_default()
}

fn error(message: &str, at: Span) -> TokenStream {
    let tokens = code(&format!("::std::compile_error!({message:?})"));
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(at);
            token
        })
        .collect()
}
