//! A reply as agent events, folded into what a person sees of it.

use reknit::Reply;
use reknit::agent::Bridge;
use reknit::transcript::{Chunks, append};

fn main() {
    let (mut reply, mut bridge, mut chunks) = (Reply::detect(), Bridge::default(), Chunks::default());
    for piece in include_bytes!("../../../examples/edit.sse").chunks(100) {
        for event in bridge.follow_all(reply.push(piece)) {
            append(&mut chunks, &event); // gives the change, enough for a copy elsewhere to follow
        }
    }
    for event in bridge.follow_all(reply.finish()) {
        append(&mut chunks, &event);
    }
    for event in bridge.finish() {
        append(&mut chunks, &event);
    }
    println!("{} chunks of {} events", chunks.list().len(), chunks.events());
}
