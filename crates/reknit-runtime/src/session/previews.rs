//! [`Previews`]: what calls are about to write, while a model still writes their arguments.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use reknit::agent::AgentEvent;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::tool::Workspace;
use crate::tools::preview::{Growth, LARGEST, Opening};

/// The calls of a reply whose new content is shown before they are complete.
#[derive(Default)]
pub(super) struct Previews {
    calls: BTreeMap<String, Preview>,
}

/// A task that owns the file and what grows out of it.
struct Preview {
    pieces: mpsc::Sender<String>,
    events: mpsc::Receiver<Vec<AgentEvent>>,
    task: JoinHandle<()>,
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Previews {
    /// The events that follow from an event of the reply. It waits for them, so that they are in order, and so that
    /// a model is not read faster than its edits can be shown.
    pub(super) async fn take(&mut self, event: &AgentEvent, workspace: &Arc<Workspace>) -> Vec<AgentEvent> {
        match event {
            AgentEvent::ToolInputStart { tool_call_id, tool_name } => {
                if let Some(opening) = Opening::of(tool_name) {
                    let preview = Preview::start(tool_call_id.clone(), opening, workspace.clone());
                    self.calls.insert(tool_call_id.clone(), preview);
                }
                Vec::new()
            }
            AgentEvent::ToolInputDelta { tool_call_id, delta } => {
                let Some(preview) = self.calls.get_mut(tool_call_id) else { return Vec::new() };
                match preview.push(delta).await {
                    Some(events) => events,
                    None => {
                        self.calls.remove(tool_call_id);
                        Vec::new()
                    }
                }
            }
            AgentEvent::ToolCall { tool_call } => {
                self.calls.remove(&tool_call.id);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

impl Preview {
    fn start(call_id: String, opening: Opening, workspace: Arc<Workspace>) -> Self {
        let (pieces, inbox) = mpsc::channel(1);
        let (outbox, events) = mpsc::channel(1);
        let task = tokio::spawn(async move { follow(call_id, opening, workspace, inbox, outbox).await });
        Self { pieces, events, task }
    }

    /// What a piece of the arguments adds; `None` if there is nothing more to show.
    async fn push(&mut self, piece: &str) -> Option<Vec<AgentEvent>> {
        self.pieces.send(piece.to_owned()).await.ok()?;
        self.events.recv().await
    }
}

/// Answers every piece with the events that it leads to.
async fn follow(
    call_id: String,
    mut opening: Opening,
    workspace: Arc<Workspace>,
    mut pieces: mpsc::Receiver<String>,
    out: mpsc::Sender<Vec<AgentEvent>>,
) {
    let path = loop {
        let Some(piece) = pieces.recv().await else { return };
        opening.push(&piece);
        if let Some(path) = opening.path() {
            break path.to_owned();
        }
        if out.send(Vec::new()).await.is_err() {
            return;
        }
    };
    let read = {
        let path = path.clone();
        tokio::task::spawn_blocking(move || original(&workspace, &path)).await
    };
    let Ok(Some(original)) = read else { return };
    let event = |Growth { delta, restarted }| AgentEvent::EditPreview {
        tool_call_id: call_id.clone(),
        path: path.clone(),
        delta,
        restarted,
    };
    let (mut growing, mut growths) = opening.begin(&original);
    while out.send(growths.into_iter().map(event).collect()).await.is_ok() {
        let Some(piece) = pieces.recv().await else { return };
        growths = growing.push(&piece);
    }
}

/// The file as it is; `None` if it cannot be shown. One that does not exist is empty.
fn original(workspace: &Workspace, path: &str) -> Option<Vec<u8>> {
    let path = workspace.root.resolve(path).ok()?;
    let Ok(file) = workspace.root.open_file(&path) else { return Some(Vec::new()) };
    let mut bytes = Vec::new();
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= LARGEST).then_some(bytes)
}
