//! The beginning and the end of a flood, in constant memory.

#[derive(Clone, Debug)]
pub struct HeadAndTail {
    limit: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes that are in neither.
    lost: bool,
}

impl HeadAndTail {
    /// Keeps at least `limit` bytes from each end.
    pub fn new(limit: usize) -> HeadAndTail {
        HeadAndTail {
            limit,
            head: Vec::new(),
            tail: Vec::new(),
            lost: false,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) {
        let room = self.limit.saturating_sub(self.head.len()).min(chunk.len());
        self.head.extend_from_slice(&chunk[..room]);
        let rest = &chunk[room..];
        let skip = rest.len().saturating_sub(self.limit);
        self.lost |= skip > 0;
        self.tail.extend_from_slice(&rest[skip..]);
        if self.tail.len() > 2 * self.limit {
            self.lost = true;
            self.tail.drain(..self.tail.len() - self.limit);
        }
    }

    pub fn text(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        if self.lost {
            format!("{head}\n…\n{tail}")
        } else {
            format!("{head}{tail}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HeadAndTail;

    #[test]
    fn short_output_is_whole_and_a_flood_keeps_both_ends() {
        let mut kept = HeadAndTail::new(8);
        kept.push(b"hello ");
        kept.push(b"world");
        assert_eq!(kept.text(), "hello world");
        for _ in 0..1000 {
            kept.push(b"0123456789");
            assert!(kept.tail.capacity() <= 64);
        }
        kept.push(b"END");
        let text = kept.text();
        assert!(text.starts_with("hello wo\n…\n"), "{text}");
        assert!(text.ends_with("789END"), "{text}");
    }
}
