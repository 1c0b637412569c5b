//! A strict provider for the checks with the providers' SDKs: `strict DIALECT [FAULT]`.
//!
//! The first request is answered with the fault, all others with the same reply. It prints its address and runs until
//! it is killed.

use std::env;
use std::process::ExitCode;
use std::thread;

use reknit::Dialect;
use reknit_validators::server::{Answer, Fault, Say, Server};

const TEXT: &str = "Grüezi – this is the strict provider. ☂";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let dialect = arguments.next().and_then(|name| name.parse::<Dialect>().ok());
    let Some(dialect) = dialect else {
        eprintln!("usage: strict DIALECT [FAULT]");
        return ExitCode::from(2);
    };
    let say = Say::text(TEXT).thinking("What do I say?", "seal");
    let fault = match arguments.next() {
        None => None,
        Some(name) => match Fault::ALL.iter().find(|(known, _)| *known == name) {
            Some((_, fault)) => Some(*fault),
            None => {
                eprintln!("`{name}` is not a fault");
                return ExitCode::from(2);
            }
        },
    };
    let first = fault.map(|fault| Answer::faulty(dialect, &say, fault));
    let server = Server::serve(dialect, first, Answer::reply(dialect, &say), 0);
    println!("{}", server.base_url());
    loop {
        thread::park();
    }
}
