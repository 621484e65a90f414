//! Counter-based random numbers: a pure function of what is being decided, so that results do not
//! depend on the order of evaluation or on the number of threads.

use glam::IVec3;

/// Mixes the seed and up to three counters (for example particle id, step, purpose) into 64 bits.
///
/// Each input passes through the 64-bit finaliser of MurmurHash3 (Appleby; constants of Stafford's
/// variant 13).
#[inline]
pub fn hash(seed: u64, a: u64, b: u64, c: u64) -> u64 {
    let mut h = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    h = mix(h ^ a.wrapping_mul(0xd1b5_4a32_d192_ed03));
    h = mix(h ^ b.wrapping_mul(0xaef1_7502_108e_f2d9));
    mix(h ^ c.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7))
}

/// A cell or node as one number, for [`hash`]: 21 bits for each coordinate.
#[inline]
pub fn key_of(place: IVec3) -> u64 {
    let bits = |c: i32| (c as u64) & 0x1f_ffff;
    bits(place.x) << 42 | bits(place.y) << 21 | bits(place.z)
}

#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Three independent uniform numbers in [0, 1) with 21 bits each.
#[inline]
pub fn uniform3(seed: u64, a: u64, b: u64, c: u64) -> [f32; 3] {
    let h = hash(seed, a, b, c);
    const SCALE: f32 = 1.0 / (1u64 << 21) as f32;
    [h, h >> 21, h >> 42].map(|v| (v & 0x1f_ffff) as f32 * SCALE)
}
