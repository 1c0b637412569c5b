//! Types and signatures as in source code: standard types without a path, our own with their module.

use std::collections::BTreeMap;

use rustdoc_types::{
    AssocItemConstraint, AssocItemConstraintKind, Crate, Function, GenericArg, GenericArgs, GenericBound,
    GenericParamDef, GenericParamDefKind, Generics, Id, Path, PreciseCapturingArg, Term, TraitBoundModifier,
    Type, WherePredicate,
};

/// How items are named in signatures.
pub(super) struct Names<'a> {
    krate: &'a Crate,
    /// The public items of the crate itself.
    own: BTreeMap<Id, String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(krate: &'a Crate, own: BTreeMap<Id, String>) -> Self {
        Self { krate, own }
    }

    /// A function from its generics on; `outer` are those of the impl that it is in.
    pub(super) fn function(&self, function: &Function, outer: Option<&Generics>) -> String {
        let params = self.params(&function.generics.params);
        let inputs: Vec<_> =
            function.sig.inputs.iter().map(|(name, type_)| self.argument(name, type_)).collect();
        let output = self.output(function.sig.output.as_ref());
        let outer = outer.into_iter().flat_map(|outer| self.conditions(outer));
        let conditions = outer.chain(self.predicates(&function.generics));
        format!("{params}({}){output}{}", inputs.join(", "), joined(" where ", conditions, ", ", ""))
    }

    /// The generics of an item around `rest`: their parameters before it, and their conditions after it.
    pub(super) fn declaration(&self, generics: &Generics, rest: &str) -> String {
        let predicates = self.predicates(generics).into_iter();
        format!("{}{rest}{}", self.params(&generics.params), joined(" where ", predicates, ", ", ""))
    }

    pub(super) fn bounds(&self, before: &str, bounds: &[GenericBound]) -> String {
        joined(before, bounds.iter().map(|bound| self.bound(bound)), " + ", "")
    }

    pub(super) fn type_(&self, type_: &Type) -> String {
        match type_ {
            Type::ResolvedPath(path) => self.path(path),
            Type::DynTrait(dyn_) => {
                let traits = dyn_.traits.iter();
                let traits = traits.map(|one| self.ranked(&one.generic_params) + &self.path(&one.trait_));
                joined("dyn ", traits.chain(dyn_.lifetime.clone()), " + ", "")
            }
            Type::Generic(name) | Type::Primitive(name) => name.clone(),
            Type::FunctionPointer(pointer) => {
                let inputs: Vec<_> = pointer.sig.inputs.iter().map(|(_, type_)| self.type_(type_)).collect();
                let ranked = self.ranked(&pointer.generic_params);
                format!("{ranked}fn({}){}", inputs.join(", "), self.output(pointer.sig.output.as_ref()))
            }
            Type::Tuple(types) => match types.as_slice() {
                [one] => format!("({},)", self.type_(one)),
                types => format!("({})", joined("", types.iter().map(|type_| self.type_(type_)), ", ", "")),
            },
            Type::Slice(type_) => format!("[{}]", self.type_(type_)),
            Type::Array { type_, len } => format!("[{}; {len}]", self.type_(type_)),
            Type::Pat { type_, .. } => self.type_(type_),
            Type::ImplTrait(bounds) => self.bounds("impl ", bounds),
            Type::Infer => "_".to_owned(),
            Type::RawPointer { is_mutable, type_ } => {
                format!("*{} {}", if *is_mutable { "mut" } else { "const" }, self.type_(type_))
            }
            Type::BorrowedRef { lifetime, is_mutable, type_ } => {
                format!("{}{}", reference(lifetime.as_deref(), *is_mutable), self.type_(type_))
            }
            Type::QualifiedPath { name, args, self_type, trait_ } => {
                let self_type = self.type_(self_type);
                let owner = match trait_ {
                    // For a type parameter the short form is clear.
                    Some(trait_) if !self_type.chars().all(char::is_alphanumeric) => {
                        format!("<{self_type} as {}>", self.path(trait_))
                    }
                    _ => self_type,
                };
                format!("{owner}::{name}{}", self.args(args.as_deref()))
            }
        }
    }

    /// The name of an item and the arguments of its generics.
    pub(super) fn path(&self, path: &Path) -> String {
        self.name(path) + &self.args(path.args.as_deref())
    }

    fn name(&self, path: &Path) -> String {
        if let Some(own) = self.own.get(&path.id) {
            return own.clone();
        }
        let Some(summary) = self.krate.paths.get(&path.id) else { return path.path.clone() };
        let names: Vec<_> = summary.path.iter().map(String::as_str).collect();
        match names.as_slice() {
            ["std" | "core" | "alloc", module @ ("fmt" | "io"), .., last] => format!("{module}::{last}"),
            ["std" | "core" | "alloc", .., last] => (*last).to_owned(),
            // `serde` exports all that it has from there.
            ["serde_core", .., last] => format!("serde::{last}"),
            [krate, .., last] => format!("{krate}::{last}"),
            _ => path.path.clone(),
        }
    }

    fn args(&self, args: Option<&GenericArgs>) -> String {
        match args {
            None => String::new(),
            Some(GenericArgs::AngleBracketed { args, constraints }) => {
                let args = args.iter().map(|arg| match arg {
                    GenericArg::Lifetime(name) => name.clone(),
                    GenericArg::Type(type_) => self.type_(type_),
                    GenericArg::Const(value) => value.expr.clone(),
                    GenericArg::Infer => "_".to_owned(),
                });
                joined("<", args.chain(constraints.iter().map(|one| self.constraint(one))), ", ", ">")
            }
            Some(GenericArgs::Parenthesized { inputs, output }) => {
                let inputs: Vec<_> = inputs.iter().map(|type_| self.type_(type_)).collect();
                format!("({}){}", inputs.join(", "), self.output(output.as_ref()))
            }
            Some(GenericArgs::ReturnTypeNotation) => "(..)".to_owned(),
        }
    }

    /// What is asked of an associated type: `Item = u8`.
    fn constraint(&self, constraint: &AssocItemConstraint) -> String {
        let name = format!("{}{}", constraint.name, self.args(constraint.args.as_deref()));
        match &constraint.binding {
            AssocItemConstraintKind::Equality(term) => format!("{name} = {}", self.term(term)),
            AssocItemConstraintKind::Constraint(bounds) => name + &self.bounds(": ", bounds),
        }
    }

    fn term(&self, term: &Term) -> String {
        match term {
            Term::Type(type_) => self.type_(type_),
            Term::Constant(value) => value.expr.clone(),
        }
    }

    fn argument(&self, name: &str, type_: &Type) -> String {
        let is_self = |type_: &Type| matches!(type_, Type::Generic(name) if name == "Self");
        match type_ {
            _ if name != "self" => format!("{name}: {}", self.type_(type_)),
            type_ if is_self(type_) => name.to_owned(),
            Type::BorrowedRef { lifetime, is_mutable, type_ } if is_self(type_) => {
                reference(lifetime.as_deref(), *is_mutable) + name
            }
            type_ => format!("{name}: {}", self.type_(type_)),
        }
    }

    fn output(&self, output: Option<&Type>) -> String {
        output.map_or(String::new(), |type_| format!(" -> {}", self.type_(type_)))
    }

    /// The parameters in `<…>`, with the bounds that are written there.
    fn params(&self, params: &[GenericParamDef]) -> String {
        let shown = params.iter().filter_map(|param| match &param.kind {
            GenericParamDefKind::Lifetime { outlives } => Some(outliving(&param.name, outlives)),
            // Those of `impl Trait` in an argument are shown there.
            GenericParamDefKind::Type { is_synthetic: true, .. } => None,
            GenericParamDefKind::Type { bounds, default, .. } => {
                let default =
                    default.as_ref().map_or(String::new(), |type_| format!(" = {}", self.type_(type_)));
                Some(format!("{}{}{default}", param.name, self.bounds(": ", bounds)))
            }
            GenericParamDefKind::Const { type_, .. } => {
                Some(format!("const {}: {}", param.name, self.type_(type_)))
            }
        });
        joined("<", shown, ", ", ">")
    }

    /// The bounds of the parameters, whether they are written inline or after `where`.
    fn conditions(&self, generics: &Generics) -> Vec<String> {
        let bounded = generics.params.iter().filter_map(|param| match &param.kind {
            GenericParamDefKind::Type { bounds, .. } if !bounds.is_empty() => {
                Some(param.name.clone() + &self.bounds(": ", bounds))
            }
            _ => None,
        });
        bounded.chain(self.predicates(generics)).collect()
    }

    fn predicates(&self, generics: &Generics) -> Vec<String> {
        let predicates = generics.where_predicates.iter().map(|predicate| match predicate {
            WherePredicate::BoundPredicate { type_, bounds, generic_params } => {
                format!("{}{}{}", self.ranked(generic_params), self.type_(type_), self.bounds(": ", bounds))
            }
            WherePredicate::LifetimePredicate { lifetime, outlives } => outliving(lifetime, outlives),
            WherePredicate::EqPredicate { lhs, rhs } => format!("{} = {}", self.type_(lhs), self.term(rhs)),
        });
        predicates.collect()
    }

    fn bound(&self, bound: &GenericBound) -> String {
        match bound {
            GenericBound::TraitBound { trait_, generic_params, modifier } => {
                let modifier = match modifier {
                    TraitBoundModifier::None => "",
                    TraitBoundModifier::Maybe => "?",
                    TraitBoundModifier::MaybeConst => "[const] ",
                };
                format!("{}{modifier}{}", self.ranked(generic_params), self.path(trait_))
            }
            GenericBound::Outlives(lifetime) => lifetime.clone(),
            GenericBound::Use(captured) => {
                let captured = captured.iter().map(|one| match one {
                    PreciseCapturingArg::Lifetime(name) | PreciseCapturingArg::Param(name) => name.clone(),
                });
                format!("use<{}>", captured.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn ranked(&self, params: &[GenericParamDef]) -> String {
        if params.is_empty() { String::new() } else { format!("for{} ", self.params(params)) }
    }
}

fn reference(lifetime: Option<&str>, is_mutable: bool) -> String {
    let lifetime = lifetime.map_or(String::new(), |lifetime| format!("{lifetime} "));
    format!("&{lifetime}{}", if is_mutable { "mut " } else { "" })
}

fn outliving(lifetime: &str, outlives: &[String]) -> String {
    lifetime.to_owned() + &joined(": ", outlives.iter().cloned(), " + ", "")
}

/// The parts with `before` and `after` around them, or an empty string if there are no parts.
fn joined(before: &str, parts: impl Iterator<Item = String>, between: &str, after: &str) -> String {
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { String::new() } else { format!("{before}{}{after}", parts.join(between)) }
}
