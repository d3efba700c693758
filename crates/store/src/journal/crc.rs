//! CRC-32 (IEEE 802.3), the checksum of a journal record.

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = value & 1;
            value >>= 1;
            if carry == 1 {
                value ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

/// The checksum over the pieces as if they stood in one row.
pub fn crc32(pieces: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in pieces.iter().copied().flatten() {
        crc = TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn known_vectors() {
        for (input, want) in [
            ("", 0),
            ("123456789", 0xcbf4_3926),
            ("The quick brown fox jumps over the lazy dog", 0x414f_a339),
        ] {
            assert_eq!(crc32(&[input.as_bytes()]), want, "{input}");
        }
        assert_eq!(crc32(&[b"1234", b"", b"56789"]), 0xcbf4_3926);
    }
}
