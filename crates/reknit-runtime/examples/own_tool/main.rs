//! A session with a tool of its own, on a recording: `cargo run -p reknit-runtime --example own_tool`
use reknit::{agent::Body, json::Object};
use reknit_runtime::provider::{Recorded, recorded::Pace};
use reknit_runtime::{question::Class, session::Session, store::Cursor, tool::*};
use reknit_workspace::{Journal, Root};

struct Roll(Definition);

impl Tool for Roll {
    fn definition(&self) -> &Definition {
        &self.0
    }

    fn execute<'a>(&'a self, _: &'a Object, _: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async { Ok(Output::text("4")) }) // chosen by a fair roll
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let replies = [("call.rec", include_str!("call.rec")), ("done.rec", include_str!("done.rec"))];
    let reply = |name: &str| replies.iter().find(|(file, _)| *file == name).map(|(_, text)| *text);
    let provider = Recorded::new(include_str!("scenario.json"), reply, Pace::AtOnce)?;
    let workspace = Workspace::new(Root::open(".")?, Journal::temporary()?, std::env::temp_dir());
    let roll = Definition::new("roll", Class::Read, "Rolls a die");
    let roll = Roll(roll.required("sides", Kind::Integer, "How many sides it has"));
    let session = Session::builder("example", provider, workspace.into());
    let session = session.tools(Tools::new().with(roll)).open().await?;

    let (mut tail, _) = session.subscribe(Cursor::default()).await?;
    session.say("Roll the die.").await;
    loop {
        for stored in tail.next().await? {
            println!("{}", serde_json::to_string(&stored.entry.body)?);
            if let Body::End { .. } = stored.entry.body {
                return Ok(());
            }
        }
    }
}
