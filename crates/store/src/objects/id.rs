//! The name of an object is the SHA-256 of what it is.

use std::fmt;

use sha2::{Digest, Sha256};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 32]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Tree,
    Blob,
}

impl ObjectKind {
    fn name(self) -> &'static str {
        match self {
            ObjectKind::Tree => "tree",
            ObjectKind::Blob => "blob",
        }
    }

    pub(super) fn code(self) -> u8 {
        match self {
            ObjectKind::Tree => 2,
            ObjectKind::Blob => 3,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<ObjectKind> {
        [ObjectKind::Tree, ObjectKind::Blob]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}

impl ObjectId {
    pub fn of(kind: ObjectKind, bytes: &[u8]) -> ObjectId {
        let mut hasher = ObjectId::hasher(kind, bytes.len() as u64);
        hasher.update(bytes);
        ObjectId::finish(hasher)
    }

    /// For content that comes in pieces; its size is part of the name.
    pub fn hasher(kind: ObjectKind, size: u64) -> Sha256 {
        let mut hasher = Sha256::new();
        hasher.update(format!("{} {size}\0", kind.name()));
        hasher
    }

    pub fn finish(hasher: Sha256) -> ObjectId {
        ObjectId(hasher.finalize().into())
    }

    pub fn parse(hex: &str) -> Option<ObjectId> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut id = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (place, pair) in id.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *place = digit(*high)? << 4 | digit(*low)?;
        }
        Some(ObjectId(id))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}
