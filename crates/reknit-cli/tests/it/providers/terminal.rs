//! `reknit run` on a terminal.

use expect_test::expect;

use super::*;
use crate::pty::Terminal;

#[test]
fn text_and_thinking_break_between_words() {
    let say =
        Say::text("The quick brown fox jumps over the lazy dog.\nAn extraordinarily-long-word follows.")
            .thinking("Which animals are there in the well-known sentence?", "seal");
    let server = Server::start(Dialect::Anthropic, [Answer::reply(Dialect::Anthropic, &say)]);
    let home = Home::with_model(&server, Dialect::Anthropic, "");
    let [state, config, root] = ["state", "config", "project"].map(|name| home.path(name));
    let text = |path: &Path| path.to_str().expect("it is text").to_owned();
    let variables = [
        ("XDG_STATE_HOME", text(&state)),
        ("XDG_CONFIG_HOME", text(&config)),
        ("STRICT_KEY", KEY.to_owned()),
    ];
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    let left = Terminal::start(20, &variables, &["run", "--root", &text(&root), "Which?"]).end();
    assert_eq!(left.code, Some(0), "{}", left.screen());
    let screen = left.screen();
    let said = &screen
        [screen.find('┊').expect("it has thought")..screen.find("\nthe files are in").expect("it is over")];
    expect![[r#"
        ┊ Which animals are
        ┊ there in the
        ┊ well-known
        ┊ sentence?

        The quick brown fox
        jumps over the lazy
        dog.
        An
        extraordinarily-long
        -word follows.
    "#]]
    .assert_eq(said);
}
