//! Turns what rustdoc knows about a crate into a listing of its public items.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use rustdoc_types::{Attribute, Crate, Generics, Id, Item, ItemEnum, StructKind, VariantKind};

use super::signature::Names;

/// The names from the crate down to an item.
type Path = Vec<String>;

/// A line for each public item, sorted by path, then one for each trait impl that is not derived.
pub(super) fn list(krate: &Crate) -> Result<String> {
    let root = item(krate, krate.root)?;
    let mut exports = Exports { krate, open: Vec::new(), paths: BTreeMap::new(), foreign: BTreeMap::new() };
    exports.collect(root, &[name(root)?.to_owned()])?;

    // In signatures items are named from below the crate: `json::Value`.
    let names = exports.paths.iter().map(|(id, paths)| (*id, shortest(paths)[1..].join("::")));
    let names = Names::new(krate, names.collect());
    let mut listing = Listing { krate, names: &names, lines: BTreeSet::new() };
    for (id, paths) in &exports.paths {
        let canonical = shortest(paths);
        listing.add(item(krate, *id)?, canonical, Place::Module)?;
        for path in paths.iter().filter(|path| *path != canonical) {
            listing.add_use(path, &canonical.join("::"));
        }
    }
    exports.foreign.iter().for_each(|(path, source)| listing.add_use(path, source));
    Ok(listing.text())
}

/// Where items can be reached.
struct Exports<'a> {
    krate: &'a Crate,
    /// The modules that are being read: one may export another that it is inside of.
    open: Vec<Id>,
    /// The items of modules; the members of types and traits have no path of their own.
    paths: BTreeMap<Id, BTreeSet<Path>>,
    /// Re-exports of what rustdoc does not describe here, such as items of other crates.
    foreign: BTreeMap<Path, String>,
}

impl<'a> Exports<'a> {
    fn collect(&mut self, module: &'a Item, path: &[String]) -> Result<()> {
        let ItemEnum::Module(content) = &module.inner else { bail!("`{}` is not a module", path.join("::")) };
        if self.open.contains(&module.id) {
            return Ok(());
        }
        self.open.push(module.id);
        for id in &content.items {
            let inside = item(self.krate, *id)?;
            let ItemEnum::Use(import) = &inside.inner else {
                self.export(inside, below(path, name(inside)?))?;
                continue;
            };
            let target = import.id.and_then(|id| self.krate.index.get(&id));
            match target {
                Some(target) if !import.is_glob => self.export(target, below(path, &import.name))?,
                Some(target) if matches!(target.inner, ItemEnum::Module(_)) => self.collect(target, path)?,
                _ => {
                    let name = if import.is_glob { "*" } else { &import.name };
                    self.foreign.insert(below(path, name), import.source.clone());
                }
            }
        }
        self.open.pop();
        Ok(())
    }

    fn export(&mut self, item: &'a Item, path: Path) -> Result<()> {
        if matches!(item.inner, ItemEnum::Module(_)) {
            self.collect(item, &path)?;
        }
        self.paths.entry(item.id).or_default().insert(path);
        Ok(())
    }
}

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Module,
    Struct,
    Field,
    Enum,
    Variant,
    Trait,
    Function,
    Constant,
    Type,
    Macro,
    Use,
}

impl Kind {
    /// The word that its lines begin with.
    fn word(self) -> &'static str {
        match self {
            Self::Module => "mod",
            Self::Struct => "struct",
            Self::Field => "field",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Trait => "trait",
            Self::Function => "fn",
            Self::Constant => "const",
            Self::Type => "type",
            Self::Macro => "macro",
            Self::Use => "use",
        }
    }
}

/// What an item is a part of.
#[derive(Clone, Copy)]
enum Place<'a> {
    Module,
    Type,
    Trait,
    Impl(&'a Generics),
}

struct Listing<'a> {
    krate: &'a Crate,
    names: &'a Names<'a>,
    /// Sorted as tuples are, so that the members of an item follow it.
    lines: BTreeSet<(Path, Kind, String)>,
}

impl Listing<'_> {
    /// Adds an item and its members.
    fn add(&mut self, item: &Item, path: &[String], place: Place<'_>) -> Result<()> {
        let names = self.names;
        let (kind, rest) = match &item.inner {
            ItemEnum::Module(_) => (Kind::Module, String::new()),
            ItemEnum::Struct(inner) => {
                let (fields, has_private) = fields(&inner.kind);
                self.add_members(&fields, path, Place::Type)?;
                self.add_impls(&inner.impls, path)?;
                let private = if has_private { " { .. }" } else { "" };
                (Kind::Struct, names.declaration(&inner.generics, private))
            }
            ItemEnum::StructField(type_) => (Kind::Field, format!(": {}", names.type_(type_))),
            ItemEnum::Enum(inner) => {
                self.add_members(&inner.variants, path, Place::Type)?;
                self.add_impls(&inner.impls, path)?;
                (Kind::Enum, names.declaration(&inner.generics, ""))
            }
            ItemEnum::Variant(inner) => (Kind::Variant, self.variant(&inner.kind)?),
            ItemEnum::Trait(inner) => {
                self.add_members(&inner.items, path, Place::Trait)?;
                (Kind::Trait, names.declaration(&inner.generics, &names.bounds(": ", &inner.bounds)))
            }
            ItemEnum::Function(inner) => {
                let outer = if let Place::Impl(generics) = place { Some(generics) } else { None };
                let signature = names.function(inner, outer);
                let is_provided = matches!(place, Place::Trait) && inner.has_body;
                (Kind::Function, if is_provided { signature + " { .. }" } else { signature })
            }
            ItemEnum::Constant { type_, .. } | ItemEnum::AssocConst { type_, .. } => {
                (Kind::Constant, format!(": {}", names.type_(type_)))
            }
            ItemEnum::Static(inner) => (Kind::Constant, format!(": {}", names.type_(&inner.type_))),
            ItemEnum::TypeAlias(inner) => {
                let type_ = format!(" = {}", names.type_(&inner.type_));
                (Kind::Type, names.declaration(&inner.generics, &type_))
            }
            ItemEnum::AssocType { generics, bounds, .. } => {
                (Kind::Type, names.declaration(generics, &names.bounds(": ", bounds)))
            }
            ItemEnum::Macro(_) => (Kind::Macro, "!".to_owned()),
            other => bail!("`{}` is a {:?}, which cannot be listed yet", path.join("::"), other.item_kind()),
        };
        let line = format!("{}{} {}{rest}", marks(item), kind.word(), path.join("::"));
        self.lines.insert((path.to_vec(), kind, line));
        Ok(())
    }

    fn add_members(&mut self, ids: &[Id], path: &[String], place: Place<'_>) -> Result<()> {
        for id in ids {
            let member = item(self.krate, *id)?;
            self.add(member, &below(path, name(member)?), place)?;
        }
        Ok(())
    }

    /// Adds what the inherent impls of a type contain.
    fn add_impls(&mut self, ids: &[Id], path: &[String]) -> Result<()> {
        for id in ids {
            if let ItemEnum::Impl(inner) = &item(self.krate, *id)?.inner
                && inner.trait_.is_none()
            {
                self.add_members(&inner.items, path, Place::Impl(&inner.generics))?;
            }
        }
        Ok(())
    }

    fn add_use(&mut self, path: &Path, source: &str) {
        let line = format!("{} {} = {source}", Kind::Use.word(), path.join("::"));
        self.lines.insert((path.clone(), Kind::Use, line));
    }

    /// What a variant contains. Its fields have no lines of their own: they are as public as it is.
    fn variant(&self, kind: &VariantKind) -> Result<String> {
        let field = |id: &Id| {
            let field = item(self.krate, *id)?;
            let ItemEnum::StructField(type_) = &field.inner else {
                bail!("a variant contains an item that is not a field")
            };
            Ok((name(field)?, self.names.type_(type_)))
        };
        Ok(match kind {
            VariantKind::Plain => String::new(),
            VariantKind::Tuple(fields) => {
                let types = fields.iter().map(|id| match id {
                    Some(id) => field(id).map(|(_, type_)| type_),
                    None => Ok("_".to_owned()),
                });
                format!("({})", types.collect::<Result<Vec<_>>>()?.join(", "))
            }
            VariantKind::Struct { fields, has_stripped_fields } => {
                let fields =
                    fields.iter().map(|id| field(id).map(|(name, type_)| format!("{name}: {type_}")));
                let mut fields = fields.collect::<Result<Vec<_>>>()?;
                fields.extend(has_stripped_fields.then(|| "..".to_owned()));
                if fields.is_empty() { " {}".to_owned() } else { format!(" {{ {} }}", fields.join(", ")) }
            }
        })
    }

    /// The trait impls written by hand: neither derived, nor automatic, nor those that every type has.
    fn trait_impls(&self) -> BTreeSet<(String, String)> {
        let items = self.krate.index.values().filter(|item| item.crate_id == OWN);
        let written = items.filter(|item| !item.attrs.contains(&Attribute::AutomaticallyDerived));
        let impls = written.filter_map(|item| match &item.inner {
            ItemEnum::Impl(inner) if !inner.is_synthetic && inner.blanket_impl.is_none() => {
                let type_ = self.names.type_(&inner.for_);
                let trait_ = self.names.path(inner.trait_.as_ref()?);
                let rest = self.names.declaration(&inner.generics, &format!(" {trait_} for {type_}"));
                Some((type_, format!("impl{rest}")))
            }
            _ => None,
        });
        impls.collect()
    }

    fn text(&self) -> String {
        let mut counts = BTreeMap::new();
        for (_, kind, _) in &self.lines {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        let uses = counts.remove(&Kind::Use).unwrap_or(0);
        let all: usize = counts.values().sum();
        let without_variants = all - counts.get(&Kind::Variant).unwrap_or(&0);
        let by_kind: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {}", kind.word())).collect();
        let impls = self.trait_impls();
        let mut text = format!(
            "# Written by `cargo xtask api`. `{{ .. }}` means private fields, or a provided method.\n\
             # {all} items, {without_variants} without variants: {}.\n\
             # Not counted: {uses} use, {} impl.\n",
            by_kind.join(", "),
            impls.len()
        );
        let lines = self.lines.iter().map(|(_, _, line)| line);
        for line in lines.chain(impls.iter().map(|(_, line)| line)) {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// The number that rustdoc gives the crate it describes.
const OWN: u32 = 0;

fn item(krate: &Crate, id: Id) -> Result<&Item> {
    krate.index.get(&id).with_context(|| format!("rustdoc does not describe its item {}", id.0))
}

fn name(item: &Item) -> Result<&str> {
    item.name.as_deref().with_context(|| format!("the item {} has no name", item.id.0))
}

/// The public fields of a struct, and whether it has others.
fn fields(kind: &StructKind) -> (Vec<Id>, bool) {
    match kind {
        StructKind::Unit => (Vec::new(), false),
        StructKind::Tuple(fields) => (fields.iter().flatten().copied().collect(), fields.contains(&None)),
        StructKind::Plain { fields, has_stripped_fields } => (fields.clone(), *has_stripped_fields),
    }
}

/// What is written before the word for the kind of an item.
fn marks(item: &Item) -> String {
    let mut marks = String::new();
    if item.attrs.contains(&Attribute::NonExhaustive) {
        marks.push_str("#[non_exhaustive] ");
    }
    if item.deprecation.is_some() {
        marks.push_str("#[deprecated] ");
    }
    if let ItemEnum::Function(function) = &item.inner {
        let header = &function.header;
        let words = [(header.is_const, "const "), (header.is_async, "async "), (header.is_unsafe, "unsafe ")];
        marks.extend(words.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word));
    }
    marks
}

fn below(path: &[String], name: &str) -> Path {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The first of the shortest paths.
fn shortest(paths: &BTreeSet<Path>) -> &Path {
    paths.iter().min_by_key(|path| path.len()).expect("an item is entered with a path")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Project;

    const SOURCE: &str = r#"
mod private {
    /// Reached by a re-export alone.
    #[non_exhaustive]
    pub struct Hidden {
        pub seen: Option<crate::shapes::Shape>,
        unseen: u8,
    }
    impl Hidden {
        pub const fn new(unseen: u8) -> Self { Self { seen: None, unseen } }
        pub fn unseen(&self) -> u8 { self.unseen }
        fn own() {}
    }
}
pub use private::Hidden;
pub use shapes::Shape;
pub use std::fmt::Display as Shown;

pub mod shapes {
    pub use super::shapes as same;
    #[derive(Clone, Debug)]
    pub enum Shape { Point, Line(f64, String), Box { width: f64, label: &'static str } }
    pub struct Pair<T>(pub T, T);
    impl<T: Clone> Pair<T> {
        pub fn second(&self) -> &T where T: Copy { &self.1 }
    }
    impl std::fmt::Display for Pair<u8> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{}", self.0) }
    }
    pub trait Area: Send {
        type Unit: Copy;
        const SIDES: usize;
        fn area(&self) -> Self::Unit;
        fn name(&self) -> String { String::new() }
    }
    pub type Drawn<'a> = Box<dyn Fn(&'a Shape, &mut [u8; 4]) -> std::io::Result<()> + Send>;
    pub fn draw<'a, I>(all: I, each: impl FnMut(&Shape)) -> impl Iterator<Item = &'a Shape>
    where I: IntoIterator<Item = &'a Shape> { drop(each); std::iter::empty().chain(all) }
    #[doc(hidden)]
    pub fn not_promised() {}
}
pub const LIMIT: usize = 3;
#[macro_export]
macro_rules! shape { () => {} }
"#;

    const EXPECTED: &str = "\
# Written by `cargo xtask api`. `{ .. }` means private fields, or a provided method.
# 21 items, 18 without variants: 1 mod, 2 struct, 2 field, 1 enum, 3 variant, 1 trait, 6 fn, 2 const, 2 type, 1 macro.
# Not counted: 3 use, 1 impl.
#[non_exhaustive] struct made_up::Hidden { .. }
const fn made_up::Hidden::new(unseen: u8) -> Self
field made_up::Hidden::seen: Option<Shape>
fn made_up::Hidden::unseen(&self) -> u8
const made_up::LIMIT: usize
enum made_up::Shape
variant made_up::Shape::Box { width: f64, label: &'static str }
variant made_up::Shape::Line(f64, String)
variant made_up::Shape::Point
use made_up::Shown = std::fmt::Display
macro made_up::shape!
mod made_up::shapes
trait made_up::shapes::Area: Send
const made_up::shapes::Area::SIDES: usize
type made_up::shapes::Area::Unit: Copy
fn made_up::shapes::Area::area(&self) -> Self::Unit
fn made_up::shapes::Area::name(&self) -> String { .. }
type made_up::shapes::Drawn<'a> = Box<dyn Fn(&'a Shape, &mut [u8; 4]) -> io::Result<()> + Send>
struct made_up::shapes::Pair<T> { .. }
field made_up::shapes::Pair::0: T
fn made_up::shapes::Pair::second(&self) -> &T where T: Clone, T: Copy
use made_up::shapes::Shape = made_up::Shape
fn made_up::shapes::draw<'a, I>(all: I, each: impl FnMut(&Shape)) -> impl Iterator<Item = &'a Shape> where I: IntoIterator<Item = &'a Shape>
use made_up::shapes::same = made_up::shapes
impl fmt::Display for shapes::Pair<u8>
";

    #[test]
    fn every_public_item_has_one_line() {
        let project = Project::here();
        let folder = project.target.join("api-test");
        fs::create_dir_all(&folder).expect("a folder for the made-up crate");
        let source = folder.join("made_up.rs");
        fs::write(&source, SOURCE).expect("its source is written");
        let mut rustdoc = project.command(std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()));
        rustdoc.arg(&source).args(["--edition", "2024", "-Z", "unstable-options", "--output-format", "json"]);
        rustdoc.arg("-o").arg(&folder).env("RUSTC_BOOTSTRAP", "1");
        assert!(rustdoc.status().expect("rustdoc starts").success());
        let json = fs::read(folder.join("made_up.json")).expect("what rustdoc wrote");
        let krate = serde_json::from_slice(&json).expect("JSON of a known format");
        let listing = list(&krate).expect("a listing");
        assert_eq!(listing.lines().collect::<Vec<_>>(), EXPECTED.lines().collect::<Vec<_>>(), "{listing}");
    }
}
