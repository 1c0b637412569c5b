//! A reply over an asynchronous stream of bytes; needs the feature `stream`.

use futures_util::{StreamExt, stream};
use reknit::Reply;
use reknit::message::Change;
use reknit::reply::ChangeStream;

fn main() -> std::io::Result<()> {
    let network = include_bytes!("../../../examples/edit.sse").chunks(100).map(std::io::Result::Ok);
    let mut changes = ChangeStream::new(Reply::detect(), stream::iter(network));
    futures_executor::block_on(async {
        while let Some(change) = changes.next().await {
            if let Change::Closed { block, .. } = change? {
                // The message is exactly what this change led to, however the bytes were cut.
                println!("{:?}", changes.reply().message().block(block));
            }
        }
        Ok(())
    })
}
