//! Text, thinking, calls and the end of a reply, as one iterator.

use reknit::{Item, Reply};

fn main() {
    let network = include_bytes!("../../../examples/edit.sse").chunks(100); // cut anywhere
    for item in Reply::detect().items(network) {
        match item {
            Item::Text(text) | Item::Thinking(text) => print!("{text}"),
            Item::Call(call) => println!("run {} ({})", call.name, call.id), // only calls that may be run
            Item::End(message) => println!("{:?}, {:?}", message.status(), message.usage()),
            _ => {}
        }
    }
}
