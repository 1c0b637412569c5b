//! [`Replayed`]: a provider that answers from the recording of a session, as its provider did.
//!
//! `reknit run --record FILE` writes such a recording: every exchange with its request, without secrets. Which exchange
//! answers a request depends on how many messages the request has, so that a session that is resumed continues where
//! it was; requests that were sent again are answered in the order in which they were.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use reknit::json::Value;
use reknit::recording::{Detected, Header, Read, Reader, detect};
use reknit::tags::{Grammar, Tagger, profile};
use reknit::{Dialect, Limits};

use super::recorded::{Pace, Playing, Unusable};
use super::{Error, Pieces, Provider, Request};
use crate::tool::Work;

/// A provider that answers from the recording of a session.
#[derive(Debug)]
pub struct Replayed {
    dialect: Dialect,
    model: String,
    grammar: Option<&'static Grammar>,
    exchanges: Vec<Exchange>,
    pace: Pace,
    played: Mutex<BTreeSet<usize>>,
}

#[derive(Debug)]
struct Exchange {
    /// How many messages its request has.
    messages: usize,
    answer: Answer,
}

#[derive(Debug)]
enum Answer {
    Refused(Error),
    Reply { reads: Vec<Read>, request_id: Option<String> },
}

impl Replayed {
    /// The recording of a session.
    pub fn new(recording: &str, pace: Pace) -> Result<Self, Unusable> {
        let mut parts: Vec<String> = Vec::new();
        for line in recording.split_inclusive('\n') {
            match parts.last_mut() {
                Some(part) if detect(line.as_bytes()) != Detected::Recording => part.push_str(line),
                _ => parts.push(line.to_owned()),
            }
        }
        let mut of_session = None;
        let mut exchanges = Vec::new();
        for part in &parts {
            let (header, reads) = read(part).map_err(|error| Unusable(error.to_string()))?;
            let (session, exchange) = exchange(&header, reads)?;
            exchanges.push(exchange);
            of_session.get_or_insert(session);
        }
        let Some((dialect, model, grammar)) = of_session else {
            return Err(Unusable("the recording is empty".to_owned()));
        };
        Ok(Self { dialect, model, grammar, exchanges, pace, played: Mutex::default() })
    }

    /// The exchange with a request of so many messages that was not played yet.
    fn next(&self, messages: usize) -> Option<&Answer> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut exchanges = self.exchanges.iter().enumerate();
        let (at, exchange) =
            exchanges.find(|(at, exchange)| exchange.messages == messages && !played.contains(at))?;
        played.insert(at);
        Some(&exchange.answer)
    }
}

/// What all exchanges of a session have in common.
type OfSession = (Dialect, String, Option<&'static Grammar>);

fn exchange(header: &Header, reads: Vec<Read>) -> Result<(OfSession, Exchange), Unusable> {
    let missing =
        |what: &str| Unusable(format!("a header does not say {what}: it is not the recording of a session"));
    let dialect = header.dialect.as_deref().ok_or_else(|| missing("its dialect"))?;
    let dialect: Dialect =
        dialect.parse().map_err(|error: reknit::wire::UnknownName| Unusable(error.to_string()))?;
    let request = header.request().ok_or_else(|| missing("its request"))?;
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).map(Cow::into_owned);
    let model = text("/model").ok_or_else(|| missing("its model"))?;
    let grammar = match text("/tags") {
        None => None,
        Some(name) => Some(profile(&name).ok_or_else(|| Unusable(format!("there is no profile `{name}`")))?),
    };
    let messages =
        request.get("messages").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    let messages = messages.ok_or_else(|| missing("how many messages its request has"))?;
    let response = header.response().ok_or_else(|| missing("its response"))?;
    let answer = match response.get("error") {
        Some(error) => Answer::Refused(Error::from_json(error).ok_or_else(|| missing("its error"))?),
        None => {
            let request_id = response.get("requestId").and_then(Value::as_str).map(Cow::into_owned);
            Answer::Reply { reads, request_id }
        }
    };
    Ok(((dialect, model, grammar), Exchange { messages, answer }))
}

fn read(recording: &str) -> Result<(Header, Vec<Read>), reknit::recording::Error> {
    let mut reader = Reader::new(&Limits::default());
    reader.push(recording.as_bytes());
    reader.finish();
    let mut reads = Vec::new();
    while let Some(read) = reader.next_read()? {
        reads.push(read);
    }
    Ok((reader.header().cloned().unwrap_or_default(), reads))
}

impl Provider for Replayed {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn tagger(&self, ids: &str) -> Option<Tagger> {
        Tagger::new(self.grammar?, None, ids).ok()
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let count = request.messages.len();
        let answer = match self.next(count) {
            None => Err(Error::refused(format!(
                "the recording does not fit: it has no further answer to a request of {count} messages, so it is of \
                     another session, or tools and answers were different"
            ))),
            Some(Answer::Refused(error)) => Err(error.clone()),
            Some(Answer::Reply { reads, request_id }) => {
                let playing = Playing::new(reads.clone(), self.pace);
                Ok(Box::new(Reply { playing, request_id: request_id.clone() }) as Box<dyn Pieces>)
            }
        };
        Box::pin(async { answer })
    }
}

struct Reply {
    playing: Playing,
    request_id: Option<String>,
}

impl Pieces for Reply {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        self.playing.next()
    }

    fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}
