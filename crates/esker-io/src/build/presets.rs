//! Published sets of contact laws: what a `preset` of a contact stands for.
//!
//! Each set is written as a scene would write it, with the parameters that were published; what was left open is left open
//! here. Džiugys & Peters (1998), section on tangential forces, collects them; `T-…` are the numbers of `spec` 001, §8.3.

use crate::scene::choice::Preset;
use crate::scene::raw::{RawContact, RawNormal, RawTangential};
use crate::scene::{self, Location, Spanned};

/// One set.
pub struct Published {
    /// Its name.
    pub preset: Preset,
    /// Whose it is.
    pub source: &'static str,
    /// Keys of a contact table.
    pub contact: &'static str,
    /// What a scene has to give besides.
    pub open: &'static str,
}

/// Friction so high that no contact reaches the limit of Coulomb: sets without one.
macro_rules! unlimited {
    ($rest:literal) => {
        concat!("tangential = { ", $rest, ", friction = 1e9 }\n")
    };
}

/// All of them.
pub const PUBLISHED: &[Published] = &[
    Published {
        preset: Preset::DziugysPeters1998,
        source: "Džiugys & Peters 1998, eqs (146)–(151), Table 2; friction as printed",
        contact: "normal = { law = \"hooke\", modulus = \"5e5 Pa\", rate = \"100 1/s\" }\n\
                  tangential = { law = \"dashpot\", rate = \"20 1/s\", friction = 100 }\n\
                  end = \"geometric\"\n",
        open: "nothing",
    },
    Published {
        preset: Preset::WaltonBraun1986,
        source: "Walton & Braun 1986; T-02, eqs (50)–(52), (85), (86)",
        contact: "normal = { law = \"walton-braun\" }\n\
                  tangential = { law = \"walton-braun\", exponent = \"1/3\" }\n",
        open: "stiffness and restitution, unloading stiffness or growth of the normal law; friction",
    },
    Published {
        preset: Preset::LanRosato,
        source: "Lan & Rosato; T-04: `k_0 = 0.8 K_1`",
        contact: "normal = { law = \"walton-braun\", stiffness = \"1e6 N/m\" }\n\
                  tangential = { law = \"walton-braun\", stiffness = \"8e5 N/m\", exponent = \"1/3\" }\n",
        open: "restitution or unloading stiffness of the normal law; friction",
    },
    Published {
        preset: Preset::Sadd1993,
        source: "Sadd, Tai & Shukla 1993, assemblies of discs; T-03, eq. (87)",
        contact: "normal = { law = \"power\", exponent = 1.4 }\n\
                  tangential = { law = \"walton-braun\", stiffness = \"5e5 N/m\", exponent = 0.3 }\n",
        open: "coefficient of the normal law, or modulus; friction",
    },
    Published {
        preset: Preset::Sadd1993Hysteresis,
        source: "Sadd, Tai & Shukla 1993; eq. (53) with T-03",
        contact: "normal = { law = \"sadd\" }\n\
                  tangential = { law = \"walton-braun\", stiffness = \"5e5 N/m\", exponent = 0.3 }\n",
        open: "coefficient, exponent and restitution of the normal law; friction",
    },
    Published {
        preset: Preset::Chang1989,
        source: "Chang, Misra & Xue 1989; T-05, eqs (48), (49), (88) with Ψ = 1; for planar scenes",
        contact: "normal = { law = \"chang\" }\n\
                  tangential = { law = \"walton-braun\", stiffness-ratio = 1, exponent = 0.5 }\n",
        open: "modulus of the normal law; friction",
    },
    Published {
        preset: Preset::Langston1994,
        source: "Langston, Tüzün & Heyes 1994; T-09, eqs (57), (58), (96), (97)",
        contact: "normal = { law = \"langston\", exponent = 36, cutoff = 1.8 }\ntangential = { law = \"langston\" }\n",
        open: "force of grains that just touch (the weight of one); compliance and friction",
    },
    Published {
        preset: Preset::Langston1995,
        source: "Langston, Tüzün & Heyes 1995, 1995b; as before",
        contact: "normal = { law = \"langston\", exponent = 36, cutoff = 1.2 }\ntangential = { law = \"langston\" }\n",
        open: "force of grains that just touch (the weight of one); compliance and friction",
    },
    Published {
        preset: Preset::Langston1995Steep,
        source: "Langston, Tüzün & Heyes 1995, the steeper of two; as before",
        contact: "normal = { law = \"langston\", exponent = 144, cutoff = 1.2 }\ntangential = { law = \"langston\" }\n",
        open: "force of grains that just touch (the weight of one); compliance and friction",
    },
    Published {
        preset: Preset::PoschelBuchholtz1993,
        source: "Pöschel & Buchholtz 1993, Gallas & Sokolowski 1993, Kohring 1995; T-10, eqs (95), (98)",
        contact: "tangential = { law = \"dashpot\" }\n",
        open: "normal law; `rate` or `damping` of the tangential dashpot beside a normal law without one; friction",
    },
    Published {
        preset: Preset::Khakhar1997,
        source: "Khakhar et al. 1997; T-11, eqs (93), (99): a spring without a dashpot",
        contact: "normal = { law = \"walton-braun\" }\ntangential = { law = \"spring\", damping = 0 }\n",
        open: "stiffness and restitution or unloading stiffness of the normal law; friction",
    },
    Published {
        preset: Preset::CundallStrack1979,
        source: "Cundall & Strack 1979; T-12, eqs (90)–(92): spring and dashpot with a limit",
        contact: "normal = { law = \"hooke\" }\ntangential = { law = \"spring\" }\n",
        open: "stiffness or modulus of the normal law, and its loss; friction",
    },
    Published {
        preset: Preset::LeeHerrmann,
        source: "attributed to Lee & Herrmann; T-13, eq. (100): spring and dashpot without a limit",
        contact: concat!("normal = { law = \"hooke\" }\n", unlimited!("law = \"spring\"")),
        open: "stiffness or modulus of the normal law, and its loss",
    },
    Published {
        preset: Preset::Taguchi1992,
        source: "Tsuji; Taguchi 1992; T-14, eq. (101): stiffness and dashpot of the normal law, without a limit; the \
                 spring goes by the tangential displacement, where the print has the overlap",
        contact: concat!(
            "normal = { law = \"hooke\" }\n",
            unlimited!("law = \"spring\", stiffness-ratio = 1, damping-ratio = 1")
        ),
        open: "stiffness or modulus of the normal law, and its loss",
    },
    Published {
        preset: Preset::Akiyama1996,
        source: "Akiyama 1996; T-15, eqs (54)–(56), (102): a dashpot without a limit beside the 12-6 force",
        contact: concat!("normal = { law = \"twelve-six\" }\n", unlimited!("law = \"dashpot\"")),
        open: "energy of the normal law; `rate` or `damping` of the tangential dashpot",
    },
];

/// The contact table a preset stands for; what it says is told to stand at `at`.
pub(super) fn contact(preset: Preset, at: Location) -> RawContact {
    const OURS: &str = "presets are scenes";
    let published = PUBLISHED.iter().find(|p| p.preset == preset).expect(OURS);
    let text = format!("[contact.default]\n{}", published.contact);
    let raw = scene::read(&text, "preset", &[]).unwrap_or_else(|e| panic!("{OURS}: {e}"));
    let mut contact = raw.contacts.into_iter().next().expect(OURS);
    contact.normal = contact.normal.map(|n| placed_normal(n, at));
    contact.tangential = contact.tangential.map(|t| placed_tangential(t, at));
    contact.end = contact.end.map(|end| Spanned { at, ..end });
    contact
}

macro_rules! placed {
    ($name:ident, $table:ident, $($field:ident)+) => {
        fn $name(mut table: $table, at: Location) -> $table {
            (table.at, table.law.at) = (at, at);
            $(if let Some(value) = &mut table.$field {
                value.at = at;
            })+
            table
        }
    };
}

placed! { placed_normal, RawNormal,
    stiffness modulus restitution damping rate displacement dynamic_ratio coefficient exponent unloading_stiffness growth
    adhesion_stiffness yield_pressure work energy force cutoff
}
placed! { placed_tangential, RawTangential,
    stiffness stiffness_ratio friction damping rate damping_ratio exponent compliance
}

/// Takes from a published table what a given one leaves open; of keys that exclude each other only where all are open.
macro_rules! complete {
    ($given:ident, $published:ident, $([$($field:ident)+])+) => {
        $(if [$($given.$field.is_none()),+].iter().all(|open| *open) {
            $($given.$field = $published.$field.clone();)+
        })+
    };
}

/// The normal law of a set, completed by what a scene says of the same law, or replaced by another.
pub(super) fn normal(given: Option<&RawNormal>, published: Option<&RawNormal>) -> Option<RawNormal> {
    let (Some(given), Some(p)) = (given, published) else { return given.or(published).cloned() };
    let mut table = given.clone();
    if table.law.value == p.law.value {
        complete!(table, p, [stiffness modulus coefficient] [restitution damping rate unloading_stiffness]
            [displacement] [dynamic_ratio] [exponent] [growth] [adhesion_stiffness] [yield_pressure] [work] [energy]
            [force] [cutoff]);
    }
    Some(table)
}

/// The same of the tangential law.
pub(super) fn tangential(given: Option<&RawTangential>, published: Option<&RawTangential>) -> Option<RawTangential> {
    let (Some(given), Some(p)) = (given, published) else { return given.or(published).cloned() };
    let mut table = given.clone();
    if table.law.value == p.law.value {
        complete!(table, p, [stiffness stiffness_ratio] [damping rate damping_ratio] [friction] [exponent] [compliance]);
    }
    Some(table)
}
