//! A reply as agent events, folded into what a person sees of it.

use reknit::Reply;
use reknit::agent::ReplyEvents;
use reknit::transcript::{Chunks, append};

fn main() {
    let (mut events, mut chunks) = (ReplyEvents::new(Reply::detect()), Chunks::default());
    for piece in include_bytes!("../../../examples/edit.sse").chunks(100) {
        for event in events.push(piece) {
            append(&mut chunks, &event); // gives the change, enough for a copy elsewhere to follow
        }
    }
    for event in events.finish() {
        append(&mut chunks, &event);
    }
    println!("{} chunks of {} events", chunks.len(), chunks.events());
}
