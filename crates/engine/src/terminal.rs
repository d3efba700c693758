//! How large the terminal is.

/// Columns of the terminal behind standard output; `None` where there is none.
pub fn columns() -> Option<usize> {
    size().map(|(columns, _)| columns)
}

/// Lines of the terminal behind standard output; `None` where there is none.
pub fn rows() -> Option<usize> {
    size().map(|(_, rows)| rows)
}

#[cfg(unix)]
fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some((columns, rows))
}

#[cfg(not(unix))]
fn size() -> Option<(usize, usize)> {
    None
}
