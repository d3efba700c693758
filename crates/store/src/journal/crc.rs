//! CRC-32 (IEEE 802.3), the checksum of a journal record.

/// Eight tables, so that eight bytes are taken in at once: a journal is read
/// whole by everybody who looks at a run.
const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
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
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum over the pieces as if they stood in one row.
pub fn crc32(pieces: &[&[u8]]) -> u32 {
    let crc = pieces.iter().fold(u32::MAX, |crc, piece| add(crc, piece));
    !crc
}

fn add(mut crc: u32, piece: &[u8]) -> u32 {
    let (eights, rest) = piece.as_chunks::<8>();
    for eight in eights {
        let [a, b, c, d, e, f, g, h] = *eight;
        let [i, j, k, l] = crc.to_le_bytes();
        let bytes = [a ^ i, b ^ j, c ^ k, d ^ l, e, f, g, h];
        crc = bytes
            .iter()
            .zip(TABLES.iter().rev())
            .fold(0, |crc, (&byte, table)| crc ^ table[usize::from(byte)]);
    }
    for &byte in rest {
        crc = TABLES[0][usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    }
    crc
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
        let long = b"123456789".repeat(40);
        let (head, tail) = long.split_at(101);
        assert_eq!(crc32(&[head, tail]), crc32(&[&long]));
    }
}
