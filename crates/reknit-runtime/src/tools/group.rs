//! Groups of processes: a command, and whatever it starts.
//!
//! A command runs in a group of its own, so that it can be ended together with what it started. The group is in the
//! log of the session before the command has written anything. If this program is killed, a later one finds it
//! there and calls [`end`].

use std::fs;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The variable by which a process is known to come from a command.
pub(super) const MARK: &str = "REKNIT_COMMAND";

/// Ends a group that an earlier program left running. Returns whether there was something to end.
///
/// `started` is what [`Progress::Group`](crate::tool::Progress::Group) had. A process that has the same id and
/// started at another time is somebody else's, and is left alone. If the first process of the group is gone, the
/// others are known by their group and by what is in their environment.
pub fn end(id: u32, started: u64) -> bool {
    // Zero means that the system could not say when it started.
    let Some(group) = pid(id).filter(|_| started != 0) else { return false };
    let is_ours = match start_time(id) {
        Some(time) => time == started,
        None => has_orphan(id, started),
    };
    is_ours && kill_process_group(group, Signal::KILL).is_ok()
}

/// Whether a process is left of a group whose first one is gone.
fn has_orphan(group: u32, started: u64) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    ids.any(|id: u32| {
        let stat = Stat::of(id).filter(|stat| stat.group == group && stat.started >= started);
        stat.is_some() && is_marked(id)
    })
}

/// Whether a process has the variable of a command. Of somebody else's it cannot be known.
fn is_marked(id: u32) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    let mut variables = environment.split(|&byte| byte == 0);
    variables
        .any(|variable| variable.strip_prefix(MARK.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
}

/// The group of a command that runs. Dropping it ends whatever is left of it.
pub(super) struct Group {
    id: Pid,
    started: u64,
    is_over: bool,
}

impl Group {
    /// The group that a process was started in as the first one.
    pub(super) fn led_by(id: u32) -> Option<Self> {
        Some(Self { id: pid(id)?, started: start_time(id).unwrap_or(0), is_over: false })
    }

    pub(super) fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn started(&self) -> u64 {
        self.started
    }

    /// Asks all its processes to end.
    pub(super) fn terminate(&self) {
        // It may be over already.
        let _ = kill_process_group(self.id, Signal::TERM);
    }

    /// Ends all its processes.
    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.id, Signal::KILL);
    }

    /// Whether one of its processes is left. The first one counts until it is waited for.
    pub(super) fn is_alive(&self) -> bool {
        test_kill_process_group(self.id).is_ok()
    }

    /// Leaves the processes that are left alone: the command is done, and they were meant to stay.
    pub(super) fn leave(mut self) {
        self.is_over = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

/// The id of a group that may be signalled: not this program's own, and not that of everything.
fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.try_into().ok()?).filter(|pid| !pid.is_init())
}

/// When a process started, in ticks since the system did.
fn start_time(id: u32) -> Option<u64> {
    Some(Stat::of(id)?.started)
}

/// What the system knows about a process.
struct Stat {
    group: u32,
    started: u64,
}

impl Stat {
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name of the program comes second and may contain anything, even parentheses and spaces.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(2);
        let group = fields.next()?.parse().ok()?;
        Some(Self { group, started: fields.nth(16)?.parse().ok()? })
    }
}
