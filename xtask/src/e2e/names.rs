//! Answers every question for a name with "there is none", at once: clients
//! would otherwise wait for a resolver that does not exist. Says afterwards
//! who was asked for.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

/// The names that somebody asked for.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<Mutex<BTreeSet<String>>>);

impl Names {
    /// Answers on loopback until the process ends.
    pub fn refuse() -> io::Result<Names> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53))?;
        let names = Names::default();
        let asked = names.clone();
        std::thread::spawn(move || {
            let mut packet = [0; 512];
            while let Ok((length, client)) = socket.recv_from(&mut packet) {
                if let Some((name, answer)) = no_such_name(&packet[..length]) {
                    asked.insert(name);
                    let _ = socket.send_to(&answer, client);
                }
            }
        });
        Ok(names)
    }

    fn insert(&self, name: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name);
    }

    pub fn asked(&self) -> Vec<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().cloned().collect()
    }
}

const HEAD: usize = 12;

/// The name of a DNS query, and the answer that there is none.
fn no_such_name(query: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut labels = Vec::new();
    let mut at = HEAD;
    loop {
        let length = usize::from(*query.get(at)?);
        let label = query.get(at + 1..at + 1 + length)?;
        at += 1 + length;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(label).into_owned());
    }
    // The head and the one question, with its type and class, come back.
    let mut answer = query.get(..at + 4)?.to_vec();
    let (flags, counts) = ([0x81, 0x83], [0, 1, 0, 0, 0, 0, 0, 0]);
    answer.get_mut(2..4)?.copy_from_slice(&flags);
    answer.get_mut(4..HEAD)?.copy_from_slice(&counts);
    Some((labels.join("."), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_with_no_such_name() {
        let mut query = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        query.extend(b"\x03www\x07example\x00\x00\x01\x00\x01");
        let question = query.len();
        query.extend(b"\x00\x00\x29\x04\xd0");
        let (name, answer) = no_such_name(&query).unwrap();
        assert_eq!(name, "www.example");
        assert_eq!(&answer[..HEAD], [7, 9, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(answer[HEAD..], query[HEAD..question]);
        for cut in 0..question {
            assert_eq!(no_such_name(&query[..cut]), None);
        }
    }
}
