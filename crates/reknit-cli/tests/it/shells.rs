//! Completions, loaded by the shells they are for, and manual pages.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::run;

/// A file with the completions for a shell, in a folder of its own.
fn completions(shell: &str, name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("completions").join(shell);
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    let printed = run(&["completions", shell], "");
    assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""));
    let path = folder.join(name);
    fs::write(&path, printed.stdout).expect("it can be written");
    path
}

/// What a shell prints for a script; nothing if there is no such shell.
fn shell(name: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(arguments).output() else {
        println!("left out: there is no {name}");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{name}: {}, {errors}", output.status);
    Some(String::from_utf8(output.stdout).expect("names are text"))
}

#[test]
fn bash_completes_commands_options_and_names() {
    let path = completions("bash", "reknit");
    let script = format!(
        "source '{}'\n\
         complete() {{ COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); \
         _reknit reknit \"${{@: -1}}\" \"${{@: -2:1}}\"; echo \"${{COMPREPLY[*]}}\"; }}\n\
         complete reknit ex\ncomplete reknit read --te\ncomplete reknit read --from ant\n\
         complete reknit read --tools qwen3-c\ncomplete reknit explain cut-a",
        path.display()
    );
    if let Some(printed) = shell("bash", &["--norc", "-c", &script]) {
        assert_eq!(printed, "explain\n--text\nanthropic\nqwen3-coder\ncut-arguments\n");
    }
}

#[test]
fn fish_completes_commands_options_and_names() {
    let path = completions("fish", "reknit.fish");
    let script = format!(
        "source '{}'; for line in 'reknit ex' 'reknit read --te' 'reknit read --from ant'; \
         complete -C $line; end",
        path.display()
    );
    if let Some(printed) = shell("fish", &["--no-config", "-c", &script]) {
        let words: Vec<_> = printed.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert_eq!(words, ["explain", "--text", "anthropic"], "{printed}");
    }
}

#[test]
fn zsh_loads_the_completions() {
    let path = completions("zsh", "_reknit");
    let folder = path.parent().expect("it has a folder");
    let script = format!(
        "fpath=('{}' $fpath); autoload -U compinit && compinit -D -u; autoload +X -U _reknit; \
         print $_comps[reknit]; whence -w _reknit",
        folder.display()
    );
    if let Some(printed) = shell("zsh", &["-f", "-c", &script]) {
        assert_eq!(printed, "_reknit\n_reknit: function\n");
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    let wrong = run(&["completions", "fisch"], "");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("a similar value exists: 'fish'"), "{}", wrong.stderr);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    let _ = fs::remove_dir_all(&folder);
    let path = folder.to_str().expect("it is UTF-8");
    let missing = run(&["man", path], "");
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.starts_with("error: cannot write the manual pages into `"), "{}", missing.stderr);
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    assert_eq!(run(&["man", path], "").code, Some(0));
    let help = run(&["--help"], "").stdout;
    let (_, commands) = help.split_once("\nCommands:\n").expect("the help lists the commands");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names: Vec<_> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let page = fs::read_to_string(folder.join(format!("reknit-{name}.1"))).expect("it has a page");
        assert!(page.contains(".SH SYNOPSIS") && page.contains("\\-\\-quiet"), "{name}: {page}");
    }
    assert!(folder.join("reknit.1").is_file());
}
