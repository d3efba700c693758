//! Tells the strings of a program from its code.

use super::Language;

/// A piece of code: a string with its text, or what stands between strings.
#[derive(Debug, PartialEq)]
pub enum Token<'t> {
    Text(String),
    /// Ruby, Perl and PHP run what stands between backticks.
    Backticks(String),
    Code(&'t str),
}

pub fn tokens(language: Language, text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut code_from = 0;
    let mut at = 0;
    let hash_comments = matches!(
        language,
        Language::Python | Language::Ruby | Language::Perl | Language::Awk | Language::Other
    );
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' if hash_comments
                && (at == 0 || matches!(bytes.get(at - 1), Some(b'\n' | b' ' | b'\t')))
                && bytes.get(at + 1) != Some(&b'{') =>
            {
                push_code(&mut tokens, text, code_from, at);
                while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
                code_from = at;
            }
            b'\'' | b'"' | b'`' => {
                push_code(&mut tokens, text, code_from, at);
                let quote = *byte;
                let triple = language == Language::Python
                    && bytes.get(at + 1) == Some(&quote)
                    && bytes.get(at + 2) == Some(&quote);
                let width = if triple { 3 } else { 1 };
                let start = at + width;
                at = start;
                while let Some(byte) = bytes.get(at) {
                    if *byte == b'\\' {
                        at += 1;
                    } else if *byte == quote
                        && (!triple
                            || (bytes.get(at + 1) == Some(&quote)
                                && bytes.get(at + 2) == Some(&quote)))
                    {
                        break;
                    }
                    at += 1;
                }
                let inner = text.get(start..at.min(text.len())).unwrap_or_default();
                let inner = unescaped(inner);
                let backticks = quote == b'`'
                    && matches!(
                        language,
                        Language::Ruby | Language::Perl | Language::Php | Language::Other
                    );
                tokens.push(if backticks {
                    Token::Backticks(inner)
                } else {
                    Token::Text(inner)
                });
                at += width;
                code_from = at;
            }
            _ => at += 1,
        }
    }
    push_code(&mut tokens, text, code_from, text.len());
    joined(tokens, language)
}

/// `'a' + 'b'` and `"a" "b"` are one string.
fn joined(tokens: Vec<Token<'_>>, language: Language) -> Vec<Token<'_>> {
    let dot = matches!(language, Language::Perl | Language::Php);
    let joins = |code: &str| match code.trim() {
        "" => language == Language::Python || language == Language::Compiled,
        "+" => true,
        "." => dot,
        ".." => language == Language::Lua,
        _ => false,
    };
    let mut result: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if language == Language::Python
            && let (Some(Token::Text(text)), Token::Text(more)) = (result.last_mut(), &token)
        {
            text.push_str(more);
            continue;
        }
        if let Token::Text(more) = &token
            && let [.., Token::Text(_), Token::Code(code)] = result.as_slice()
            && joins(code)
        {
            result.pop();
            if let Some(Token::Text(text)) = result.last_mut() {
                text.push_str(more);
            }
            continue;
        }
        result.push(token);
    }
    result
}

/// The strings alone.
pub fn strings<'t>(tokens: &'t [Token]) -> impl Iterator<Item = &'t str> {
    tokens.iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The code alone, for words that must not stand in a string.
pub fn without_strings(tokens: &[Token]) -> String {
    let code = |token: &Token| match token {
        Token::Code(code) => Some((*code).to_owned()),
        _ => None,
    };
    tokens.iter().filter_map(code).collect()
}

fn push_code<'t>(tokens: &mut Vec<Token<'t>>, text: &'t str, from: usize, to: usize) {
    if let Some(code) = text.get(from..to)
        && !code.is_empty()
    {
        tokens.push(Token::Code(code));
    }
}

fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    crate::meaning::decode::printf(&["%b".to_owned(), text.to_owned()])
}
