//! [`Http`]: a model that is reached over HTTP.

use std::sync::Arc;
use std::time::Duration;

use reknit::json::Value;
use reknit::tags::Tagger;
use reknit::{Dialect, Limits};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use super::models::{Error as ModelError, Key, Model};
use super::{Error, ErrorKind, Pieces, Price, Provider, Request, seconds};
use crate::tool::Work;

mod address;
mod answer;
mod body;
mod described;
mod recorder;
mod secrets;

pub use recorder::Recorder;

use recorder::Exchange;
use secrets::{Remover, Secrets};

/// How long to wait for a connection if the configuration does not say.
const CONNECT: Duration = Duration::from_secs(10);

/// How much of an error's body is read: more than any provider writes.
const ERROR_BYTES: usize = 64 * 1024;

/// A model that is reached over HTTP.
///
/// The system's certificates are trusted, also those that a company has added for its proxy, and the proxies of
/// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are used.
pub struct Http {
    model: Model,
    client: Client,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    recorder: Option<Arc<Recorder>>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("model", &self.model.name).field("url", &self.shown_url()).finish()
    }
}

impl Http {
    /// A model. Its key has to be there.
    pub fn new(model: Model) -> Result<Self, ModelError> {
        if let Key::Missing { variable } = &model.key {
            return Err(ModelError::NoKey { name: model.name, variable: variable.clone() });
        }
        let unusable = |why: String| ModelError::Address { name: model.name.clone(), why };
        let url = address::of(&model).map_err(unusable)?;
        let headers = headers(&model).map_err(unusable)?;
        let client = client(&url, model.waits.connect.unwrap_or(CONNECT));
        let client = client.map_err(|error| unusable(chain(&error)))?;
        let secrets = Secrets::of(&model, &url);
        Ok(Self { client, url, headers, secrets, recorder: None, model })
    }

    /// The same, with every exchange written to a recording.
    #[must_use]
    pub fn recorded(mut self, recorder: Arc<Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Where requests go, without secrets.
    fn shown_url(&self) -> String {
        address::shown(&self.url)
    }

    async fn exchange(&self, request: &Request) -> Result<Box<dyn Pieces>, Error> {
        let body = body::of(&self.model, request);
        let text = body.to_string();
        let mut exchange = self.recorder.as_ref().map(|recorder| {
            let described = self.described(request, body);
            recorder.begin(self.model.dialect, described, self.secrets.clone())
        });
        let sent = self.client.post(self.url.clone()).headers(self.headers.clone()).body(text).send().await;
        let answered = match sent {
            Ok(response) => answered(response, &self.secrets).await,
            Err(error) => Err(self.failed(&error)),
        };
        match answered {
            Ok(response) => {
                let request_id = answer::request_id(response.headers()).map(|id| self.secrets.remove(&id));
                if let Some(exchange) = &mut exchange {
                    exchange.answered(response.status().as_u16(), request_id.as_deref())?;
                }
                let (secrets, remover) = (self.secrets.clone(), self.secrets.remover());
                Ok(Box::new(Reply { response, request_id, exchange, secrets, remover, end: None }))
            }
            Err(error) => {
                if let Some(exchange) = exchange {
                    exchange.refused(&error)?;
                }
                Err(error)
            }
        }
    }

    fn failed(&self, error: &reqwest::Error) -> Error {
        unreachable(error, &self.secrets, &self.shown_url(), &self.model)
    }

    /// The request as a recording has it.
    fn described(&self, request: &Request, body: Value) -> Value {
        let headers: Vec<Value> = self
            .headers
            .iter()
            .map(|(name, value)| {
                let value =
                    if value.is_sensitive() { "[removed]" } else { value.to_str().unwrap_or("[removed]") };
                vec![Value::from(name.as_str()), value.into()].into()
            })
            .collect();
        let mut described = reknit::json::Object::new();
        described.insert("method", "POST");
        described.insert("url", self.shown_url());
        described.insert("headers", headers);
        described.insert("model", &*self.model.id);
        if let Some(grammar) = self.model.tags {
            described.insert("tags", &*grammar.name);
        }
        described.insert("messages", request.messages.len());
        described.insert("body", body);
        described.into()
    }
}

/// Asks whether anything answers where a model is, without a request to the model. Returns the address and the status
/// of the answer, which says only that there is one.
pub async fn reach(model: &Model) -> Result<(String, u16), Error> {
    let unusable = |why: String| Error::refused(format!("`{}` cannot be used: {why}", model.name));
    let mut url = address::of(model).map_err(unusable)?;
    url.set_path("/");
    url.set_query(None);
    let client = client(&url, model.waits.connect.unwrap_or(CONNECT));
    let client = client.map_err(|error| unusable(chain(&error)))?;
    let shown = address::shown(&url);
    match client.get(url.clone()).send().await {
        Ok(answer) => Ok((shown, answer.status().as_u16())),
        Err(error) => Err(unreachable(&error, &Secrets::of(model, &url), &shown, model)),
    }
}

/// An error before there is an answer.
fn unreachable(error: &reqwest::Error, secrets: &Secrets, url: &str, model: &Model) -> Error {
    if error.is_connect() && error.is_timeout() {
        let limit = seconds(model.waits.connect.unwrap_or(CONNECT));
        return Error::new(
            ErrorKind::Unreachable,
            format!("cannot reach {url}: no connection within {limit}"),
        );
    }
    connection_error(error, secrets, &format!("cannot reach {url}"))
}

/// The answer, if it is a reply of a model.
async fn answered(mut response: Response, secrets: &Secrets) -> Result<Response, Error> {
    let status = response.status();
    if status.is_success() && answer::may_be_a_reply(response.headers()) {
        return Ok(response);
    }
    let mut bytes = Vec::new();
    while bytes.len() < ERROR_BYTES {
        match response.chunk().await {
            Ok(Some(more)) => bytes.extend_from_slice(&more),
            // What came says more than that the rest did not.
            Ok(None) | Err(_) => break,
        }
    }
    let mut error = answer::refused(status.as_u16(), response.headers(), &String::from_utf8_lossy(&bytes));
    error.message = secrets.remove(&error.message);
    error.request_id = error.request_id.map(|id| secrets.remove(&id));
    Err(error)
}

/// An error of the connection, with all of its causes: the first one alone says nothing.
fn connection_error(error: &reqwest::Error, secrets: &Secrets, doing: &str) -> Error {
    let kind = match () {
        () if error.is_connect() => ErrorKind::Unreachable,
        () if error.is_timeout() => ErrorKind::TimedOut,
        () => ErrorKind::ConnectionLost,
    };
    let causes = chain(error);
    let mut error = Error::new(kind, secrets.remove(&format!("{doing}: {causes}")));
    if causes.contains("certificate") {
        // It is the same a second later.
        error.can_retry = false;
        error.message += "; if a proxy or the server has a certificate of its own, add it to those of the system, or name its \
                          file in SSL_CERT_FILE";
    }
    error
}

/// The causes of an error, without its address, which may contain a key.
fn chain(error: &reqwest::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        // The outer layers only say that there are inner ones.
        if words.last() != Some(&said) && !(said.starts_with("client error (") && error.source().is_some()) {
            words.push(said);
        }
        cause = error.source();
    }
    if words.is_empty() { "the connection was closed".to_owned() } else { words.join(": ") }
}

fn client(url: &Url, connect: Duration) -> reqwest::Result<Client> {
    // Whoever embeds this may have chosen another one before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("reknit/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        // A key must not follow to wherever an address points.
        .redirect(Policy::none());
    // A server on this machine needs no certificates, and a small container has none.
    if url.scheme() == "http" { client.tls_certs_only([]).build() } else { client.build() }
}

fn headers(model: &Model) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in address::headers(model) {
        headers.insert(HeaderName::from_static(name), sensitive(name, &value)?);
    }
    for (name, value) in &model.headers {
        let header =
            HeaderName::try_from(name).map_err(|_| format!("`{name}` is not the name of a header"))?;
        headers.insert(header, sensitive(name, value.reveal())?);
    }
    Ok(headers)
}

fn sensitive(name: &str, value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("the value for the header `{name}` has characters that a header cannot have"))?;
    value.set_sensitive(!address::is_public(name));
    Ok(value)
}

impl Provider for Http {
    fn dialect(&self) -> Dialect {
        self.model.dialect
    }

    fn model(&self) -> &str {
        &self.model.id
    }

    fn tagger(&self, ids: &str) -> Option<Tagger> {
        Tagger::new(self.model.tags?, None, ids).ok()
    }

    fn price(&self) -> Option<Price> {
        self.model.price
    }

    fn context_window(&self) -> Option<u64> {
        self.model.context_window
    }

    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        Box::pin(self.exchange(request))
    }
}

/// A reply while it arrives. A key that the provider repeats in it is removed here, before anything reads it.
struct Reply {
    response: Response,
    request_id: Option<String>,
    exchange: Option<Exchange>,
    secrets: Secrets,
    remover: Remover,
    /// How the stream has ended, after which only what was held back is left.
    end: Option<Result<(), Error>>,
}

impl Reply {
    async fn read(&mut self) -> Result<Option<Vec<u8>>, Error> {
        while self.end.is_none() {
            let bytes = match self.response.chunk().await {
                Ok(Some(bytes)) => self.remover.push(&bytes),
                Ok(None) => {
                    self.end = Some(Ok(()));
                    self.remover.finish()
                }
                Err(error) => {
                    let mut error = connection_error(&error, &self.secrets, "the reply broke off");
                    error.request_id.clone_from(&self.request_id);
                    self.end = Some(Err(error));
                    self.remover.finish()
                }
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        self.end.clone().unwrap_or(Ok(())).map(|()| None)
    }
}

impl Pieces for Reply {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let read = self.read().await;
            match (&mut self.exchange, &read) {
                (Some(exchange), Ok(Some(bytes))) => exchange.read(bytes)?,
                (Some(exchange), Err(error)) => exchange.broke_off(error)?,
                (Some(_), Ok(None)) | (None, _) => {}
            }
            read
        })
    }

    fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}
