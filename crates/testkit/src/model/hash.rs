//! A hash that is the same on every machine and with every compiler: what is drawn from a seed can be drawn again.

/// FNV-1a over the parts, each with its length, then mixed so that near inputs lie far apart.
pub(super) fn hash(parts: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in (part.len() as u64).to_le_bytes().iter().chain(*part) {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    mix(state)
}

/// The finaliser of SplitMix64.
pub(super) fn mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// What stands for a provider's signature under its reasoning: only this text has it.
pub(super) fn sign(reasoning: &str) -> String {
    let first = hash(&[b"signed", reasoning.as_bytes()]);
    format!("EqQB{first:016x}{:016x}", mix(first))
}

/// Whether a signature is one that [`sign`] made, of whatever text.
pub(super) fn is_signature(signature: &str) -> bool {
    let Some((first, second)) =
        signature.strip_prefix("EqQB").and_then(|hex| hex.split_at_checked(16))
    else {
        return false;
    };
    u64::from_str_radix(first, 16).is_ok_and(|first| second == format!("{:016x}", mix(first)))
}
