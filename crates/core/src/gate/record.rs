//! The gate file: which steps passed, on which contents, and a keyed digest
//! that says that Ralph itself saw it (QUAL-04, QUAL-11).

use sha2::{Digest as _, Sha256};

/// What Ralph signs with. It never leaves the directory that it is kept in.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub [u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A gate file. The lines that other tools know stand as they are known; what
/// Ralph adds stands in comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateRecord {
    /// When, as ISO 8601.
    pub generated: String,
    pub branch: String,
    pub commit: String,
    /// Fingerprint of the contents that passed.
    pub tree: Option<String>,
    /// Digest of the commands that ran.
    pub steps: Option<String>,
    /// Step and result, `PASS` where it passed.
    pub results: Vec<(String, String)>,
}

/// A gate file as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateFile {
    pub record: GateRecord,
    signature: Option<String>,
    /// Everything but the signature.
    signed: String,
}

const SIGNATURE: &str = "# Signature: ";

impl GateFile {
    pub fn read(text: &str) -> GateFile {
        let mut file = GateFile::default();
        let record = &mut file.record;
        for line in text.lines() {
            if let Some(signature) = line.strip_prefix(SIGNATURE) {
                file.signature = Some(signature.trim().to_owned());
                continue;
            }
            file.signed.push_str(line);
            file.signed.push('\n');
            let comment = line.trim_start().strip_prefix('#');
            let Some((key, value)) = comment.unwrap_or(line).split_once(':') else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim().to_owned());
            match (comment.is_some(), key) {
                (true, "Generated") => record.generated = value,
                (true, "Branch") => record.branch = value,
                (true, "Commit") => record.commit = value,
                (true, "Tree") => record.tree = Some(value),
                (true, "Steps") => record.steps = Some(value),
                (true, _) => {}
                (false, _) => record.results.push((key.to_owned(), value)),
            }
        }
        file
    }

    pub fn is_signed(&self, key: &Key) -> bool {
        self.signature.as_deref() == Some(sign(key, &self.signed).as_str())
    }
}

impl GateRecord {
    /// The file with its signature.
    pub fn write(&self, key: &Key) -> String {
        let mut head = format!(
            "# Quality Gate Passed\n# Generated: {}\n# Branch: {}\n# Commit: {}\n",
            self.generated, self.branch, self.commit
        );
        for (name, value) in [("Tree", &self.tree), ("Steps", &self.steps)] {
            if let Some(value) = value {
                head.push_str(&format!("# {name}: {value}\n"));
            }
        }
        let mut body = String::from("\n");
        for (step, result) in &self.results {
            body.push_str(&format!("{step}: {result}\n"));
        }
        let signature = sign(key, &format!("{head}{body}"));
        format!("{head}{SIGNATURE}{signature}\n{body}")
    }

    /// Which of these steps it does not say to have passed.
    pub(super) fn not_passed(&self, required: &[String]) -> Vec<String> {
        let passed = |step: &String| {
            let mut said = self.results.iter().filter(|(name, _)| name == step);
            said.clone().count() > 0 && said.all(|(_, result)| result == "PASS")
        };
        let open = required.iter().filter(|step| !passed(step)).cloned();
        // What it says to have failed counts, whether it is asked for or not.
        let failed = self.results.iter().filter(|(_, r)| r == "FAIL");
        let mut missing: Vec<String> = open.chain(failed.map(|(n, _)| n.clone())).collect();
        missing.dedup();
        missing
    }
}

/// HMAC-SHA-256, as hexadecimal digits.
pub fn sign(key: &Key, text: &str) -> String {
    const BLOCK: usize = 64;
    let pad = |with: u8| {
        let mut block = [with; BLOCK];
        for (byte, key) in block.iter_mut().zip(key.0) {
            *byte ^= key;
        }
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(text.as_bytes())
        .finalize();
    let outer = Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}
