//! Which calls of a reply may be run: none if the reply was cut.

use reknit::Reply;

fn main() {
    let stream = include_bytes!("../../../examples/edit.sse");
    for length in [stream.len(), stream.len() - 20] {
        let mut reply = Reply::detect();
        reply.push(&stream[..length]);
        reply.finish();
        let message = reply.message();
        // Complete, not run by the provider itself, and in a reply that the provider ended.
        println!("{:?}: {} call(s) may be run", message.status(), message.runnable_calls().count());
        // Complete, even if the reply is not: run these only if you know what you are doing.
        println!("of {} that are complete", message.complete_calls().count());
    }
}
