//! The laws of a table of bodies, as the compiled loops want them.

use super::constants::Constants;
use crate::law::Law;
use std::mem::MaybeUninit;

/// The laws between the kinds of grain and the bodies they touch.
#[derive(Clone, Debug)]
pub(super) struct Laws {
    /// Second bodies.
    columns: usize,
    /// Law of each kind and body, row by row.
    index: Vec<u8>,
    /// Constants of each law.
    pub constants: Vec<Constants>,
    pub form: Form,
    /// Some law has a tangential dashpot.
    pub viscous: bool,
}

/// What the compiled loop must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Linear springs with a given dashpot: no root at all.
    Linear,
    /// Linear springs with a dashpot from the restitution.
    LinearRestitution,
    /// Hertz with any dashpot.
    Hertz,
}

impl Laws {
    /// Row after row of `columns` laws each, unless some need the general loop.
    pub fn new<'a>(columns: usize, table: impl Iterator<Item = &'a Law>) -> Option<Self> {
        let mut laws: Vec<Constants> = Vec::new();
        let (mut index, mut hertz) = (Vec::new(), 0);
        for law in table {
            let (constants, is_hertz) = Constants::of(law)?;
            hertz += usize::from(is_hertz);
            let known = laws.iter().position(|law| *law == constants);
            index.push(u8::try_from(known.unwrap_or(laws.len())).ok()?);
            if known.is_none() {
                laws.push(constants);
            }
        }
        let form = match hertz {
            0 if laws.iter().all(|law| law.dashpot[2][0] == 0.0) => Form::Linear,
            0 => Form::LinearRestitution,
            all if all == index.len() => Form::Hertz,
            _ => return None,
        };
        let viscous = laws.iter().any(|law| law.tangential_dashpot.iter().any(|c| c[0] != 0.0));
        Some(Self { columns, index, constants: laws, form, viscous })
    }

    /// Which law a kind of grain has with a second body.
    #[inline(always)]
    pub fn which(&self, kind: u16, other: usize) -> u8 {
        self.index[kind as usize * self.columns + other]
    }

    /// Constants of the laws of an octet.
    #[inline(always)]
    pub fn of<'a>(&'a self, which: &[u8; 8], mixture: &'a mut MaybeUninit<Constants>) -> &'a Constants {
        match self.constants.as_slice() {
            [law] => law,
            laws if *which == [which[0]; 8] => &laws[which[0] as usize],
            laws => mixture.write(Constants::mixed(laws, which)),
        }
    }
}

/// Calls a generic function for a form of laws: the constants Hertz, root, viscous and ledger after the given types.
macro_rules! for_form {
    ($laws:expr, $ledger:expr, $self:ident.$f:ident::<$L:ty>($($argument:expr),*)) => {
        match ($laws.form, $laws.viscous, $ledger) {
            (Form::Linear, false, false) => $self.$f::<$L, false, false, false, false>($($argument),*),
            (Form::Linear, false, true) => $self.$f::<$L, false, false, false, true>($($argument),*),
            (Form::Linear, true, false) => $self.$f::<$L, false, false, true, false>($($argument),*),
            (Form::Linear, true, true) => $self.$f::<$L, false, false, true, true>($($argument),*),
            (Form::LinearRestitution, false, false) => $self.$f::<$L, false, true, false, false>($($argument),*),
            (Form::LinearRestitution, false, true) => $self.$f::<$L, false, true, false, true>($($argument),*),
            (Form::LinearRestitution, true, false) => $self.$f::<$L, false, true, true, false>($($argument),*),
            (Form::LinearRestitution, true, true) => $self.$f::<$L, false, true, true, true>($($argument),*),
            (Form::Hertz, false, false) => $self.$f::<$L, true, true, false, false>($($argument),*),
            (Form::Hertz, false, true) => $self.$f::<$L, true, true, false, true>($($argument),*),
            (Form::Hertz, true, false) => $self.$f::<$L, true, true, true, false>($($argument),*),
            (Form::Hertz, true, true) => $self.$f::<$L, true, true, true, true>($($argument),*),
        }
    };
}
pub(super) use for_form;
