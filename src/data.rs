//! Arrays in and out: raw little-endian `.bin`, and `.npy`.

use anyhow::{Context, Result, bail};
use half::{bf16, f16};
use npyz::WriterBuilder;
use ptoemu_core::dtype::DType;
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};

/// Contents of an array file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Little-endian elements in C order.
    pub bytes: Vec<u8>,
    /// Element type and shape, where the file says them.
    pub shape: Option<(DType, Vec<u64>)>,
}

/// Largest array file, in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// Reads a `.npy` by its content's own header, anything else as raw bytes.
pub fn read(path: &Path) -> Result<Array> {
    let say = || format!("cannot read {}", path.display());
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if matches!(extension, "npz" | "txt" | "csv" | "json" | "pt" | "safetensors") {
        bail!("{}: .{extension} is no array of bytes; save it as .npy or raw .bin", say());
    }
    // A device or a pipe has no length of its own, so the reader counts.
    let mut bytes = Vec::new();
    let file = fs::File::open(path).with_context(say)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(say)?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("{}: it is larger than 4 GiB", say());
    }
    if extension == "npy" {
        return read_npy(&bytes).with_context(|| format!("{} is no usable .npy", path.display()));
    }
    Ok(Array { bytes, shape: None })
}

fn read_npy(bytes: &[u8]) -> Result<Array> {
    if header_elements(bytes).is_none() {
        bail!("its shape has more elements than 64 bits count");
    }
    let mut reader = Cursor::new(bytes);
    let header = npyz::NpyHeader::from_reader(&mut reader).context("bad header")?;
    let descr = header.dtype().descr();
    let descr = descr.trim_matches('\'');
    let Some(dtype) = dtype_of(descr) else { bail!("element type `{descr}` is not supported") };
    if header.order() != npyz::Order::C && header.shape().len() > 1 {
        bail!("arrays in Fortran order are not supported; save numpy.ascontiguousarray(x)");
    }
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    let want = header.shape().iter().try_fold(dtype.size() as u64, |n, d| n.checked_mul(*d));
    if want != Some(data.len() as u64) {
        let want = want.map_or("2^64 or more".to_string(), |n| n.to_string());
        bail!("the header promises {want} bytes, the file holds {}", data.len());
    }
    Ok(Array { bytes: data, shape: Some((dtype, header.shape().to_vec())) })
}

/// Elements of the shape a `.npy` header names, `None` if they are too many to count: npyz multiplies
/// the sizes unchecked. 1 where the text has no shape; npyz says what is wrong with it.
fn header_elements(bytes: &[u8]) -> Option<u64> {
    // The longest header that matters here: magic, length, and a shape of 32 dimensions.
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let Some((_, rest)) = head.split_once("'shape'") else { return Some(1) };
    let Some((_, rest)) = rest.split_once('(') else { return Some(1) };
    let (sizes, _) = rest.split_once(')').unwrap_or((rest, ""));
    let mut sizes = sizes.split(',').filter_map(|d| d.trim().parse::<u64>().ok());
    sizes.try_fold(1u64, |n, d| n.checked_mul(d))
}

fn dtype_of(descr: &str) -> Option<DType> {
    Some(match descr {
        "|i1" | "<i1" => DType::I8,
        "|u1" | "<u1" | "|b1" => DType::U8,
        "<i2" => DType::I16,
        "<u2" => DType::U16,
        "<i4" => DType::I32,
        "<u4" => DType::U32,
        "<i8" => DType::I64,
        "<u8" => DType::U64,
        "<f2" => DType::F16,
        "<f4" => DType::F32,
        _ => return None,
    })
}

/// Writes an array: `.npy` with its shape (bf16 as uint16), anything else as raw bytes.
///
/// The file appears whole or not at all.
pub fn write(path: &Path, bytes: &[u8], dtype: DType, shape: &[u64]) -> Result<()> {
    let data = if path.extension().is_some_and(|e| e == "npy") {
        npy(bytes, dtype, shape).context("cannot encode .npy")?
    } else {
        bytes.to_vec()
    };
    write_whole(path, &data)
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, data: &[u8]) -> Result<()> {
    let write = |out: &mut dyn Write| out.write_all(data);
    save(path, &write).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file through a neighbour that is renamed into place. Links stay links, and what is no
/// regular file, like `/dev/null`, is written to and never replaced.
pub fn save(path: &Path, job: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let write = |file: File| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        job(&mut out)?;
        out.flush()
    };
    if special(path) {
        return write(File::options().write(true).open(path)?);
    }
    let path = real(path);
    let part = part(&path);
    let done = File::create(&part).and_then(write).and_then(|()| fs::rename(&part, &path));
    done.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

/// Can `path` be written? Refuses before anything is computed what would fail afterwards.
pub fn writable(path: &Path) -> Result<()> {
    let say = || format!("cannot write {}", path.display());
    if path.is_dir() || path.file_name().is_none() {
        bail!("{}: it is a folder", say());
    }
    if special(path) {
        File::options().write(true).open(path).with_context(say)?;
        return Ok(());
    }
    let part = part(&real(path));
    fs::write(&part, []).with_context(say)?;
    fs::remove_file(&part).with_context(say)
}

/// Can files be written into `dir`, which need not exist? Leaves nothing behind.
pub fn writable_folder(dir: &Path) -> Result<()> {
    let there = |d: &&Path| d.as_os_str().is_empty() || fs::symlink_metadata(d).is_ok();
    let nearest = dir.ancestors().find(there).unwrap_or(Path::new("."));
    // Others may try the same folder at the same time.
    let probe = nearest.join(format!("ptoemu.{}.part", std::process::id()));
    let done = fs::write(&probe, []).and_then(|()| fs::remove_file(&probe));
    done.with_context(|| format!("cannot write into {}", dir.display()))
}

/// A device, a pipe: something to write to that holds no file.
pub fn special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Do two paths name one file, whether it is there or not?
pub fn same_file(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| {
        let dir = p.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
        p.canonicalize().unwrap_or_else(|_| real(dir).join(p.file_name().unwrap_or_default()))
    };
    whole(a) == whole(b)
}

/// The file a link leads to.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    path.with_file_name(name)
}

fn npy(bytes: &[u8], dtype: DType, shape: &[u64]) -> Result<Vec<u8>> {
    macro_rules! encode {
        ($($variant:ident $t:ty, $n:literal);*) => {
            match dtype {
                $(DType::$variant => {
                    let items = bytes.chunks_exact($n).map(|c| {
                        let mut b = [0u8; $n];
                        b.copy_from_slice(c);
                        <$t>::from_le_bytes(b)
                    });
                    let mut out = Vec::new();
                    let sink = BufWriter::new(&mut out);
                    let mut w = npyz::WriteOptions::<$t>::new()
                        .default_dtype()
                        .shape(shape)
                        .writer(sink)
                        .begin_nd()?;
                    w.extend(items)?;
                    w.finish()?;
                    out
                })*
            }
        };
    }
    let mut out = encode!(
        I8 i8, 1; U8 u8, 1; I16 i16, 2; U16 u16, 2; BF16 u16, 2; F16 f16, 2;
        I32 i32, 4; U32 u32, 4; F32 f32, 4; I64 i64, 8; U64 u64, 8
    );
    out.flush()?;
    Ok(out)
}

/// One element as text, floats in full precision.
pub fn show(dtype: DType, bytes: &[u8], index: usize) -> String {
    let n = dtype.size();
    let mut b = [0u8; 8];
    let Some(src) = bytes.get(index * n..(index + 1) * n) else { return "?".into() };
    b[..n].copy_from_slice(src);
    let bits = u64::from_le_bytes(b);
    match dtype {
        DType::F32 => format!("{}", f32::from_bits(bits as u32)),
        DType::F16 => format!("{}", f16::from_bits(bits as u16)),
        DType::BF16 => format!("{}", bf16::from_bits(bits as u16)),
        t if t.is_signed() => format!("{}", (bits << (64 - 8 * n)) as i64 >> (64 - 8 * n)),
        _ => format!("{bits}"),
    }
}

/// One element as f64 (64-bit integers lose their low bits).
pub fn number(dtype: DType, bytes: &[u8], index: usize) -> f64 {
    let n = dtype.size();
    let mut b = [0u8; 8];
    if let Some(src) = bytes.get(index * n..(index + 1) * n) {
        b[..n].copy_from_slice(src);
    }
    let bits = u64::from_le_bytes(b);
    match dtype {
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        t if t.is_signed() => ((bits << (64 - 8 * n)) as i64 >> (64 - 8 * n)) as f64,
        _ => bits as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npy_round_trips_every_type() {
        for t in DType::ALL {
            let bytes: Vec<u8> = (0..6 * t.size() as u8).collect();
            let file = npy(&bytes, t, &[2, 3]).unwrap();
            let back = read_npy(&file).unwrap();
            let seen = if t == DType::BF16 { DType::U16 } else { t };
            assert_eq!(back, Array { bytes, shape: Some((seen, vec![2, 3])) });
        }
    }

    #[test]
    fn broken_npy_is_an_error() {
        let file = npy(&[0; 24], DType::F32, &[2, 3]).unwrap();
        assert!(read_npy(&file[..file.len() - 4]).is_err());
        assert!(read_npy(b"\x93NUMPY\x01").is_err());
        assert!(read_npy(b"").is_err());
        let short = read_npy(&file[..file.len() - 4]).unwrap_err().to_string();
        assert_eq!(short, "the header promises 24 bytes, the file holds 20");
    }

    #[test]
    fn a_shape_beyond_64_bits_is_an_error() {
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }";
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(118u16.to_le_bytes());
        file.extend(format!("{dict:<117}\n").bytes());
        assert!(read_npy(&file).unwrap_err().to_string().contains("64 bits"));
    }

    #[test]
    fn elements_as_text() {
        assert_eq!(show(DType::I8, &[0xFF], 0), "-1");
        assert_eq!(show(DType::F32, &1.5f32.to_le_bytes(), 0), "1.5");
        assert_eq!(show(DType::U16, &[1], 0), "?");
        assert!(
            (number(DType::F16, &f16::from_f32(0.1).to_bits().to_le_bytes(), 0) - 0.1).abs() < 1e-3
        );
    }
}
