//! Images, in what the user says and in results.

use reknit::json::Object;
use reknit_runtime::question::Class;
use reknit_runtime::tool::{Context, Definition, Failure, Output, Tool, Tools, Work};

use super::*;

struct Camera(Definition);

impl Tool for Camera {
    fn definition(&self) -> &Definition {
        &self.0
    }

    fn execute<'a>(&'a self, _: &'a Object, _: &'a Context) -> Work<'a, Result<Output, Failure>> {
        let text = Content::Text { text: "a picture".to_owned() };
        Box::pin(async { Ok(Output::content(vec![text, image("aW1hZ2UtMg==")])) })
    }
}

fn image(data: &str) -> Content {
    Content::Image { media_type: "image/png".to_owned(), data: data.to_owned() }
}

#[tokio::test]
async fn images_reach_the_model_in_every_dialect() {
    for dialect in DIALECTS {
        let answers = [Say::text("").thinking("Hm.", "seal").call("c1", "camera", "{}"), Say::text("Nice.")];
        let server = Server::start(dialect, answers.map(|say| Answer::reply(dialect, &say)));
        let world = World::new([]);
        let tools = Tools::new().with(Camera(Definition::new("camera", Class::Read, "Takes a picture.")));
        let builder = world.builder_with(model(&server, dialect, "")).tools(tools);
        let (session, mut watch) = world.open_with(builder).await;
        session.say_content(vec![Content::Text { text: "Compare.".to_owned() }, image("aW1hZ2UtMQ==")]).await;
        assert_eq!(watch.end().await, EndReason::Done, "{dialect}: {:?}", server.refusals());
        let body = server.requests()[1].body.to_string();
        assert!(body.contains("aW1hZ2UtMQ==") && body.contains("aW1hZ2UtMg=="), "{dialect}: {body}");
    }
}
