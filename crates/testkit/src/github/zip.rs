//! An archive with one file, stored as it is: logs come as such.

/// As the archive format counts: all little endian, sizes in four bytes.
pub(super) fn of(name: &str, content: &[u8]) -> Vec<u8> {
    let (crc, size) = (crc32(content), content.len() as u32);
    // Version, flags, method, time, date, then checksum and sizes.
    let mut facts = Vec::new();
    for half in [20_u16, 0, 0, 0, 0x21] {
        facts.extend(half.to_le_bytes());
    }
    for word in [crc, size, size] {
        facts.extend(word.to_le_bytes());
    }
    facts.extend((name.len() as u16).to_le_bytes());
    facts.extend(0_u16.to_le_bytes());

    let mut archive = b"PK\x03\x04".to_vec();
    archive.extend(&facts);
    archive.extend(name.as_bytes());
    archive.extend(content);
    let directory = archive.len() as u32;
    archive.extend(b"PK\x01\x02");
    archive.extend(20_u16.to_le_bytes());
    archive.extend(&facts);
    // No comment, one disk, no attributes, at the beginning of the archive.
    archive.extend([0; 14]);
    archive.extend(name.as_bytes());
    let length = archive.len() as u32 - directory;
    archive.extend(b"PK\x05\x06");
    for half in [0_u16, 0, 1, 1] {
        archive.extend(half.to_le_bytes());
    }
    archive.extend(length.to_le_bytes());
    archive.extend(directory.to_le_bytes());
    archive.extend(0_u16.to_le_bytes());
    archive
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
