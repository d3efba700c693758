//! How wide the terminal is.

/// Columns of the terminal behind standard output; `None` where there is none.
#[cfg(unix)]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
pub fn columns() -> Option<usize> {
    None
}
