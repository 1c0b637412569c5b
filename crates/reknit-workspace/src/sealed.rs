//! Sealed lines: JSON and a checksum on one line, so that a damaged or torn one is noticed.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::stamp::Hash;

/// The length of the checksum, and of the space before it and the line feed after it.
const SEAL: usize = 1 + 16 + 1;

/// A value as a sealed line, with its line feed.
pub(crate) fn line(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("every field can be written as JSON");
    let seal = checksum(json.as_bytes());
    format!("{json} {seal}\n")
}

/// The value of a sealed line, which has its line feed; the error says what is wrong with it.
pub(crate) fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let Some((json, seal)) = line.split_at_checked(line.len().wrapping_sub(SEAL)) else {
        return Err("truncated".into());
    };
    if seal[0] != b' ' || seal[SEAL - 1] != b'\n' || checksum(json).as_bytes() != &seal[1..SEAL - 1] {
        return Err("the checksum does not match".into());
    }
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

fn checksum(bytes: &[u8]) -> String {
    let mut checksum = Hash::of(bytes).to_string();
    checksum.truncate(16);
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_read_and_everything_else_is_noticed() {
        let sealed = line(&(7, "a\nb"));
        assert_eq!(parse(sealed.as_bytes()), Ok((7, "a\nb".to_owned())));
        assert_eq!(sealed.matches('\n').count(), 1);
        for cut in 0..sealed.len() {
            assert!(parse::<(u8, String)>(&sealed.as_bytes()[..cut]).is_err(), "cut at {cut}");
            let mut damaged = sealed.clone().into_bytes();
            damaged[cut] ^= 1;
            assert!(parse::<(u8, String)>(&damaged).is_err(), "damaged at {cut}");
        }
    }
}
