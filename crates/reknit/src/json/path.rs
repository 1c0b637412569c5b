//! [`Path`]: the path from the root of a value to a value inside it.

use std::fmt::{self, Write as _};
use std::iter;

use super::array::reserve_for_one;
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
        self.trail.depth(self.node)
    }

    /// The steps, each with the position of the child that it leads to.
    #[inline]
    pub(super) fn steps_with_positions(self) -> impl DoubleEndedIterator<Item = (Step<'a>, usize)> {
        // A node only knows its parent. Climbing from the last node for each step is quadratic in the depth,
        // which is bounded and small. The alternative would be a copy of the path for every change.
        (0..self.depth()).rev().filter_map(move |up| {
            let node = (0..up).fold(self.node, |node, _| self.trail.nodes[node].parent());
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
/// the path must not change then. Nodes are small, because a long piece has millions of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The root is first, and parents are before their children.
    nodes: Vec<Node>,
    /// Those of the nodes that are members, in the same order.
    members: Vec<Member>,
    /// The keys of all members, one after the other.
    keys: String,
    /// Empty except while keys are moved. It is a field so that its memory is reused.
    moved: String,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Twice the number of its parent, and 1 more if it is a member.
    parent: u32,
    /// The position of an element in its array, or the number of a member in `members`.
    at: u32,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// The position in its object.
    at: usize,
    /// Where its key ends in `keys`. It starts where that of the member before ends.
    key_end: usize,
}

impl Node {
    #[inline]
    fn parent(self) -> usize {
        (self.parent >> 1) as usize
    }

    fn is_member(self) -> bool {
        self.parent & 1 == 1
    }

    fn set_parent(&mut self, parent: usize) {
        self.parent = number(parent << 1) | self.parent & 1;
    }
}

/// A number of a node or a position. There is not enough memory for larger ones: 4 billion elements are 64 GB.
fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Trail {
    /// The path to a node.
    #[inline]
    pub(super) fn path(&self, node: usize) -> Path<'_> {
        Path { trail: self, node }
    }

    /// Adds the root or an element. Returns its number.
    pub(super) fn add_element(&mut self, parent: usize, at: usize) -> usize {
        self.add(Node { parent: number(parent << 1), at: number(at) })
    }

    /// Adds a member, whose position is not known yet. Returns its number.
    pub(super) fn add_member(&mut self, parent: usize, key: &str) -> usize {
        self.keys.push_str(key);
        let at = number(self.members.len());
        reserve_for_one(&mut self.members);
        self.members.push(Member { at: 0, key_end: self.keys.len() });
        self.add(Node { parent: number(parent << 1) | 1, at })
    }

    /// Sets the position in its object of the member that was added last.
    pub(super) fn set_position_of_last_member(&mut self, at: usize) {
        if let Some(member) = self.members.last_mut() {
            member.at = at;
        }
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
        let (mut nodes, mut members, mut end) = (0, 0, 0);
        for number in open {
            let mut node = self.nodes[*number];
            let is_moved = *number != nodes;
            if is_moved {
                node.set_parent(nodes.saturating_sub(1));
            }
            if node.is_member() {
                let member = self.members[node.at as usize];
                if is_moved {
                    self.moved.push_str(&self.keys[self.key_start(node.at)..member.key_end]);
                    self.members[members] = Member { key_end: end + self.moved.len(), ..member };
                    node.at = self::number(members);
                } else {
                    end = member.key_end;
                }
                members += 1;
            }
            self.nodes[nodes] = node;
            *number = nodes;
            nodes += 1;
        }
        self.nodes.truncate(nodes);
        self.members.truncate(members);
        self.keys.truncate(end);
        self.keys.push_str(&self.moved);
        self.moved.clear();
    }

    /// Gives back the memory that a long piece needed.
    pub(super) fn shrink_to(&mut self, kept: usize) {
        self.nodes.shrink_to(kept);
        self.members.shrink_to(kept);
        self.keys.shrink_to(kept);
        self.moved.shrink_to(kept);
    }

    fn add(&mut self, node: Node) -> usize {
        reserve_for_one(&mut self.nodes);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The number of steps from the root to a node.
    #[inline]
    fn depth(&self, node: usize) -> usize {
        iter::successors(Some(node), |node| Some(self.nodes[*node].parent()))
            .take_while(|node| *node > 0)
            .count()
    }

    /// The step to a node from its parent, and its position there. `None` for the root.
    fn step(&self, node: usize) -> Option<(Step<'_>, usize)> {
        let found = self.nodes[node];
        if node == 0 {
            None
        } else if found.is_member() {
            let Member { at, key_end } = self.members[found.at as usize];
            Some((Step::Key(&self.keys[self.key_start(found.at)..key_end]), at))
        } else {
            Some((Step::Index(found.at as usize), found.at as usize))
        }
    }

    /// Where the key of a member starts in `keys`.
    fn key_start(&self, member: u32) -> usize {
        member.checked_sub(1).map_or(0, |before| self.members[before as usize].key_end)
    }
}
