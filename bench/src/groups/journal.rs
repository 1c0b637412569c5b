//! What a write, its undo and the log cost when the journal already has many entries, and what large work takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result};
use reknit::edit::{Format, How, parse};
use reknit_workspace::{Batch, Edits, EntryId, Journal, Root, Undo};

use super::{Bench, Group, Scale};
use crate::report::{self, Target};

/// The most that a journal with many entries may cost, in terms of one with few.
const BOUND: f64 = 2.0;

/// How often each operation is measured at each size; the median counts.
const RUNS: usize = 51;

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let sizes: &[usize] =
        if bench.scale == Scale::Full { &[10, 1_000, 10_000, 100_000] } else { &[10, 1_000, 10_000] };
    let (lines, targets) = growth(sizes)?;
    let mut table = report::lines(
        "journal: wall time when it has many entries, in memory",
        &["apply", "undo", "log", "on disk"],
        &lines,
    );
    let large = if bench.scale == Scale::Full { 2_000_000_000 } else { 100_000_000 };
    let lines = [many_files(10_000)?, large_file(large)?, moved_file(large)?];
    table += &report::lines(
        "journal: large work, on disk",
        &["apply", "undo", "peak memory", "of the files", "journal"],
        &lines,
    );
    Ok(Group { table, targets, rows: Vec::new() })
}

type Line = (String, Vec<String>);

/// Each operation with a journal of each size.
fn growth(sizes: &[usize]) -> Result<(Vec<Line>, Vec<Target>)> {
    // In memory, so that a disk that syncs does not hide what the journal costs.
    let (memory, disk) = (Path::new("/dev/shm"), std::env::temp_dir());
    let place = Place::new(if memory.is_dir() { memory } else { &disk })?;
    let mut lines = Vec::new();
    let mut all = Vec::new();
    let mut count = 0;
    for &size in sizes {
        while count < size {
            place.write(count)?;
            count += 1;
        }
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..RUNS {
            let start = Instant::now();
            let id = place.write(count)?;
            times[0].push(start.elapsed());
            let start = Instant::now();
            Undo::of(id).commit(&place.root, &place.journal, SystemTime::now())?;
            times[1].push(start.elapsed());
            let start = Instant::now();
            let listed = place.journal.log(&place.root, 20)?.entries.len();
            times[2].push(start.elapsed());
            anyhow::ensure!(listed >= 10, "{listed} entries are listed");
            count += 2;
        }
        let medians = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        });
        let disk = disk_use(place.journal.folder())?;
        let mut cells: Vec<_> = medians.iter().map(|time| report::duration(*time)).collect();
        cells.push(format!("{} each", report::size(disk / count)));
        lines.push((format!("{size} entries"), cells));
        all.push(medians);
    }
    let (first, last) = (all[0], all[all.len() - 1]);
    let names = ["apply", "undo", "log"];
    let targets = names.iter().zip(first.iter().zip(last)).map(|(name, (first, last))| {
        let name = format!("journal: {name} with {} entries", sizes[sizes.len() - 1]);
        Target::at_most(name, BOUND, Some(last.as_secs_f64() / first.as_secs_f64()))
    });
    Ok((lines, targets.collect()))
}

/// Many files in one answer.
fn many_files(count: usize) -> Result<Line> {
    let place = Place::new(&std::env::temp_dir())?;
    let mut answer = String::new();
    for number in 0..count {
        let path = format!("d{}/f{number}.txt", number % 100);
        let file = place.root.path().join(&path);
        fs::create_dir_all(file.parent().context("it has a folder")?)?;
        fs::write(file, format!("line {number}\nend\n"))?;
        answer += &format!("{path}\n<<<<<<< SEARCH\nline {number}\n=======\nnew\n>>>>>>> REPLACE\n");
    }
    place.measure(format!("{count} files in one answer"), &answer, None)
}

/// One line in the middle of a large file.
fn large_file(size: usize) -> Result<Line> {
    let place = Place::new(&std::env::temp_dir())?;
    write_large(&place.root.path().join("large.txt"), size)?;
    let middle = size / LINE / 2;
    let answer = format!(
        "large.txt\n<<<<<<< SEARCH\n{}=======\nnew\n>>>>>>> REPLACE\n",
        String::from_utf8(line(middle))?
    );
    place.measure(format!("a line of a file of {}", report::size(size)), &answer, Some(size))
}

/// A large file that is only moved.
fn moved_file(size: usize) -> Result<Line> {
    let place = Place::new(&std::env::temp_dir())?;
    write_large(&place.root.path().join("large.txt"), size)?;
    let answer = "*** Begin Patch\n*** Update File: large.txt\n*** Move to: moved.txt\n*** End Patch\n";
    place.measure(format!("a move of a file of {}", report::size(size)), answer, Some(size))
}

const LINE: usize = 40;

fn line(number: usize) -> Vec<u8> {
    format!("{:<39}\n", format!("line {number:x} {:x}", number.wrapping_mul(2_654_435_761))).into_bytes()
}

fn write_large(path: &Path, size: usize) -> Result<()> {
    use std::io::Write as _;
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for number in 0..size / LINE {
        file.write_all(&line(number))?;
    }
    Ok(file.flush()?)
}

/// A root and a journal; removed when dropped.
struct Place {
    folder: PathBuf,
    root: Root,
    journal: Journal,
}

impl Place {
    fn new(parent: &Path) -> Result<Self> {
        let name = format!("reknit-bench-{}-{:?}", std::process::id(), SystemTime::now());
        let folder = parent.join(name.replace(|char: char| !char.is_ascii_alphanumeric(), "-"));
        let project = folder.join("project");
        fs::create_dir_all(&project)?;
        fs::write(project.join("a.txt"), content(0))?;
        let (root, journal) = (Root::open(project)?, Journal::open(folder.join("journal"))?);
        Ok(Self { folder, root, journal })
    }

    /// One edit of a file of two kilobytes.
    fn write(&self, number: usize) -> Result<EntryId> {
        let path = self.root.resolve("a.txt")?;
        let file = self.root.read(&path)?;
        let new = content(number + 1);
        let mut batch = Batch::new("apply");
        batch.update(path, &file.stamp, [new.as_slice()]);
        Ok(batch.commit(&self.root, &self.journal, SystemTime::now())?.entry.id)
    }

    /// Applies an answer and undoes it; the peak is compared with a file of `size`.
    fn measure(&self, name: String, answer: &str, size: Option<usize>) -> Result<Line> {
        // From here on the peak counts.
        fs::write("/proc/self/clear_refs", "5").ok();
        let before = memory("VmRSS:");
        let start = Instant::now();
        let format = if answer.starts_with("***") { Format::ApplyPatch } else { Format::SearchReplace };
        let edits = Edits::read(&self.root, parse(format, answer));
        let committed = edits.plan(How::Context).commit(&self.journal, SystemTime::now())?;
        let applied = start.elapsed();
        let peak = memory("VmHWM:").saturating_sub(before);
        drop(edits);
        let journal = disk_use(self.journal.folder())?;
        let start = Instant::now();
        Undo::of(committed.entry.id).commit(&self.root, &self.journal, SystemTime::now())?;
        let undone = start.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
        let ratio = size.map(|size| peak as f64 / size as f64);
        let cells = vec![
            report::duration(applied),
            report::duration(undone),
            report::size(peak),
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x")),
            report::size(journal),
        ];
        Ok((name, cells))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Two kilobytes that look like source code.
fn content(number: usize) -> Vec<u8> {
    (0..40)
        .flat_map(|line| {
            format!("    let value_{line} = compute({}, {number});\n", line * number).into_bytes()
        })
        .collect()
}

/// What a folder takes on disk.
fn disk_use(folder: &Path) -> Result<usize> {
    use std::os::unix::fs::MetadataExt as _;
    let mut total = 0;
    for found in fs::read_dir(folder)? {
        let found = found?;
        let metadata = found.metadata()?;
        total += usize::try_from(metadata.blocks() * 512)?;
        if metadata.is_dir() {
            total += disk_use(&found.path())?;
        }
    }
    Ok(total)
}

/// A line of the process's status, in bytes; 0 where the system has none.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
    line.and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or_default() * 1024
}
