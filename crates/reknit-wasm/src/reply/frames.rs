//! [`Frames`]: bytes to frames.

use reknit::frame::{Decoder, Error, Framing, Kind};
use reknit::{Diagnostic, Frame};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::output::{Form, Output};
use crate::failure::Failure;
use crate::json::{json, parse};
use crate::limits::LimitOptions;

/// A stream that is being divided into frames.
#[wasm_bindgen]
pub struct Frames {
    decoder: Decoder,
    /// Whether the rest is refused.
    is_over: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    framing: Option<String>,
    strict: bool,
    limits: LimitOptions,
}

/// What is found in a stream.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Found<'a> {
    Data(Plain<'a>),
    Comment(Plain<'a>),
    Error(Plain<'a>),
    Problem(Diagnostic),
    Refused(Failure),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plain<'a> {
    number: u64,
    start_byte: u64,
    end_byte: u64,
    data: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    event: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<u64>,
}

const FRAMINGS: [(&str, Framing); 5] = [
    ("sse", Framing::Sse),
    ("lines", Framing::Lines),
    ("json-array", Framing::JsonArray),
    ("aws-event-stream", Framing::AwsEventStream),
    ("whole", Framing::Whole),
];

#[wasm_bindgen]
impl Frames {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Frames, JsValue> {
        let options: Options = parse(options)?;
        let limits = options.limits.limits();
        let mut decoder = match options.framing.as_deref() {
            None | Some("auto") => Decoder::detect(&limits),
            Some(name) => Decoder::new(named(name)?, &limits),
        };
        if options.strict {
            decoder = decoder.strict();
        }
        Ok(Self { decoder, is_over: false })
    }

    /// Takes a piece; returns what was found, as a JSON array.
    pub fn push(&mut self, piece: &[u8]) -> String {
        if !self.is_over {
            self.decoder.push(piece);
        }
        self.drain()
    }

    /// Ends the stream; returns what was found, as a JSON array.
    pub fn finish(&mut self) -> String {
        self.decoder.finish();
        self.drain()
    }

    /// How the stream is divided, once that is known.
    pub fn framing(&self) -> Option<String> {
        let framing = self.decoder.framing()?;
        FRAMINGS.iter().find(|(_, known)| *known == framing).map(|(name, _)| (*name).to_owned())
    }

    fn drain(&mut self) -> String {
        let mut output = Output::new(Form::Array);
        while !self.is_over {
            let found = match self.decoder.next_frame() {
                Ok(frame) => frame.map(|frame| json(&Found::new(&frame))),
                Err(error) => {
                    self.is_over = true;
                    Some(json(&Found::Refused(failure(&error))))
                }
            };
            // The problems of a frame come before it, and can only be asked for after it.
            while let Some(diagnostic) = self.decoder.next_diagnostic() {
                output.write(&Found::Problem(diagnostic));
            }
            match found {
                Some(found) => output.write_json(&found),
                None => break,
            }
        }
        output.finish()
    }
}

impl<'a> Found<'a> {
    fn new(frame: &Frame<'a>) -> Self {
        let plain = Plain {
            number: frame.number,
            start_byte: frame.bytes.start,
            end_byte: frame.bytes.end,
            data: frame.data,
            event: frame.event,
            id: frame.id,
            retry: frame.retry,
        };
        match frame.kind {
            Kind::Data => Self::Data(plain),
            Kind::Comment => Self::Comment(plain),
            Kind::Error => Self::Error(plain),
        }
    }
}

fn failure(error: &Error) -> Failure {
    let kind = match error {
        Error::TooLong { .. } => "limit-reached",
        _ => "damaged-frame",
    };
    Failure::of(kind, error)
}

fn named(name: &str) -> Result<Framing, Failure> {
    let found = FRAMINGS.iter().find(|(known, _)| *known == name).map(|(_, framing)| *framing);
    found.ok_or_else(|| {
        let names = FRAMINGS.map(|(name, _)| name).join(", ");
        Failure::usage(format!("there is no framing `{name}`"), format!("use one of {names}"))
    })
}
