//! What the quasi-static solver leaves in the state: how its matrix came about, so that it can be made again to the last bit, and
//! what has slid.

use super::joints::Key;
use crate::model::StaticBy;
use crate::structure::{Backend, Frame, GROUND, Link, Loose, Structure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the quasi-static solver ([`crate::solver::quasistatic`]) has done so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statics {
    /// The structure, if there is one.
    pub built: Option<Built>,
    /// What slid in each contact that is there, or was.
    pub slid: BTreeMap<Key, Slid>,
    /// What each step took.
    pub avalanches: Vec<Avalanche>,
}

/// How a structure came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// Nodes and links when the way to solve it was last made anew.
    pub frame: Frame,
    /// What has changed since.
    pub changes: Vec<Change>,
    /// Identity of the grain of each node.
    pub nodes: Vec<u64>,
    /// Number of the link of each contact.
    pub numbers: BTreeMap<Key, u32>,
    /// How it is solved.
    pub by: StaticBy,
}

/// A change of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// A node with links.
    Attach(Vec<Link>),
    /// Links.
    Connect(Vec<Link>),
    /// Links taken out.
    Disconnect(Vec<u32>),
}

impl Built {
    /// Whether all it names is there: it may come from elsewhere.
    pub fn is_sound(&self) -> bool {
        let mut nodes = self.frame.nodes as u64;
        let mut there: Vec<bool> = self.frame.links.iter().map(Option::is_some).collect();
        let mut holes: Vec<usize> = (0..there.len()).filter(|&l| !there[l]).collect();
        let fits = |link: &Link, nodes: u64| {
            let end = |end: u32| end == GROUND || u64::from(end) < nodes;
            link.ends[0] != link.ends[1] && link.ends.into_iter().all(end)
        };
        let mut sound = self.frame.links.iter().flatten().all(|link| fits(link, nodes));
        for change in &self.changes {
            match change {
                Change::Attach(links) | Change::Connect(links) => {
                    nodes += u64::from(matches!(change, Change::Attach(_)));
                    sound &= links.iter().all(|link| fits(link, nodes));
                    for _ in links {
                        match holes.pop() {
                            Some(hole) => there[hole] = true,
                            None => there.push(true),
                        }
                    }
                }
                Change::Disconnect(numbers) => {
                    for &number in numbers {
                        sound &= there.get(number as usize).copied().unwrap_or(false);
                        if sound {
                            there[number as usize] = false;
                            holes.push(number as usize);
                        }
                    }
                }
            }
            if !sound {
                return false;
            }
        }
        let known = |number: &u32| there.get(*number as usize).copied().unwrap_or(false);
        sound && nodes == self.nodes.len() as u64 && self.numbers.values().all(known)
    }

    /// The structure as it was, made again.
    pub fn replay<B: Backend>(&self, backend: B) -> Result<Structure<B>, Loose> {
        let mut structure = Structure::of(self.frame.clone(), backend)?;
        for change in &self.changes {
            match change {
                Change::Attach(links) => drop(structure.attach(links)?),
                Change::Connect(links) => drop(structure.connect(links)?),
                Change::Disconnect(numbers) => structure.disconnect(numbers)?,
            }
        }
        Ok(structure)
    }
}

/// What slid in a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slid {
    /// How often.
    pub times: u64,
    /// Work of friction \[J\].
    pub heat: f64,
    /// Tangential force before the slide times its way, as Gavrilov counts it (4.36) \[J\].
    pub literal: f64,
}

/// What it took to come to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Avalanche {
    /// Step.
    pub step: u64,
    /// Grains.
    pub grains: u64,
    /// Contacts that came.
    pub connected: u64,
    /// Contacts that went.
    pub disconnected: u64,
    /// Grains that lost their last support and were let down anew.
    pub fallen: u64,
    /// Slides, all contacts of all rounds.
    pub slides: u64,
    /// Rounds of slides.
    pub rounds: u64,
    /// Solutions of the structure.
    pub solutions: u64,
    /// Work of friction \[J\].
    pub heat: f64,
    /// The same as Gavrilov counts it \[J\].
    pub literal: f64,
    /// Energy set free besides \[J\].
    pub released: f64,
    /// Largest unbalanced force that is left \[N\].
    pub unbalanced: f64,
}
