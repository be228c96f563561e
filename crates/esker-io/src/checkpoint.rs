//! Checkpoints: a container with a checksum around any `serde` value.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic `\x89ESKER\r\n`; the odd ends reveal a copy through a 7-bit or text-mode channel |
//! | 4 | version of this layout and of that of a state |
//! | 4 | length of the meta data |
//! | 8 | length of the payload |
//! | 4 | CRC-32 of all the above after the magic and all that follows |
//! | … | meta data, then payload, both in [postcard](https://postcard.jamesmunns.com) encoding |
//!
//! Integers are little endian. Postcard stores an `f64` as its eight bytes, so a state comes back bit for bit
//! (tested below). It does not describe the types: a payload of another layout is noticed only when it does not fit, so
//! compare [`Meta::engine`]. Reading is bounded: at most the file's own size plus what its values need, which is a
//! fixed multiple of it. (A type with sequences of zero-size elements would escape that bound; states have none.)

use crate::atomic::{self, FileError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"\x89ESKER\r\n";
/// Raised whenever a state changes its layout.
const VERSION: u32 = 4;
const HEAD: usize = 8 + 4 + 4 + 8 + 4;

/// What a checkpoint says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Name and version of the program that wrote it.
    pub engine: String,
    /// What was run: the title or file of the scene.
    pub scene: String,
    /// Step of the state.
    pub step: u64,
    /// Time of the state \[s\].
    pub time: f64,
}

/// What is wrong with the bytes of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Something else than a checkpoint.
    #[error("it is not a checkpoint of Esker")]
    Foreign,
    /// The file ends too early.
    #[error("it is cut short: {found} bytes of {expected}")]
    Truncated {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be, as far as can be told.
        expected: u64,
    },
    /// Bytes were changed after writing.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// The layout is newer than this program.
    #[error(
        "it has layout {found}, written by a newer Esker; this one reads up to layout {known}: use the newer program"
    )]
    Newer {
        /// Layout of the file.
        found: u32,
        /// Newest layout this program reads.
        known: u32,
    },
    /// The layout is older than this program.
    #[error(
        "it has layout {found}, written by an older Esker; this one reads layout {known}: use the program that wrote it"
    )]
    Older {
        /// Layout of the file.
        found: u32,
        /// The layout this program reads.
        known: u32,
    },
    /// The bytes are as written, but they hold another kind of state.
    #[error(
        "it was written by {engine} and holds a state that this program cannot read: use the program that wrote it"
    )]
    OtherState {
        /// Name and version of the writer.
        engine: String,
    },
}

/// Why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file was read, but is no use.
    #[error("cannot continue from `{}`: {fault}", path.display())]
    Fault {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The value cannot be put into bytes; for the types of a state that would be our own bug.
    #[error("the state cannot be written to `{}`: {reason}", path.display())]
    Encode {
        /// The checkpoint.
        path: PathBuf,
        /// The encoder's reason.
        reason: String,
    },
}

/// Writes a checkpoint as a whole or not at all.
pub fn save<T: Serialize + ?Sized>(path: &Path, value: &T, meta: &Meta) -> Result<(), CheckpointError> {
    let bytes =
        encode(value, meta).map_err(|e| CheckpointError::Encode { path: path.to_owned(), reason: e.to_string() })?;
    Ok(atomic::write(path, |out| out.write_all(&bytes))?)
}

/// Reads a checkpoint.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<(Meta, T), CheckpointError> {
    decode(&atomic::read(path)?).map_err(|fault| CheckpointError::Fault { path: path.to_owned(), fault })
}

/// Checks that a checkpoint is whole, without reading the state.
pub fn verify(path: &Path) -> Result<Meta, CheckpointError> {
    let bytes = atomic::read(path)?;
    open(&bytes).map(|(meta, _)| meta).map_err(|fault| CheckpointError::Fault { path: path.to_owned(), fault })
}

/// The bytes of a checkpoint.
pub fn encode<T: Serialize + ?Sized>(value: &T, meta: &Meta) -> Result<Vec<u8>, postcard::Error> {
    container(meta, |bytes| postcard::to_extend(value, bytes))
}

/// The head and the meta data, then whatever `payload` appends.
fn container(
    meta: &Meta,
    payload: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, postcard::Error>,
) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = postcard::to_extend(meta, vec![0; HEAD])?;
    let meta_length = bytes.len() - HEAD;
    bytes = payload(bytes)?;
    let payload_length = bytes.len() - HEAD - meta_length;
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    // Meta data beyond 4 GiB would be a scene title of that size: let the encoder say that there is no room.
    let meta_length = u32::try_from(meta_length).map_err(|_| postcard::Error::SerializeBufferFull)?;
    bytes[12..16].copy_from_slice(&meta_length.to_le_bytes());
    bytes[16..24].copy_from_slice(&(payload_length as u64).to_le_bytes());
    let crc = checksum(&bytes);
    bytes[24..28].copy_from_slice(&crc.to_le_bytes());
    Ok(bytes)
}

/// Reads a checkpoint from its bytes. Never panics, whatever they are.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<(Meta, T), Fault> {
    let (meta, payload) = open(bytes)?;
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok((meta, value)),
        _ => Err(Fault::OtherState { engine: meta.engine }),
    }
}

/// The meta data and the payload, after all checks.
fn open(bytes: &[u8]) -> Result<(Meta, &[u8]), Fault> {
    let found = bytes.len() as u64;
    let common = bytes.len().min(MAGIC.len());
    if bytes[..common] != MAGIC[..common] || bytes.is_empty() {
        // An empty file is what a power cut leaves of one that was never synced.
        return Err(if bytes.is_empty() { Fault::Truncated { found, expected: HEAD as u64 } } else { Fault::Foreign });
    }
    if bytes.len() < HEAD {
        return Err(Fault::Truncated { found, expected: HEAD as u64 });
    }
    let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let version = u32_at(8);
    if version > VERSION {
        return Err(Fault::Newer { found: version, known: VERSION });
    }
    let meta_length = u64::from(u32_at(12));
    let payload_length = u64::from_le_bytes(std::array::from_fn(|i| bytes[16 + i]));
    let expected = (HEAD as u64 + meta_length).saturating_add(payload_length);
    if found < expected {
        return Err(Fault::Truncated { found, expected });
    }
    if found > expected {
        return Err(Fault::Damaged("bytes follow its end"));
    }
    if u32_at(24) != checksum(bytes) {
        return Err(Fault::Damaged("the checksum does not agree"));
    }
    if version < VERSION {
        return Err(Fault::Older { found: version, known: VERSION });
    }
    let (meta, payload) = bytes[HEAD..].split_at(meta_length as usize);
    match postcard::take_from_bytes(meta) {
        Ok((meta, [])) => Ok((meta, payload)),
        _ => Err(Fault::Damaged("its description cannot be read")),
    }
}

/// CRC-32 of everything but the magic and the checksum itself.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[MAGIC.len()..HEAD - 4]);
    hasher.update(&bytes[HEAD..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use esker::math::{Quat, Vec3};
    use proptest::prelude::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct State {
        time: f64,
        position: Vec<Vec3>,
        orientation: Vec<Quat>,
        id: Vec<u64>,
        names: Vec<String>,
        history: Vec<(u32, Option<[f64; 3]>)>,
    }

    fn meta() -> Meta {
        Meta { engine: "esker 0.1.0".into(), scene: "hopper".into(), step: 120_034, time: 0.6002 }
    }

    fn state() -> State {
        State {
            time: 0.25,
            position: vec![Vec3::new(1.0, -0.0, 5e-324), Vec3::splat(0.1)],
            orientation: vec![Quat::from_xyzw(0.1, 0.2, 0.3, 0.9); 2],
            id: vec![7, u64::MAX],
            names: vec!["glass".into()],
            history: vec![(3, Some([1e-9, 0.0, -2.0])), (4, None)],
        }
    }

    /// A container that is right in itself around any payload.
    fn with_payload(payload: &[u8]) -> Vec<u8> {
        container(&meta(), |mut bytes| {
            bytes.extend_from_slice(payload);
            Ok(bytes)
        })
        .unwrap()
    }

    #[test]
    fn a_state_comes_back_from_its_file_with_the_meta_data() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ckpt");
        save(&path, &state(), &meta()).unwrap();
        assert_eq!(load::<State>(&path).unwrap(), (meta(), state()));
        assert_eq!(verify(&path).unwrap(), meta());
    }

    #[test]
    fn special_floats_come_back_bit_for_bit() {
        let quiet_with_payload = f64::from_bits(0x7ff8_dead_beef_0001);
        let signalling = f64::from_bits(0xfff0_0000_0000_0001);
        let special = vec![
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            quiet_with_payload,
            signalling,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            f64::from_bits(0x000f_ffff_ffff_ffff),
            f64::MAX,
            f64::EPSILON,
        ];
        let (_, back) = decode::<Vec<f64>>(&encode(&special, &meta()).unwrap()).unwrap();
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&special));
    }

    #[test]
    fn each_kind_of_bad_file_has_its_own_message() {
        let good = encode(&state(), &meta()).unwrap();
        let fault = |bytes: &[u8]| decode::<State>(bytes).unwrap_err();
        let n = good.len() as u64;

        assert_eq!(fault(b"PK\x03\x04 something else"), Fault::Foreign);
        assert_eq!(fault(b"PK"), Fault::Foreign);
        assert_eq!(fault(&good.iter().map(|b| b & 0x7f).collect::<Vec<_>>()), Fault::Foreign);
        assert_eq!(fault(b""), Fault::Truncated { found: 0, expected: HEAD as u64 });
        assert_eq!(fault(&good[..5]), Fault::Truncated { found: 5, expected: HEAD as u64 });
        assert_eq!(fault(&good[..good.len() - 1]), Fault::Truncated { found: n - 1, expected: n });
        assert_eq!(fault(&[&good[..], b"x"].concat()), Fault::Damaged("bytes follow its end"));

        let mut newer = good.clone();
        newer[8] += 1;
        assert_eq!(fault(&newer), Fault::Newer { found: VERSION + 1, known: VERSION });
        let mut older = good.clone();
        older[8] -= 1;
        assert_eq!(fault(&older), Fault::Damaged("the checksum does not agree"), "the version is under the checksum");
        let crc = checksum(&older);
        older[24..28].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(fault(&older), Fault::Older { found: VERSION - 1, known: VERSION });
        let mut flipped = good.clone();
        flipped[good.len() / 2] ^= 0x10;
        assert_eq!(fault(&flipped), Fault::Damaged("the checksum does not agree"));

        let other = encode(&vec![1u64, 2, 3], &meta()).unwrap();
        assert_eq!(fault(&other), Fault::OtherState { engine: "esker 0.1.0".into() });
        let text = CheckpointError::Fault { path: "runs/a/b.ckpt".into(), fault: fault(&other) }.to_string();
        assert!(text.contains("runs/a/b.ckpt") && text.contains("esker 0.1.0") && text.contains("use the program"));
    }

    #[test]
    fn every_single_flipped_bit_and_every_cut_is_noticed() {
        let good = encode(&state(), &meta()).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<State>(&bad).is_err(), "bit {bit}");
        }
        for length in 0..good.len() {
            assert!(decode::<State>(&good[..length]).is_err(), "length {length}");
        }
    }

    #[test]
    fn a_huge_length_inside_a_valid_container_is_refused_without_allocating_it() {
        // The payload claims u64::MAX elements; only the encoder of the attacker knows the right checksum, as here.
        let claim = [0xffu8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let mut bytes = with_payload(&claim);
        assert!(matches!(decode::<Vec<[f64; 16]>>(&bytes), Err(Fault::OtherState { .. })));
        assert!(matches!(decode::<String>(&bytes), Err(Fault::OtherState { .. })));
        bytes[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(decode::<String>(&bytes), Err(Fault::Truncated { .. })));
    }

    proptest! {
        #[test]
        fn any_floats_come_back_bit_for_bit(bits: Vec<u64>) {
            let values: Vec<f64> = bits.iter().copied().map(f64::from_bits).collect();
            let (_, back) = decode::<Vec<f64>>(&encode(&values, &meta()).unwrap()).unwrap();
            prop_assert_eq!(back.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), bits);
        }

        #[test]
        fn reading_any_payload_with_a_right_checksum_does_not_panic(payload: Vec<u8>) {
            let bytes = with_payload(&payload);
            let _ = decode::<State>(&bytes);
            let _ = decode::<State>(&payload);
        }
    }
}
