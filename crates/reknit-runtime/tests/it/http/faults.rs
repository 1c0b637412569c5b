//! What a provider and what is between can do wrong: every turn ends in the right state.

use super::*;

const TEXT: &str = "This is said piece by piece, and so it can break anywhere.";

/// A turn with a provider that answers first with a fault and then well.
async fn turn(dialect: Dialect, fault: Fault) -> (Server, EndReason, Vec<Entry>, World) {
    let say = Say::text(TEXT).thinking("Let me think.", "seal").call("c1", "read", "{}");
    let good = [say.clone(), Say::text(" Done.")].map(|say| Answer::reply(dialect, &say));
    let server = Server::start(dialect, [Answer::faulty(dialect, &say, fault)].into_iter().chain(good));
    let world = World::new([]);
    let mut timeouts = Timeouts::default();
    match fault {
        Fault::Slow => timeouts.first_byte = Duration::from_millis(300),
        Fault::Stall => timeouts.silence = Duration::from_millis(300),
        _ => {}
    }
    let builder = world.builder_with(model(&server, dialect, "")).timeouts(timeouts);
    let (session, mut watch) = world.open_with(builder).await;
    session.say("Go.").await;
    let end = watch.end().await;
    // Whatever happened, the session goes on.
    if end == EndReason::Failed && !matches!(fault, Fault::ContentType | Fault::Page) {
        let failed = watch.entries.len();
        session.say("Again.").await;
        assert_eq!(watch.end().await, EndReason::Done, "{dialect} {fault:?}: {:?}", server.refusals());
        watch.entries.truncate(failed);
        check_ran_once(world).await;
        return (server, end, watch.entries, World::new([]));
    }
    (server, end, watch.entries, world)
}

/// The call of the good reply ran once, and that of the broken one did not.
async fn check_ran_once(mut world: World) {
    assert_eq!(world.did.recv().await.as_deref(), Some("read c1"));
    assert!(world.did.try_recv().is_err(), "nothing runs twice");
}

#[tokio::test]
async fn a_request_that_may_succeed_later_is_sent_again() {
    for dialect in DIALECTS {
        for fault in [Fault::RateLimitWithTime, Fault::Slow, Fault::ErrorFirst] {
            let (server, end, entries, world) = turn(dialect, fault).await;
            assert_eq!(end, EndReason::Done, "{dialect} {fault:?}: {entries:#?}");
            assert_eq!(said(&entries), format!("{TEXT} Done."), "{dialect} {fault:?}");
            assert_eq!((server.requests().len(), server.refusals().len()), (3, 0), "{dialect} {fault:?}");
            check_ran_once(world).await;
        }
    }
}

#[tokio::test]
async fn errors_without_a_time_are_sent_again_a_little_later() {
    for (dialect, fault) in
        DIALECTS.into_iter().zip([Fault::Overloaded, Fault::Failed, Fault::RateLimit].into_iter().cycle())
    {
        let (server, end, entries, _) = turn(dialect, fault).await;
        assert_eq!(end, EndReason::Done, "{dialect} {fault:?}");
        assert_eq!(server.requests().len(), 3, "{dialect} {fault:?}");
        let notice = entries
            .iter()
            .find(|entry| matches!(entry.body, Body::Agent(AgentEvent::Notice { .. })))
            .unwrap();
        let Body::Agent(AgentEvent::Notice { message }) = &notice.body else { unreachable!() };
        let (words, kind) = match fault {
            Fault::Overloaded => {
                ("overloaded_error: Overloaded (HTTP 529, request req_strict_1)", "overloaded")
            }
            Fault::Failed => {
                ("api_error: Internal server error (HTTP 500, request req_strict_1)", "provider-failed")
            }
            _ => ("rate_limit_error: Too many requests (HTTP 429, request req_strict_1)", "rate-limited"),
        };
        assert_eq!(*message, format!("the request is sent again in 500 ms: {words}"), "{dialect}");
        assert_eq!(notice.extra.get("body").unwrap().get("kind"), Some(&kind.into()), "{dialect}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_fails_and_what_was_shown_is_in_the_log() {
    for dialect in DIALECTS {
        for (fault, kind) in [
            (Fault::Cut, ErrorKind::ConnectionLost),
            (Fault::Stall, ErrorKind::TimedOut),
            (Fault::Error, ErrorKind::Overloaded),
        ] {
            let (server, end, entries, _) = turn(dialect, fault).await;
            assert_eq!(end, EndReason::Failed, "{dialect} {fault:?}");
            let said = said(&entries);
            assert!(
                !said.is_empty() && said.len() < TEXT.len() && TEXT.starts_with(&said),
                "{dialect} {fault:?}: {said}"
            );
            let errors = errors(&entries);
            assert_eq!(errors.len(), 1, "{dialect} {fault:?}: {errors:?}");
            assert_eq!(errors[0].0, kind.name(), "{dialect} {fault:?}: {errors:?}");
            if fault != Fault::Stall {
                assert_eq!(errors[0].2.as_deref(), Some("req_strict_1"), "{dialect} {fault:?}");
            }
            // The request after it holds, although the reply before it is half.
            assert_eq!((server.requests().len(), server.refusals().len()), (3, 0), "{dialect} {fault:?}");
        }
    }
}

#[tokio::test]
async fn what_is_not_a_reply_is_an_error() {
    for dialect in DIALECTS {
        for (fault, words) in [
            (Fault::ContentType, "the answer is not the reply of a model, but `image/png`: "),
            (Fault::Page, "the answer is not the reply of a model, but `text/html`: Sign in (HTTP 200)"),
        ] {
            let (server, end, entries, _) = turn(dialect, fault).await;
            assert_eq!((end, server.requests().len()), (EndReason::Failed, 1), "{dialect} {fault:?}");
            let errors = errors(&entries);
            assert_eq!(errors[0].0, "not-a-reply", "{dialect} {fault:?}");
            assert!(errors[0].1.starts_with(words), "{dialect} {fault:?}: {errors:?}");
            assert_eq!(said(&entries), "", "{dialect} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = format!("[models.m]\ndialect = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://{address}\"");
    let model = Models::read(Some(&config)).unwrap().find(None, &|_| None).unwrap();
    let http = Http::new(model).unwrap();
    let request = reknit_runtime::provider::Request::new(String::new(), Vec::new(), Vec::new());
    let error = reknit_runtime::provider::Provider::send(&http, &request).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(
        error.message.starts_with(&format!("cannot reach http://{address}/api/chat: ")),
        "{}",
        error.message
    );
    assert!(error.can_retry);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_does_not_come_about_is_given_up() {
    use std::net::{Ipv4Addr, TcpStream};

    // Nobody accepts here, and the queue is one connection long. Once it is full, the system drops whatever wants to
    // connect: a connection that is not there after a while, although nothing but the system is needed for it, shows
    // that it is. From then on none can come about, because nothing leaves the queue.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        waiting.push(stream);
    }
    let config = format!(
        "[models.m]\ndialect = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://{address}\"\ntimeouts = {{ connect = 0.2 }}"
    );
    let http = Http::new(Models::read(Some(&config)).unwrap().find(None, &|_| None).unwrap()).unwrap();
    let request = reknit_runtime::provider::Request::new(String::new(), Vec::new(), Vec::new());
    let error = reknit_runtime::provider::Provider::send(&http, &request).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    let expected = format!("cannot reach http://{address}/api/chat: no connection within 200 ms");
    assert_eq!(error.message, expected);
    assert!(error.can_retry);
}
