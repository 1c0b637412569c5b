//! [`Sqlite`]: sessions in a database of their own.
//!
//! One thread writes. It joins whatever is waiting to be appended, of all sessions, in one transaction, so that
//! many sessions share the cost of a commit. A commit can be read at once; only those who asked for it wait until
//! it is on the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use reknit::agent::Entry;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::sync::{oneshot, watch};

use super::{Error, Lease, Store, Stored, Summary, title};
use crate::tool::Work;

/// Sessions in a SQLite database.
pub struct Sqlite {
    path: PathBuf,
    writer: mpsc::Sender<Request>,
    reader: Arc<Mutex<Connection>>,
    changed: Arc<Mutex<BTreeMap<String, watch::Sender<u64>>>>,
}

struct Request {
    session: String,
    what: What,
}

enum What {
    Append { epoch: u64, after: u64, entries: Vec<Entry>, done: Reply<u64> },
    Sync { done: Reply<()> },
    Lease { done: Reply<Lease> },
    Delete { done: Reply<()> },
}

type Reply<T> = oneshot::Sender<Result<T, Error>>;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS sessions (
        id TEXT PRIMARY KEY,
        epoch INTEGER NOT NULL,
        last INTEGER NOT NULL DEFAULT 0,
        created INTEGER NOT NULL DEFAULT 0,
        changed INTEGER NOT NULL DEFAULT 0,
        title TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE TABLE IF NOT EXISTS entries (
        session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS synced (id INTEGER PRIMARY KEY CHECK (id = 0), times INTEGER NOT NULL) STRICT;
    INSERT OR IGNORE INTO synced VALUES (0, 0);
";

/// What is written into `user_version`. A database with a greater one is of a later version.
const VERSION: i64 = 1;

/// How long to wait for other programs that use the database.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait before something that SQLite does not wait for is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// How many requests are joined in one transaction.
const JOINED: usize = 4096;

impl Sqlite {
    /// Opens a database, or creates it together with its directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_path_buf();
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed("create the database's directory"))?;
        }
        let connection = connect(&path)?;
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(failed("read the database"))?;
        if version > VERSION {
            let why = format!("its version is {version}, and this program knows {VERSION}");
            return Err(Error::Failed { doing: "open the database", why });
        }
        connection.execute_batch(SCHEMA).map_err(failed("create the tables of the database"))?;
        connection.pragma_update(None, "user_version", VERSION).map_err(failed("write the database"))?;

        let reader = Arc::new(Mutex::new(connect(&path)?));
        let changed = Arc::<Mutex<BTreeMap<String, watch::Sender<u64>>>>::default();
        let (writer, requests) = mpsc::channel();
        let watchers = changed.clone();
        thread::Builder::new()
            .name("reknit-store".into())
            .spawn(move || write(connection, &requests, &watchers))
            .map_err(failed("start the writer of the database"))?;
        Ok(Self { path, writer, reader, changed })
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn request<T: Send + 'static>(
        &self,
        session: &str,
        what: impl FnOnce(Reply<T>) -> What,
    ) -> Work<'static, Result<T, Error>> {
        let (done, answer) = oneshot::channel();
        let sent = self.writer.send(Request { session: session.to_owned(), what: what(done) });
        Box::pin(async move {
            let gone = || Error::Failed { doing: "write the database", why: "its writer has ended".into() };
            sent.map_err(|_| gone())?;
            answer.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Work<'static, Result<T, Error>> {
        let reader = self.reader.clone();
        Box::pin(async move {
            let query = move || query(&reader.lock().unwrap_or_else(PoisonError::into_inner));
            let joined = tokio::task::spawn_blocking(query).await;
            joined.unwrap_or_else(|error| {
                Err(Error::Failed { doing: "read the database", why: error.to_string() })
            })
        })
    }
}

impl Store for Sqlite {
    fn append<'a>(
        &'a self,
        session: &'a str,
        epoch: u64,
        after: u64,
        entries: Vec<Entry>,
    ) -> Work<'a, Result<u64, Error>> {
        self.request(session, |done| What::Append { epoch, after, entries, done })
    }

    fn sync<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        self.request(session, |done| What::Sync { done })
    }

    fn read<'a>(
        &'a self,
        session: &'a str,
        after: u64,
        limit: usize,
    ) -> Work<'a, Result<Vec<Stored>, Error>> {
        let session = session.to_owned();
        self.query(move |connection| {
            exists(connection, &session)?;
            let sql =
                "SELECT seq, epoch, entry FROM entries WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?";
            let mut statement = connection.prepare_cached(sql).map_err(failed("read the log"))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement
                .query_map(params![session, number(after), limit], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
                })
                .map_err(failed("read the log"))?;
            rows.map(|row| {
                let (seq, epoch, entry) = row.map_err(failed("read the log"))?;
                let entry = serde_json::from_str(&entry).map_err(|error| Error::Damaged {
                    session: session.clone(),
                    seq: seq.unsigned_abs(),
                    why: error.to_string(),
                })?;
                Ok(Stored::new(epoch.unsigned_abs(), entry))
            })
            .collect()
        })
    }

    fn watch<'a>(&'a self, session: &'a str) -> Work<'a, Result<watch::Receiver<u64>, Error>> {
        Box::pin(async move {
            let name = session.to_owned();
            self.query(move |connection| exists(connection, &name)).await?;
            let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(changed.entry(session.to_owned()).or_default().subscribe())
        })
    }

    fn lease<'a>(&'a self, session: &'a str) -> Work<'a, Result<Lease, Error>> {
        self.request(session, |done| What::Lease { done })
    }

    fn sessions(&self) -> Work<'_, Result<Vec<Summary>, Error>> {
        self.query(|connection| {
            let sql = "SELECT id, created, changed, last, title FROM sessions ORDER BY changed DESC, id";
            let mut statement = connection.prepare_cached(sql).map_err(failed("list the sessions"))?;
            let rows = statement.query_map([], |row| {
                let mut summary = Summary::new(row.get::<_, String>(0)?);
                summary.created = row.get::<_, i64>(1)?.unsigned_abs();
                summary.changed = row.get::<_, i64>(2)?.unsigned_abs();
                summary.entries = row.get::<_, i64>(3)?.unsigned_abs();
                summary.title = row.get(4)?;
                Ok(summary)
            });
            rows.and_then(Iterator::collect).map_err(failed("list the sessions"))
        })
    }

    fn delete<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        self.request(session, |done| What::Delete { done })
    }
}

/// The writer's thread: ends when the store is dropped.
fn write(
    mut connection: Connection,
    requests: &mpsc::Receiver<Request>,
    changed: &Mutex<BTreeMap<String, watch::Sender<u64>>>,
) {
    while let Ok(first) = requests.recv() {
        let batch: Vec<Request> =
            std::iter::once(first).chain(requests.try_iter().take(JOINED - 1)).collect();
        let outcome = commit(&mut connection, batch);
        let mut changed = changed.lock().unwrap_or_else(PoisonError::into_inner);
        for (session, seen) in outcome.seen {
            match seen {
                Seen::Last(last) => {
                    if let Some(sender) = changed.get(&session) {
                        sender.send_replace(last);
                    }
                }
                // Readers learn from the closed channel that there is nothing more to wait for.
                Seen::Deleted => drop(changed.remove(&session)),
            }
        }
        drop(changed);
        let synced = if outcome.waiting.is_empty() { Ok(()) } else { sync(&connection) };
        for waiter in outcome.waiting {
            waiter(&synced);
        }
    }
}

#[derive(Default)]
struct Committed {
    /// What readers of a session can see now.
    seen: Vec<(String, Seen)>,
    /// Those who wait until it is on the disk.
    waiting: Vec<Waiting>,
}

/// Tells somebody whether what they wait for is on the disk.
type Waiting = Box<dyn FnOnce(&Result<(), Error>)>;

/// Tells somebody how their request ended, once its transaction has.
type Answering = Box<dyn FnOnce(Result<(), Error>, &mut Committed)>;

enum Seen {
    Last(u64),
    Deleted,
}

/// Performs a batch in one transaction. A request that is refused leaves nothing; the others are committed.
fn commit(connection: &mut Connection, batch: Vec<Request>) -> Committed {
    let mut committed = Committed::default();
    let mut answers: Vec<Answering> = Vec::new();
    // Immediate: a transaction that reads first and then wants to write is refused at once if another program has
    // written in between, however long it would wait.
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let ended = begun.map_err(failed("write the database")).and_then(|transaction| {
        for Request { session, what } in batch {
            match what {
                What::Append { epoch, after, entries, done } => {
                    let appended = append(&transaction, &session, epoch, after, &entries);
                    answers.push(Box::new(move |ended, committed| {
                        let appended = ended.and(appended);
                        if let Ok(last) = appended {
                            committed.seen.push((session, Seen::Last(last)));
                        }
                        drop(done.send(appended));
                    }));
                }
                What::Sync { done } => {
                    let found = exists(&transaction, &session);
                    answers.push(Box::new(move |ended, committed| match ended.and(found) {
                        Ok(()) => {
                            committed.waiting.push(Box::new(move |synced| drop(done.send(synced.clone()))));
                        }
                        Err(error) => drop(done.send(Err(error))),
                    }));
                }
                What::Lease { done } => {
                    let leased = lease(&transaction, &session);
                    answers.push(Box::new(move |ended, committed| match ended.and(leased) {
                        // An epoch that a crash takes back could be given to two writers.
                        Ok(lease) => committed.waiting.push(Box::new(move |synced| {
                            drop(done.send(synced.clone().map(|()| lease)));
                        })),
                        Err(error) => drop(done.send(Err(error))),
                    }));
                }
                What::Delete { done } => {
                    let deleted = delete(&transaction, &session);
                    answers.push(Box::new(move |ended, committed| {
                        let deleted = ended.and(deleted);
                        if deleted.is_ok() {
                            committed.seen.push((session, Seen::Deleted));
                        }
                        drop(done.send(deleted));
                    }));
                }
            }
        }
        transaction.commit().map_err(failed("write the database"))
    });
    for answer in answers {
        answer(ended.clone(), &mut committed);
    }
    committed
}

fn append(
    transaction: &Transaction<'_>,
    session: &str,
    epoch: u64,
    after: u64,
    entries: &[Entry],
) -> Result<u64, Error> {
    let (current, last) = head(transaction, session)?;
    if current != epoch {
        return Err(Error::Fenced { session: session.to_owned() });
    }
    if last != after {
        return Err(Error::Conflict { session: session.to_owned(), last, expected: after });
    }
    // Everything that can fail because of the entries comes before the first of them is written.
    let lines = entries.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
    let lines = lines.map_err(failed("write an entry"))?;
    let mut insert = transaction
        .prepare_cached("INSERT INTO entries (session, seq, epoch, entry) VALUES (?, ?, ?, ?)")
        .map_err(failed("write the log"))?;
    for (seq, line) in (after + 1..).zip(&lines) {
        insert
            .execute(params![session, number(seq), number(epoch), line])
            .map_err(failed("write the log"))?;
    }
    let last = after + entries.len() as u64;
    let (first_at, last_at) = (entries.first().map_or(0, |e| e.at), entries.last().map_or(0, |e| e.at));
    transaction
        .prepare_cached(
            "UPDATE sessions SET last = ?2, changed = ?4, created = iif(?5 = 0, ?3, created), \
             title = iif(title = '', ?6, title) WHERE id = ?1",
        )
        .and_then(|mut update| {
            let title = title(entries).unwrap_or_default();
            let (last, after) = (number(last), number(after));
            update.execute(params![session, last, number(first_at), number(last_at), after, title])
        })
        .map_err(failed("write the log"))?;
    Ok(last)
}

fn lease(transaction: &Transaction<'_>, session: &str) -> Result<Lease, Error> {
    let sql = "INSERT INTO sessions (id, epoch) VALUES (?, 1) \
               ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1 RETURNING epoch, last";
    let row = transaction.query_row(sql, [session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    let (epoch, last) = row.map_err(failed("take over the session"))?;
    Ok(Lease::new(epoch.unsigned_abs(), last.unsigned_abs()))
}

fn delete(transaction: &Transaction<'_>, session: &str) -> Result<(), Error> {
    let count = transaction.execute("DELETE FROM sessions WHERE id = ?", [session]);
    match count.map_err(failed("delete the session"))? {
        0 => Err(Error::NoSession { session: session.to_owned() }),
        _ => Ok(()),
    }
}

/// Waits until everything that was committed is on the disk: a commit in full synchronous mode syncs the whole log
/// of the database, with all commits before it.
fn sync(connection: &Connection) -> Result<(), Error> {
    let doing = "wait for the disk";
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed(doing))?;
    let synced = connection.execute("UPDATE synced SET times = times + 1", []).map_err(failed(doing));
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed(doing))?;
    synced.map(drop)
}

fn head(connection: &Connection, session: &str) -> Result<(u64, u64), Error> {
    let mut statement = connection
        .prepare_cached("SELECT epoch, last FROM sessions WHERE id = ?")
        .map_err(failed("read the database"))?;
    let row = statement.query_row([session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    match row.optional().map_err(failed("read the database"))? {
        Some((epoch, last)) => Ok((epoch.unsigned_abs(), last.unsigned_abs())),
        None => Err(Error::NoSession { session: session.to_owned() }),
    }
}

fn exists(connection: &Connection, session: &str) -> Result<(), Error> {
    head(connection, session).map(drop)
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let connection = Connection::open(path).map_err(failed("open the database"))?;
    connection.busy_timeout(PATIENCE).map_err(failed("open the database"))?;
    write_ahead(&connection).map_err(failed("open the database"))?;
    connection
        .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")
        .map_err(failed("open the database"))?;
    Ok(connection)
}

/// Makes the database use a write-ahead log. While several programs do this to a new one, SQLite refuses some of them at
/// once instead of letting them wait.
fn write_ahead(connection: &Connection) -> Result<(), rusqlite::Error> {
    let start = Instant::now();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL;") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            ended => return ended,
        }
    }
}

/// SQLite has signed numbers. Ours count entries and milliseconds, and never come near the limit.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn failed<E: std::fmt::Display>(doing: &'static str) -> impl FnOnce(E) -> Error {
    move |error| Error::Failed { doing, why: error.to_string() }
}
