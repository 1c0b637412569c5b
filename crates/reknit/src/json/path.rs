//! [`Path`]: the path from the root of a value to a value inside it.

use std::fmt::{self, Write as _};

use super::value::{index, tokens};

/// The path from the root to a value. Displayed as text, it is a JSON pointer (RFC 6901).
///
/// It borrows from the [`PartialJson`](super::PartialJson) that the change belongs to. Comparing it with a
/// pointer does not allocate.
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
/// let path = path.expect("the text contains a number");
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
    /// Into an object, to the member with this key.
    Key(&'a str),
    /// Into an array, to the element with this index.
    Index(usize),
}

impl<'a> Path<'a> {
    /// The steps from the root to the value. There are none for the root itself.
    #[inline]
    pub fn steps(self) -> impl DoubleEndedIterator<Item = Step<'a>> {
        self.steps_with_positions().map(|(step, _)| step)
    }

    /// The last step, or `None` for the root.
    pub(crate) fn last(self) -> Option<Step<'a>> {
        self.trail.step(self.node).map(|(step, _)| step)
    }

    /// The number of steps.
    pub(crate) fn depth(self) -> usize {
        self.trail.nodes[self.node].depth
    }

    /// The steps, each with the position of the child that it leads to.
    #[inline]
    pub(super) fn steps_with_positions(self) -> impl DoubleEndedIterator<Item = (Step<'a>, usize)> {
        // A node only knows its parent. Climbing from the last node for each step is quadratic in the depth,
        // which is bounded and small. The alternative would be a copy of the path for every change.
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

/// Whether the pointer is the same path.
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

/// The paths to all values that are open or were changed by the last piece, as one tree of nodes.
///
/// Keys are copied, because a later member with the same key may replace the value within the same piece, and
/// the path must not change then.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The root is first, and parents are before their children.
    nodes: Vec<Node>,
    /// The keys of all nodes, one after the other.
    keys: String,
    /// Empty except while keys are moved. It is a field so that its memory is reused.
    moved: String,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: usize,
    depth: usize,
    /// The position among the children of its parent.
    at: usize,
    /// The range of `keys` that is its key. Empty for an element.
    key: (usize, usize),
    is_member: bool,
}

impl Trail {
    /// The path to a node.
    pub(super) fn path(&self, node: usize) -> Path<'_> {
        Path { trail: self, node }
    }

    /// Adds the root, an element or, with a key, a member. Returns its number.
    pub(super) fn add(&mut self, parent: usize, at: usize, key: Option<&str>) -> usize {
        let start = self.keys.len();
        self.keys.push_str(key.unwrap_or_default());
        let depth = self.nodes.get(parent).map_or(0, |parent| parent.depth + 1);
        let is_member = key.is_some();
        self.nodes.push(Node { parent, depth, at, key: (start, self.keys.len()), is_member });
        self.nodes.len() - 1
    }

    /// Sets the position of a node among the children of its parent.
    pub(super) fn set_at(&mut self, node: usize, at: usize) {
        self.nodes[node].at = at;
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Removes all nodes except those of the open values, which are given outermost first and renumbered from
    /// 0.
    ///
    /// A node is moved only if one before it was removed, so each node is moved at most once.
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

    /// The step to a node from its parent, and its position there. `None` for the root.
    fn step(&self, node: usize) -> Option<(Step<'_>, usize)> {
        let Node { at, key: (start, end), is_member, .. } = self.nodes[node];
        match (node, is_member) {
            (0, _) => None,
            (_, true) => Some((Step::Key(&self.keys[start..end]), at)),
            (_, false) => Some((Step::Index(at), at)),
        }
    }
}
