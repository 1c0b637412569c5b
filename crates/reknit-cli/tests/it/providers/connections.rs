//! How a connection comes about: certificates, proxies, and how long it may take.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// Accepts connections on the loopback interface, each in a thread of its own.
fn listen(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            // A client that goes away ends its thread.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    address
}

fn address_of(server: &Server) -> String {
    server.base_url().trim_start_matches("http://").to_owned()
}

/// A server with a certificate of an authority that nobody knows, in front of another one. Returns the certificate of
/// the authority too.
fn with_certificate(server: &Server) -> (SocketAddr, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("it has no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = || KeyPair::generate().expect("there is randomness");
    let authority = CertifiedIssuer::self_signed(params, key()).expect("it can be signed");
    let server_key = key();
    let names = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("it is an address");
    let certificate = names.signed_by(&server_key, &authority).expect("it can be signed");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("they are supported")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(server_key.serialize_der().into()),
        )
        .expect("they belong together");
    let (config, inner) = (Arc::new(config), address_of(server));
    let address = listen(move |stream| {
        let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        let mut client = StreamOwned::new(connection, stream);
        let mut server = TcpStream::connect(&*inner)?;
        // One request, which ends with its body, and then the reply.
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !is_whole(&request) {
            let length = client.read(&mut buffer)?;
            request.extend_from_slice(&buffer[..length]);
        }
        server.write_all(&request)?;
        io::copy(&mut server, &mut client).map(drop)
    });
    (address, authority.pem())
}

/// Whether a request has all of its body.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.and_then(|length| length.parse().ok()).is_none_or(|length: usize| body.len() >= length)
}

/// A user of Anthropic at an address.
fn home_at(url: String, more: Vec<(&'static str, String)>) -> Home {
    let mut home = Home::new();
    home.variables = vec![("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", url)];
    home.variables.extend(more);
    home
}

const HELLO: [&str; 4] = ["run", "Hello.", "--model", "anthropic/strict-1"];

fn hello() -> Server {
    Server::start(Dialect::Anthropic, [Answer::reply(Dialect::Anthropic, &Say::text("Hello to you."))])
}

#[test]
fn a_certificate_has_to_be_trusted() {
    let server = hello();
    let (address, authority) = with_certificate(&server);
    let (_, another) = with_certificate(&server);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let trusting = |pem: &str, name: &str| {
        let file = folder.path().join(name);
        fs::write(&file, pem).expect("it can be written");
        let file = file.to_str().expect("it is text").to_owned();
        home_at(format!("https://{address}"), vec![("SSL_CERT_FILE", file)])
    };
    let refused = trusting(&another, "another.pem").run(&HELLO, "");
    assert_eq!((refused.code, server.requests().len()), (Some(1), 0), "{refused:?}");
    let what = format!("error: cannot reach https://{address}/v1/messages: ");
    assert!(refused.stdout.contains(&what), "{}", refused.stdout);
    assert!(
        refused.stdout.contains("certificate") && refused.stdout.contains("SSL_CERT_FILE"),
        "{}",
        refused.stdout
    );
    assert!(!refused.stdout.contains("sent again"), "it is the same a second later: {}", refused.stdout);

    let trusted = trusting(&authority, "authority.pem").run(&HELLO, "");
    assert_eq!((trusted.code, &*trusted.stdout), (Some(0), "Hello to you.\n"), "{trusted:?}");
}

#[test]
fn a_server_that_never_answers_a_handshake_is_given_up() {
    // The system accepts the connection for a listener that never does, and nobody ever writes to it: the handshake
    // cannot go on, however long it is waited for.
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    let (_, authority) = with_certificate(&hello());
    let mut home = Home::new();
    fs::write(home.path("authority.pem"), authority).expect("it can be written");
    home.variables =
        vec![("SSL_CERT_FILE", home.path("authority.pem").to_str().expect("it is text").to_owned())];
    home.configure(&format!(
        "[models.slow]\ndialect = \"anthropic\"\nmodel = \"m\"\nbase_url = \"https://{address}\"\ntimeouts = {{ connect = 0.2 }}\n"
    ));
    let run = home.run(&["doctor"], "");
    assert_eq!(run.code, Some(1), "{run:?}");
    let expected = format!("cannot reach https://{address}/: no connection within 200 ms");
    assert!(run.stdout.contains(&expected), "{}", run.stdout);
}

/// A SOCKS5 proxy that leads to one server, whatever is asked for, and notes what that is.
fn socks(server: &Server) -> (SocketAddr, std::sync::mpsc::Receiver<String>) {
    let inner = address_of(server);
    let (asked, seen) = std::sync::mpsc::channel();
    let address = listen(move |mut client| {
        // RFC 1928: the version and how many methods of authentication, of which none is chosen.
        let mut head = [0; 2];
        client.read_exact(&mut head)?;
        client.read_exact(&mut vec![0; head[1].into()])?;
        client.write_all(&[5, 0])?;
        // The version, the command, zero, the kind of address (3: a name), its length, the name and the port.
        let mut request = [0; 5];
        client.read_exact(&mut request)?;
        let mut name = vec![0; usize::from(request[4]) + 2];
        client.read_exact(&mut name)?;
        name.truncate(name.len() - 2);
        let _ = asked.send(format!("{:?} {}", &request[..4], String::from_utf8_lossy(&name)));
        client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0])?;
        let mut server = TcpStream::connect(&*inner)?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || io::copy(&mut from, &mut to));
        io::copy(&mut server, &mut client).map(drop)
    });
    (address, seen)
}

#[test]
fn a_socks_proxy_is_used() {
    let server = hello();
    let (address, asked) = socks(&server);
    let proxy = ("ALL_PROXY", format!("socks5h://{address}"));
    let run = home_at("http://models.invalid".to_owned(), vec![proxy]).run(&HELLO, "");
    assert_eq!((run.code, &*run.stdout), (Some(0), "Hello to you.\n"), "{run:?}");
    assert_eq!(asked.recv().as_deref(), Ok("[5, 1, 0, 3] models.invalid"));
}
