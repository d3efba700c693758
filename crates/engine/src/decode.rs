//! Reads the event of a record. The large kinds are read straight from the
//! bytes: the general way puts every value into a box of its own first, which
//! takes most of the time of opening a long journal.

use ralph_core::machine::{Event, Kind, Now, Observation, TurnReport, VerifyReport};
use serde::Deserialize;

#[derive(Deserialize)]
struct Looked {
    seen: Observation,
}

pub fn event(data: &[u8]) -> Result<Event, serde_json::Error> {
    let Some((at, kind)) = head(data) else {
        return serde_json::from_slice(data);
    };
    let kind = match kind {
        b"turn_ended" => Kind::TurnEnded(serde_json::from_slice::<TurnReport>(data)?),
        b"verified" => Kind::Verified(serde_json::from_slice::<VerifyReport>(data)?),
        b"woke" => {
            let Looked { seen } = serde_json::from_slice(data)?;
            Kind::Woke { seen }
        }
        _ => return serde_json::from_slice(data),
    };
    Ok(Event { at, kind })
}

/// Moment and kind, where they stand in front as the writer puts them.
fn head(data: &[u8]) -> Option<(Now, &[u8])> {
    let rest = data.strip_prefix(b"{\"at\":")?;
    let end = rest.iter().position(|&byte| byte == b'}')?;
    let (at, rest) = rest.split_at_checked(end + 1)?;
    let rest = rest.strip_prefix(b",\"kind\":\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    Some((serde_json::from_slice(at).ok()?, rest.get(..end)?))
}
