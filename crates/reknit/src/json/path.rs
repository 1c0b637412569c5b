//! [`Path`]: the way from the root of a value to one inside it.

use std::fmt::{self, Write as _};

use super::value::{index, tokens};

/// The way from the root to a value; as text it is a JSON pointer (RFC 6901).
///
/// It borrows from the [`PartialJson`](super::PartialJson) whose change it names. Comparing it with a
/// pointer allocates nothing.
///
/// ```
/// use reknit::json::{Change, PartialJson, Step};
///
/// let mut json = PartialJson::new();
/// json.push(r#"{"edits": [{"a/b": 1}]}"#)?;
/// let path = json.changes().find_map(|change| match change {
///     Change::Scalar { path } => Some(path),
///     _ => None,
/// });
/// let path = path.expect("there is a number");
/// assert_eq!(path, "/edits/0/a~1b");
/// assert_eq!(path.to_string(), "/edits/0/a~1b");
/// assert!(path.steps().eq([Step::Key("edits"), Step::Index(0), Step::Key("a/b")]));
/// # Ok::<(), reknit::json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Path<'a> {
    trail: &'a Trail,
    node: usize,
}

/// One step of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// To the member of an object that has this key.
    Key(&'a str),
    /// To the element of an array, counted from 0.
    Index(usize),
}

impl<'a> Path<'a> {
    /// The steps from the root on; none for the root itself.
    #[inline]
    pub fn steps(self) -> impl DoubleEndedIterator<Item = Step<'a>> {
        self.places().map(|(step, _)| step)
    }

    /// The last step; none for the root.
    pub fn last(self) -> Option<Step<'a>> {
        self.trail.step(self.node).map(|(step, _)| step)
    }

    /// How many steps it has.
    pub fn depth(self) -> usize {
        self.trail.nodes[self.node].depth
    }

    /// The steps, each with the position of the child it leads to.
    #[inline]
    pub(super) fn places(self) -> impl DoubleEndedIterator<Item = (Step<'a>, usize)> {
        // Nodes know their parents only. Climbing anew for each step is quadratic in the depth, which is
        // bounded and small; the alternative is a copy of the way for every change.
        (0..self.depth()).rev().filter_map(move |up| {
            let node = (0..up).fold(self.node, |node, _| self.trail.nodes[node].parent);
            self.trail.step(node)
        })
    }
}

impl PartialEq for Path<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.steps().eq(other.steps())
    }
}

impl Eq for Path<'_> {}

/// Whether the pointer leads the same way.
impl PartialEq<str> for Path<'_> {
    fn eq(&self, pointer: &str) -> bool {
        let Some(mut tokens) = tokens(pointer) else { return false };
        let mut steps = self.steps();
        steps.all(|step| match (step, tokens.next()) {
            (Step::Key(key), Some(token)) => key == token,
            (Step::Index(at), Some(token)) => index(&token) == Some(at),
            (_, None) => false,
        }) && tokens.next().is_none()
    }
}

impl PartialEq<&str> for Path<'_> {
    fn eq(&self, pointer: &&str) -> bool {
        *self == **pointer
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps().try_for_each(|step| match step {
            Step::Index(at) => write!(f, "/{at}"),
            Step::Key(key) => {
                f.write_char('/')?;
                key.chars().try_for_each(|char| match char {
                    '~' => f.write_str("~0"),
                    '/' => f.write_str("~1"),
                    _ => f.write_char(char),
                })
            }
        })
    }
}

impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The ways to all values that are open or were touched by the last piece, as one tree of nodes.
///
/// Keys are copied: a later member of the same name may take the value's place within one piece, and its
/// path must stay what it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The root is the first; a parent stands before its children.
    nodes: Vec<Node>,
    /// The keys of all nodes, one behind the other.
    keys: String,
    /// Empty but while keys are moved.
    moved: String,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: usize,
    depth: usize,
    /// Which child of its parent it is.
    at: usize,
    /// Where `keys` ended when the node came, and where it ended with its key.
    key: (usize, usize),
    is_member: bool,
}

impl Trail {
    /// The path to a node.
    pub(super) fn path(&self, node: usize) -> Path<'_> {
        Path { trail: self, node }
    }

    /// Adds the root, an element or, with a key, a member; returns its number.
    pub(super) fn add(&mut self, parent: usize, at: usize, key: Option<&str>) -> usize {
        let start = self.keys.len();
        self.keys.push_str(key.unwrap_or_default());
        let depth = self.nodes.get(parent).map_or(0, |parent| parent.depth + 1);
        let is_member = key.is_some();
        self.nodes.push(Node { parent, depth, at, key: (start, self.keys.len()), is_member });
        self.nodes.len() - 1
    }

    /// Says which child of its parent a node is.
    pub(super) fn set_at(&mut self, node: usize, at: usize) {
        self.nodes[node].at = at;
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets all nodes but those on the way to the open value, outermost first, which are numbered anew
    /// from 0.
    ///
    /// A node that no forgotten one stands before is left alone, so each is moved at most once.
    pub(super) fn keep<'a>(&mut self, open: impl Iterator<Item = &'a mut usize>) {
        let mut kept = 0;
        let mut end = 0;
        for number in open {
            let mut node = self.nodes[*number];
            if *number != kept {
                let start = end + self.moved.len();
                self.moved.push_str(&self.keys[node.key.0..node.key.1]);
                node.key = (start, end + self.moved.len());
                node.parent = kept.saturating_sub(1);
                self.nodes[kept] = node;
                *number = kept;
            } else {
                end = node.key.1;
            }
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.keys.truncate(end);
        self.keys.push_str(&self.moved);
        self.moved.clear();
    }

    /// The step to a node from its parent, and which child it is; none for the root.
    fn step(&self, node: usize) -> Option<(Step<'_>, usize)> {
        let Node { at, key: (start, end), is_member, .. } = self.nodes[node];
        match (node, is_member) {
            (0, _) => None,
            (_, true) => Some((Step::Key(&self.keys[start..end]), at)),
            (_, false) => Some((Step::Index(at), at)),
        }
    }
}
