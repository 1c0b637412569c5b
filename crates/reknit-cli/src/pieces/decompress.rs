//! [`Decompressed`]: a source, read as what it was before it was compressed.
//!
//! Nothing is decoded ahead of what is asked for, so whoever reads stops a bomb at any byte.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A source of bytes.
pub(super) type Source = Box<dyn Read + Send>;

/// A source that is decompressed if it is compressed in a way that is known.
pub(super) struct Decompressed {
    stage: Stage,
}

enum Stage {
    /// Nothing was asked for yet.
    Start(Source),
    Plain(Source),
    Compressed {
        decoder: Source,
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Gzip,
    Zlib,
    Zstd,
}

/// What the first bytes of a source show.
#[derive(Debug, PartialEq)]
enum Start {
    Undecided,
    Plain,
    Compressed(Format),
}

impl Decompressed {
    pub(super) fn new(source: Source) -> Self {
        Self { stage: Stage::Start(source) }
    }

    fn begin(source: Source) -> io::Result<Stage> {
        let (mut source, mut first, mut buffer) = (source, Vec::new(), [0; 64 * 1024]);
        let start = loop {
            match start(&first) {
                Start::Undecided => {}
                decided => break decided,
            }
            match source.read(&mut buffer)? {
                0 => break Start::Plain,
                length => first.extend_from_slice(&buffer[..length]),
            }
        };
        let whole = Cursor::new(first).chain(source);
        let (decoder, format): (Source, _) = match start {
            Start::Undecided | Start::Plain => return Ok(Stage::Plain(Box::new(whole))),
            Start::Compressed(Format::Gzip) => (Box::new(MultiGzDecoder::new(whole)), Format::Gzip),
            Start::Compressed(Format::Zlib) => (Box::new(ZlibDecoder::new(whole)), Format::Zlib),
            Start::Compressed(Format::Zstd) => (Box::new(Zstd::new(whole)), Format::Zstd),
        };
        Ok(Stage::Compressed { decoder, format })
    }
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Stage::Start(source) = &mut self.stage {
            let source = std::mem::replace(source, Box::new(io::empty()));
            self.stage = Self::begin(source)?;
        }
        match &mut self.stage {
            Stage::Start(source) | Stage::Plain(source) => source.read(buffer),
            Stage::Compressed { decoder, format } => match decoder.read(buffer) {
                // A connection that broke: what came before is all there is, as for a stream that is not compressed.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
                Err(error) => Err(damaged(*format, &error)),
                read => read,
            },
        }
    }
}

fn damaged(format: Format, error: &dyn std::fmt::Display) -> io::Error {
    let name = match format {
        Format::Gzip => "gzip",
        Format::Zlib => "zlib",
        Format::Zstd => "zstd",
    };
    io::Error::new(io::ErrorKind::InvalidData, format!("the {name} data is damaged: {error}"))
}

fn start(first: &[u8]) -> Start {
    const MARKS: [(Format, &[u8]); 2] =
        [(Format::Gzip, &[0x1f, 0x8b, 8]), (Format::Zstd, &[0x28, 0xb5, 0x2f, 0xfd])];
    for (format, mark) in MARKS {
        if first.starts_with(mark) {
            return Start::Compressed(format);
        }
        if mark.starts_with(first) {
            return Start::Undecided;
        }
    }
    match first {
        // A window of up to 32 KiB, and two bytes that are a multiple of 31 as one number.
        [0x78] => Start::Undecided,
        [0x78, flags, ..] if (0x7800 + u16::from(*flags)) % 31 == 0 => Start::Compressed(Format::Zlib),
        _ => Start::Plain,
    }
}

/// The frames of zstd, one after the other.
struct Zstd<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    is_in_frame: bool,
    /// Whether the source ended inside a block.
    is_cut: bool,
}

/// The end of a frame: an empty block that is the last one, and a checksum that is not looked at.
const END_OF_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<R: Read> Zstd<R> {
    fn new(source: R) -> Self {
        let decoder = FrameDecoder::new();
        Self { source: BufReader::new(source), decoder, is_in_frame: false, is_cut: false }
    }

    /// Decodes the next block. If the source ends inside it, the frame ends before it: the decoder would keep
    /// what it needs for later blocks to itself, which may be all there is.
    fn decode_block(&mut self) -> io::Result<()> {
        let mut block = Vec::new();
        self.source.by_ref().take(3).read_to_end(&mut block)?;
        if let [first, second, third] = block[..] {
            let header = u32::from_le_bytes([first, second, third, 0]);
            let is_repeated_byte = header >> 1 & 3 == 1;
            let length = if is_repeated_byte { 1 } else { header >> 3 };
            self.source.by_ref().take(length.into()).read_to_end(&mut block)?;
            self.is_cut = block.len() < 3 + length as usize;
        } else {
            self.is_cut = true;
        }
        let block = if self.is_cut { &END_OF_FRAME[..] } else { &block };
        let one = BlockDecodingStrategy::UptoBlocks(1);
        // A checksum follows the last block.
        let decoded = self.decoder.decode_blocks(block.chain(&mut self.source), one);
        decoded.map(drop).map_err(|error| self.failure(error))
    }

    /// What an error means: at the end of the source, that there should be more.
    fn failure(&mut self, error: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            _ => io::Error::other(error),
        }
    }

    /// Begins the next frame, or skips it if it contains nothing for us.
    fn begin_frame(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.is_in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(error) => return Err(self.failure(error)),
        }
        Ok(())
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_in_frame {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin_frame()?;
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            } else if self.decoder.is_finished() {
                let written = self.decoder.get_checksum_from_data().filter(|_| !self.is_cut);
                if written.is_some() && written != self.decoder.get_calculated_checksum() {
                    return Err(io::Error::other("the checksum is wrong"));
                }
                self.is_in_frame = false;
            } else {
                self.decode_block()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"one, two, three\"}}]}\n\n";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("nothing can fail")
    }

    fn zlib(bytes: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("nothing can fail")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    /// Gives its pieces one read at a time.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let length = piece.len().min(buffer.len());
            buffer[..length].copy_from_slice(&piece[..length]);
            piece.drain(..length);
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(length)
        }
    }

    fn read(pieces: Vec<Vec<u8>>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Decompressed::new(Box::new(Pieces(pieces))).read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn any_cut_gives_the_same_bytes() {
        let inputs = [
            TEXT.to_vec(),
            b"xylophone".to_vec(),
            b"(".to_vec(),
            b"".to_vec(),
            gzip(TEXT),
            [gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat(),
            zlib(TEXT, 0),
            zlib(TEXT, 9),
            zstd(TEXT),
            // Two frames, and one between them that is to be skipped.
            [zstd(&TEXT[..9]), b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(&TEXT[9..])].concat(),
        ];
        for (number, input) in inputs.iter().enumerate() {
            let whole = read(vec![input.clone()]).expect("it is whole");
            if number >= 4 {
                assert_eq!(whole, TEXT, "{number}");
            }
            let bytes = input.iter().map(|byte| vec![*byte]).collect();
            assert_eq!(read(bytes).expect("it is whole"), whole, "{number}");
        }
        assert_eq!(read(vec![TEXT.to_vec()]).expect("it is whole"), TEXT);
    }

    #[test]
    fn a_text_that_looks_like_zlib_is_an_error_and_not_an_empty_input() {
        // `x^` is a header of zlib. A provider's stream never begins with it.
        assert!(read(vec![b"x^2 is text, and goes on".to_vec()]).is_err());
    }

    #[test]
    fn data_that_ends_early_gives_what_came() {
        let long: Vec<u8> =
            (0..150_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for input in [gzip(&long), zlib(&long, 6), zstd(&long)] {
            let half = read(vec![input[..input.len() / 2].to_vec()]).expect("it is read");
            assert!(
                half.len() > long.len() / 4 && half.len() < long.len(),
                "{} of {}",
                half.len(),
                long.len()
            );
            assert_eq!(half, long[..half.len()]);
        }
    }

    #[test]
    fn damaged_data_is_an_error() {
        let long: Vec<u8> = TEXT.repeat(500);
        for mut input in [gzip(&long), zlib(&long, 6), zstd(&long)] {
            let middle = input.len() / 2;
            input[middle..middle + 8].fill(0xff);
            input.extend_from_slice(&[0xff; 100_000]);
            let error = read(vec![input]).map(|bytes| bytes.len()).expect_err("it is damaged");
            assert!(error.to_string().contains("data is damaged: "), "{error}");
        }
    }

    #[test]
    fn a_bomb_gives_only_what_is_asked_for() {
        for input in [gzip(&vec![0; 3_000_000]), zstd(&vec![0; 3_000_000])] {
            assert!(input.len() < 100_000);
            let mut bomb = Decompressed::new(Box::new(io::Cursor::new(input)));
            let mut buffer = [1; 1000];
            bomb.read_exact(&mut buffer).expect("there is more");
            assert_eq!(buffer, [0; 1000]);
        }
    }
}
