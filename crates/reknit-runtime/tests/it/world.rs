//! A session in a test: a script, files in a temporary folder, and tools that a test can hold.

use std::sync::Arc;

use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, EndReason, Entry, Stream};
use reknit::json::{Object, Value};
use reknit::tags::{Tagger, profile};
use reknit_runtime::provider::{Error, Pieces, Provider, Request};
use reknit_runtime::question::{Answer, Class, Question};
use reknit_runtime::session::{Builder, Session};
use reknit_runtime::store::{Cursor, Memory, Store, Tail};
use reknit_runtime::testing::{ManualClock, Reply, Script};
use reknit_runtime::tool::{Context, Definition, Failure, Output, Progress, Tool, Tools, Work, Workspace};
use reknit_workspace::{Journal, Root};
use tokio::sync::mpsc;

/// What a test needs around a session.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) script: Script,
    /// What tools do, as they do it.
    pub(crate) did: mpsc::UnboundedReceiver<String>,
    tools: Tools,
    /// The profile of a model that writes its calls into its text.
    pub(crate) tags: Option<&'static str>,
}

/// A script whose calls are in its text.
struct Tagged {
    script: Script,
    profile: &'static str,
}

impl Provider for Tagged {
    fn dialect(&self) -> Dialect {
        self.script.dialect()
    }

    fn model(&self) -> &str {
        self.script.model()
    }

    fn tagger(&self, ids: &str) -> Option<Tagger> {
        let grammar = profile(self.profile).expect("there is such a profile");
        Some(Tagger::new(grammar, None, ids).expect("it is a good one"))
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        self.script.send(request)
    }
}

impl World {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let (doing, did) = mpsc::unbounded_channel();
        let tool = |name: &str, class| Stub::new(name, class, &doing);
        let finish = Stub {
            definition: tool("finish", Class::Talk).definition.completing(),
            ..tool("finish", Class::Talk)
        };
        let tools = Tools::new()
            .with(tool("read", Class::Read))
            .with(tool("write", Class::Write))
            .with(tool("hold", Class::Read))
            .with(tool("deaf", Class::Read))
            .with(tool("fail", Class::Read))
            .with(tool("panic", Class::Read))
            .with(tool("speak", Class::Read))
            .with(finish);
        let folder = tempfile::tempdir().unwrap();
        Self { folder, store: Arc::new(Memory::new()), script: Script::new(replies), did, tools, tags: None }
    }

    /// A world whose tools have these names, and only say that they ran.
    pub(crate) fn with_tools(names: impl IntoIterator<Item = String>) -> Self {
        let (doing, did) = mpsc::unbounded_channel();
        let stubs = names.into_iter().map(|name| Stub::new(&name, Class::Read, &doing));
        let tools = stubs.fold(Tools::new(), Tools::with);
        Self { did, tools, ..Self::new([]) }
    }

    pub(crate) fn builder(&self) -> Builder {
        let script = self.script.clone();
        match self.tags {
            None => self.builder_with(script),
            Some(profile) => self.builder_with(Tagged { script, profile }),
        }
    }

    pub(crate) fn builder_with(&self, provider: impl Provider) -> Builder {
        let outputs = self.folder.path().join("outputs");
        let root = self.folder.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        let workspace = Workspace::new(Root::open(root).unwrap(), Journal::temporary().unwrap(), outputs);
        let builder = Session::builder("s", provider, Arc::new(workspace));
        builder.store(self.store.clone()).tools(self.tools.clone()).clock(ManualClock::new())
    }

    pub(crate) async fn open(&self) -> (Session, Watch) {
        self.open_with(self.builder()).await
    }

    pub(crate) async fn open_with(&self, builder: Builder) -> (Session, Watch) {
        let session = builder.open().await.unwrap();
        let (tail, _) = session.subscribe(Cursor::default()).await.unwrap();
        (session, Watch { tail, entries: Vec::new(), seen: 0 })
    }
}

/// The log of a session as it grows.
pub(crate) struct Watch {
    tail: Tail,
    pub(crate) entries: Vec<Entry>,
    /// How many of them were looked at.
    seen: usize,
}

impl Watch {
    /// Waits for an entry that is wanted, from where the last wait ended.
    pub(crate) async fn until<T>(&mut self, mut wanted: impl FnMut(&Entry) -> Option<T>) -> T {
        loop {
            while let Some(entry) = self.entries.get(self.seen) {
                self.seen += 1;
                if let Some(found) = wanted(entry) {
                    return found;
                }
            }
            let more = self.tail.next().await.unwrap();
            self.entries.extend(more.into_iter().map(|stored| stored.entry));
        }
    }

    pub(crate) async fn end(&mut self) -> EndReason {
        self.until(|entry| match entry.body {
            Body::End { reason } => Some(reason),
            _ => None,
        })
        .await
    }

    pub(crate) async fn question(&mut self) -> (String, Question) {
        self.until(|entry| Question::of(entry).map(|(id, question)| (id.to_owned(), question))).await
    }

    pub(crate) async fn started(&mut self, id: &str) {
        self.until(|entry| match &entry.body {
            Body::ToolStarted { tool_call_id } if tool_call_id == id => Some(()),
            _ => None,
        })
        .await;
    }

    /// The results so far, a line each.
    pub(crate) fn results(&self) -> Vec<String> {
        let results = self.entries.iter().filter_map(|entry| match &entry.body {
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                let text = tool_result.result.as_str().map(std::borrow::Cow::into_owned);
                Some(format!("{}: {}", tool_result.tool_call_id, text.unwrap_or_default()))
            }
            _ => None,
        });
        results.collect()
    }
}

/// Answers every question of a session with yes, from its log, until its turn ends.
pub(crate) async fn say_yes(session: &Session, watch: &mut Watch) -> EndReason {
    loop {
        let step = watch.until(|entry| match (&entry.body, Question::of(entry)) {
            (Body::End { reason }, _) => Some(Err(*reason)),
            (_, Some((id, _))) => Some(Ok(id.to_owned())),
            _ => None,
        });
        match step.await {
            Ok(id) => session.answer(id, Answer::yes()).await,
            Err(reason) => return reason,
        }
    }
}

struct Stub {
    definition: Definition,
    doing: mpsc::UnboundedSender<String>,
}

impl Stub {
    fn new(name: &str, class: Class, doing: &mpsc::UnboundedSender<String>) -> Self {
        let definition = Definition::new(name, class, name);
        let definition = definition.optional("what", reknit_runtime::tool::Kind::Text, "");
        Self { definition, doing: doing.clone() }
    }
}

impl Tool for Stub {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let _ = self.doing.send(format!("{} {}", self.definition.name, context.call_id()));
            match &*self.definition.name {
                "hold" => {
                    context.cancelled().cancelled().await;
                    return Err(Failure::other("stopped"));
                }
                "deaf" => std::future::pending().await,
                "fail" => return Err(Failure::other("no luck")),
                "panic" => panic!("a bug of the tool"),
                "speak" => {
                    for word in ["one", "two", "three"] {
                        let (stream, data) = (Stream::Stdout, word.to_owned());
                        context.progress(Progress::Output { stream, data }).await;
                    }
                }
                "finish" => return Ok(Output::text("finished").completing()),
                _ => {}
            }
            let what = args.get("what").and_then(Value::as_str).unwrap_or_default();
            Ok(Output::text(format!("did {what}")))
        })
    }
}
