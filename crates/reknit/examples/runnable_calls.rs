//! Which calls of a reply may be run: none if the reply was cut.

use reknit::Reply;
use reknit::event::End;

fn main() {
    let stream = include_bytes!("../../../examples/edit.sse");
    for length in [stream.len(), stream.len() - 20] {
        let mut reply = Reply::detect();
        reply.push(&stream[..length]);
        reply.finish();
        let message = reply.message();
        // Complete, not run by the provider itself, and in a reply that the provider ended.
        println!("{:?}: {} call(s) may be run", message.status(), message.runnable_calls().count());
        // Complete, even if the reply is not: they may be half of what the model wanted to do.
        let complete = message.tool_calls().filter(|call| call.end() == Some(End::Closed));
        println!("of {} that are complete", complete.count());
    }
}
