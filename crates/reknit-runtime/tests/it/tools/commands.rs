//! `execute_command`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use reknit::agent::Stream;
use reknit_runtime::question::Class;
use reknit_runtime::tool::{Fault, Progress};
use reknit_runtime::tools::group;

use super::Project;

/// The group that a command was reported to run as.
fn group_of(progress: &[Progress]) -> (u32, u64) {
    match progress.first() {
        Some(Progress::Group { id, started }) => (*id, *started),
        other => panic!("the group is reported first, not {other:?}"),
    }
}

/// What was reported of a stream.
fn reported(progress: &[Progress], wanted: Stream) -> String {
    let texts = progress.iter().filter_map(|progress| match progress {
        Progress::Output { stream, data } if *stream == wanted => Some(&**data),
        _ => None,
    });
    texts.collect()
}

/// Waits until a process is gone, or is only waiting for its parent to notice.
async fn until_gone(process: u32) {
    let is_there = || match fs::read_to_string(format!("/proc/{process}/stat")) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.trim_start().starts_with(['Z', 'X']),
        Err(_) => false,
    };
    while is_there() {
        tokio::task::yield_now().await;
    }
}

/// Waits for a file that a command writes, and reads a number from it.
async fn number_in(path: &Path) -> u32 {
    loop {
        if let Ok(text) = fs::read_to_string(path)
            && let Some(line) = text.strip_suffix('\n')
        {
            return line.parse().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_gives_its_exit_code_and_output() {
    let project = Project::new(&[("a.txt", "")]);
    let text = project.text("execute_command", r#"{"command": "ls; echo bad >&2; exit 3"}"#).await;
    assert!(text.starts_with("Exit code: 3\nTook: "), "{text}");
    assert!(text.contains("\nOutput:\n") && text.contains("a.txt\n") && text.contains("bad\n"), "{text}");
    let progress = project.caller.progress();
    let (id, started) = group_of(&progress);
    assert!(id > 1 && started > 0);
    assert_eq!(reported(&progress, Stream::Stdout), "a.txt\n");
    assert_eq!(reported(&progress, Stream::Stderr), "bad\n");
}

#[tokio::test]
async fn a_silent_command_says_so() {
    let project = Project::new(&[]);
    let text = project.text("execute_command", r#"{"command": "true"}"#).await;
    assert!(text.starts_with("Exit code: 0\n") && text.ends_with("\nThe command wrote nothing."), "{text}");
    let text = project.text("execute_command", r#"{"command": "kill -9 $$"}"#).await;
    assert!(text.starts_with("Ended by signal 9\n"), "{text}");
}

#[tokio::test]
async fn a_command_runs_in_a_directory_of_the_root() {
    let project = Project::new(&[("sub/a.txt", "")]);
    let args = r#"{"command": "pwd -P; ls", "cwd": "sub"}"#;
    let review = project.review("execute_command", args).await.unwrap();
    assert_eq!((review.class, review.detail.as_deref()), (Class::Execute, Some("in `sub`:\npwd -P; ls")));
    let text = project.text("execute_command", args).await;
    assert!(text.contains("Working directory: sub\n") && text.ends_with("/root/sub\na.txt\n"), "{text}");
    project.link(project.outside(""), "out");
    for cwd in ["..", "out", "nothing", "sub/a.txt", "/"] {
        let args = format!(r#"{{"command": "touch ran", "cwd": "{cwd}"}}"#);
        project.mistake("execute_command", &args).await;
        assert!(project.review("execute_command", &args).await.is_err(), "nobody is asked");
    }
    project.mistake("execute_command", r#"{"command": "  "}"#).await;
    project.mistake("execute_command", r#"{"command": "a\u0000b"}"#).await;
    assert!(!project.outside("ran").exists());
}

#[tokio::test]
async fn the_command_that_is_shown_is_the_one_that_runs() {
    let project = Project::new(&[]);
    let args = r#"{"command": "echo '&amp; &lt;' \"$((1 + 1))\""}"#;
    let review = project.review("execute_command", args).await.unwrap();
    assert_eq!(review.detail.as_deref(), Some(r#"echo '&amp; &lt;' "$((1 + 1))""#));
    assert!(project.text("execute_command", args).await.ends_with("\n&amp; &lt; 2\n"));
}

#[tokio::test]
async fn there_is_no_input_and_no_terminal() {
    let project = Project::new(&[]);
    let command =
        r#"{"command": "cat; echo \"$PAGER $GIT_PAGER $NO_COLOR $TERM\"; [ -t 1 ] || echo no terminal"}"#;
    let text = project.text("execute_command", command).await;
    assert!(text.ends_with("\ncat cat 1 dumb\nno terminal\n"), "{text}");
}

#[tokio::test]
async fn bytes_that_are_not_text_are_replaced() {
    let project = Project::new(&[]);
    let text = project.text("execute_command", r#"{"command": "printf 'a\\377b\\303\\251'"}"#).await;
    assert!(text.ends_with("\na\u{fffd}bé"), "{text}");
    assert_eq!(reported(&project.caller.progress(), Stream::Stdout), "a\u{fffd}bé");
}

#[tokio::test]
async fn a_command_is_ended_when_its_time_is_over() {
    let project = Project::new(&[]);
    let args = r#"{"command": "echo begun; sleep 1000; echo never", "timeout": 1}"#;
    let failure = project.call("execute_command", args).await.unwrap_err();
    assert_eq!(failure.fault, Fault::World);
    assert!(failure.message.starts_with("Exit code: 124\n"), "{failure}");
    assert!(failure.message.contains("its time of 1 s was over"), "{failure}");
    assert!(failure.message.ends_with("\nOutput:\nbegun\n"), "{failure}");
    until_gone(group_of(&project.caller.progress()).0).await;
}

#[tokio::test]
async fn a_cancelled_command_ends_with_all_that_it_started() {
    let project = Project::new(&[]);
    let file = project.root().join("child");
    let args = r#"{"command": "sleep 1000 & echo $! > child; echo begun; wait"}"#;
    let (done, ()) = tokio::join!(project.call("execute_command", args), async {
        project.caller.until(|progress| reported(progress, Stream::Stdout) == "begun\n").await;
        project.caller.cancel();
    });
    let failure = done.unwrap_err();
    assert!(failure.message.starts_with("The command was stopped by the user.\n"), "{failure}");
    assert!(failure.message.ends_with("begun\n"), "{failure}");
    until_gone(number_in(&file).await).await;
}

#[tokio::test]
async fn a_command_that_ignores_the_request_to_end_is_killed() {
    let project = Project::new(&[]);
    let args = r#"{"command": "trap 'echo no' TERM; echo begun; while :; do sleep 1000 & wait; done"}"#;
    let (done, ()) = tokio::join!(project.call("execute_command", args), async {
        project.caller.until(|progress| reported(progress, Stream::Stdout) == "begun\n").await;
        project.caller.cancel();
    });
    let failure = done.unwrap_err();
    // It was asked first, and its answer is there.
    assert!(failure.message.ends_with("Output:\nbegun\nno\n"), "{failure}");
    until_gone(group_of(&project.caller.progress()).0).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_the_call() {
    let project = Project::new(&[]);
    let args = r#"{"command": "sleep 1000 & echo $! > child; echo done"}"#;
    let text = project.text("execute_command", args).await;
    assert!(text.starts_with("Exit code: 0\n") && text.ends_with("\nOutput:\ndone\n"), "{text}");
    assert!(text.contains("still keeps its output open"), "{text}");
    // It was started on purpose and goes on, until somebody ends its group.
    let child = number_in(&project.root().join("child")).await;
    assert!(Path::new(&format!("/proc/{child}")).exists());
    assert!(std::process::Command::new("kill").arg(child.to_string()).status().unwrap().success());
    until_gone(child).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_command() {
    let project = Project::new(&[]);
    let args = r#"{"command": "sleep 1000 & echo $! > child; echo begun; wait"}"#;
    tokio::select! {
        done = project.call("execute_command", args) => panic!("{done:?}"),
        () = project.caller.until(|progress| reported(progress, Stream::Stdout) == "begun\n") => {}
    }
    until_gone(number_in(&project.root().join("child")).await).await;
}

#[tokio::test]
async fn what_is_left_of_a_group_is_ended_when_its_first_process_is_gone() {
    let project = Project::new(&[]);
    let args = r#"{"command": "sleep 1000 & echo $! > child; echo done"}"#;
    let text = project.text("execute_command", args).await;
    assert!(text.contains("still keeps its output open"), "{text}");
    let (id, started) = group_of(&project.caller.progress());
    let child = number_in(&project.root().join("child")).await;
    until_gone(id).await;
    assert!(!group::end(id, u64::MAX), "a group that started later");
    assert!(group::end(id, started));
    until_gone(child).await;
    assert!(!group::end(id, started), "nothing is left");
}

#[tokio::test]
async fn a_group_that_was_left_running_is_ended_by_its_start_time() {
    let project = Project::new(&[]);
    let args = r#"{"command": "echo $$ > leader; exec sleep 1000"}"#;
    let run = project.call("execute_command", args);
    let end = async {
        project.caller.until(|progress| !progress.is_empty()).await;
        let (id, started) = group_of(&project.caller.progress());
        assert_eq!(number_in(&project.root().join("leader")).await, id);
        assert!(!group::end(id, started + 1), "another process that has its id");
        assert!(!group::end(id, 0), "one whose time is unknown");
        assert!(!group::end(1, started) && !group::end(0, started), "the system itself");
        assert!(group::end(id, started));
    };
    let (done, ()) = tokio::join!(run, end);
    assert!(done.unwrap().plain_text().starts_with("Ended by signal 9\n"));
}

#[tokio::test]
async fn much_output_is_cut_and_kept() {
    let project = Project::new(&[]);
    // A hundred million bytes.
    let args = r#"{"command": "echo first; yes 123456789012345678901234567890123456789012345678 | head -c 99999982; echo; echo the last"}"#;
    let text = project.text("execute_command", args).await;
    assert!(text.len() < 11_000, "{}", text.len());
    assert!(text.contains("\nOutput:\nfirst\n1234") && text.ends_with("\nthe last\n"), "{text}");
    let kept = "All of it is in `cmd-call-1.txt`: read_command_output reads it …]\n";
    assert!(text.contains(" bytes are left out. ") && text.contains(kept), "{text}");
    let file = project.outside("outputs").join("cmd-call-1.txt");
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!(metadata.len(), 6 + 99_999_982 + 1 + 9);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077, 0, "only its owner");

    // What is reported meanwhile has its own limit, and the end is in it.
    let progress = project.caller.progress();
    let shown = reported(&progress, Stream::Stdout);
    assert!(shown.len() < 1_200_000, "{}", shown.len());
    assert!(shown.ends_with("the last\n"));

    let text = project.text("execute_command", &args.replace("first", "again")).await;
    assert!(text.contains("`cmd-call-1-2.txt`"), "the same id has another file: {text}");
}

#[tokio::test]
async fn a_command_that_never_stops_writing_is_ended_in_time() {
    let project = Project::new(&[]);
    let (done, ()) = tokio::join!(project.call("execute_command", r#"{"command": "yes"}"#), async {
        project.caller.until(|progress| progress.len() > 2).await;
        project.caller.cancel();
    });
    let failure = done.unwrap_err();
    assert!(
        failure.message.starts_with("The command was stopped by the user."),
        "{}",
        &failure.message[..80]
    );
    assert!(failure.message.len() < 11_000);
}

#[tokio::test]
async fn output_is_reported_while_the_command_runs() {
    let project = Project::new(&[]);
    let args = r#"{"command": "echo one; while [ ! -e go ]; do :; done; echo two", "timeout": 60}"#;
    let (text, ()) = tokio::join!(project.text("execute_command", args), async {
        let one = project.caller.until(|progress| reported(progress, Stream::Stdout) == "one\n");
        tokio::time::timeout(Duration::from_secs(30), one).await.expect("it is reported before the end");
        project.write("go", "");
    });
    assert!(text.ends_with("one\ntwo\n"), "{text}");
}

#[tokio::test]
async fn a_file_that_cannot_be_kept_does_not_fail_the_command() {
    let project = Project::new(&[]);
    fs::write(project.outside("outputs"), "a file where the folder should be").unwrap();
    let text = project.text("execute_command", r#"{"command": "yes | head -c 100000"}"#).await;
    assert!(text.starts_with("Exit code: 0\n") && text.contains("They could not be kept: "), "{text}");
}
