//! The arguments of a call as a type of your own.

use reknit::Reply;

#[derive(Debug, serde::Deserialize)]
struct EditFile {
    path: String,
    old_string: String,
    new_string: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut reply = Reply::detect();
    reply.push(include_bytes!("../../../examples/edit.sse"));
    reply.finish();
    for call in reply.message().runnable_calls().filter(|call| call.name == "edit_file") {
        let edit: EditFile = call.parse()?; // the error names the field
        println!("{}: {} bytes become {}", edit.path, edit.old_string.len(), edit.new_string.len());
    }
    Ok(())
}
