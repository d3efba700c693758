//! `#[derive(Say)]`: each variant of an enum carries its own text.
//!
//! `#[say("no file {path}", path = path.display())]`: the text of `tr!`, with
//! the fields of the variant bound by their names (`_0`, `_1` in a tuple), and
//! what has to be worked out first. `#[say(why.say(lang))]`: any expression.
//! `#[say(if *strict, "…")]` and `#[say(if let Some(code) = exit, "…")]` speak
//! only then; the last one has no condition.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use crate::{code, error, is_punct};

pub fn derive(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let is_enum =
        |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "enum");
    if !tokens.by_ref().any(|token| is_enum(&token)) {
        return error("Say is derived for enums", Span::call_site());
    }
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
        (tokens.next(), tokens.next())
    else {
        return error(
            "Say is derived for enums without parameters",
            Span::call_site(),
        );
    };
    let mut arms = TokenStream::new();
    for variant in parted(body.stream(), ',') {
        match arm(variant) {
            Ok(arm) => arms.extend(arm),
            Err(at) => return error("every variant needs #[say(\"…\")]", at),
        }
    }
    let mut matched = code("#[allow(unused_variables)] match self");
    matched.extend([TokenTree::Group(Group::new(Delimiter::Brace, arms))]);
    let mut method = code("fn say(&self, lang: ::ralph_core::lang::Lang) -> ::std::string::String");
    method.extend([TokenTree::Group(Group::new(Delimiter::Brace, matched))]);
    let mut out = code("impl ::ralph_core::lang::Say for");
    out.extend([TokenTree::Ident(name)]);
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, method))]);
    out
}

/// `Self::Name { field, … } => { let …; text }`, or where it has no text.
fn arm(variant: Vec<TokenTree>) -> Result<TokenStream, Span> {
    let mut texts = Vec::new();
    let mut tokens = variant.into_iter().peekable();
    while tokens.next_if(|token| is_punct(Some(token), '#')).is_some() {
        if let Some(TokenTree::Group(attribute)) = tokens.next() {
            texts.extend(said_by(attribute.stream()));
        }
    }
    let name = match tokens.next() {
        Some(TokenTree::Ident(name)) => name,
        other => return Err(other.map_or_else(Span::call_site, |token| token.span())),
    };
    if texts.is_empty() {
        return Err(name.span());
    }
    let pattern = match tokens.next() {
        Some(TokenTree::Group(fields)) if fields.delimiter() == Delimiter::Brace => {
            Some(Group::new(Delimiter::Brace, named(fields.stream())))
        }
        Some(TokenTree::Group(fields)) => Some(Group::new(
            Delimiter::Parenthesis,
            numbered(fields.stream()),
        )),
        _ => None,
    };
    let mut arm = code("Self::");
    arm.extend([TokenTree::Ident(name)]);
    arm.extend(pattern.map(TokenTree::Group));
    arm.extend(code("=>"));
    let mut said = TokenStream::new();
    for text in texts {
        said.extend(one_text(text));
    }
    arm.extend([TokenTree::Group(Group::new(Delimiter::Brace, said))]);
    Ok(arm)
}

/// What stands in `say(…)`.
fn said_by(attribute: TokenStream) -> Option<TokenStream> {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(said)))
            if name.to_string() == "say" =>
        {
            Some(said.stream())
        }
        _ => None,
    }
}

/// `if … { let name = value; text } else`, or the same without a condition.
fn one_text(said: TokenStream) -> TokenStream {
    let is_if =
        |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "if");
    let mut parts = parted(said, ',').into_iter().peekable();
    let mut out = TokenStream::new();
    let condition = parts.next_if(|part| part.first().is_some_and(is_if));
    let conditional = condition.is_some();
    out.extend(condition.into_iter().flatten());
    let text = parts.next().unwrap_or_default();
    let mut inner = TokenStream::new();
    for part in parts {
        inner.extend(code("let"));
        inner.extend(part);
        inner.extend(code(";"));
    }
    if let Some(TokenTree::Literal(_)) = text.first() {
        let mut arguments = code("lang,");
        arguments.extend(text);
        inner.extend(code("::ralph_core::tr!"));
        inner.extend([TokenTree::Group(Group::new(
            Delimiter::Parenthesis,
            arguments,
        ))]);
    } else {
        inner.extend(text);
    }
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, inner))]);
    out.extend(code(if conditional { "else" } else { "" }));
    out
}

fn named(fields: TokenStream) -> TokenStream {
    let mut names = TokenStream::new();
    for field in parted(fields, ',') {
        let colon = field.iter().position(|token| is_punct(Some(token), ':'));
        let name = colon.and_then(|at| field.get(at.checked_sub(1)?));
        names.extend(name.cloned());
        names.extend(code(","));
    }
    names
}

fn numbered(fields: TokenStream) -> TokenStream {
    let mut names = TokenStream::new();
    for number in 0..parted(fields, ',').len() {
        let name = Ident::new(&format!("_{number}"), Span::call_site());
        names.extend([TokenTree::Ident(name)]);
        names.extend(code(","));
    }
    names
}

/// The parts between separators that stand outside `<…>`.
fn parted(tokens: TokenStream, separator: char) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0;
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            _ if depth <= 0 && is_punct(Some(&token), separator) => parts.push(Vec::new()),
            Some(part) => part.push(token),
            None => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
