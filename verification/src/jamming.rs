//! Jamming of frictionless grains: where it sets in, how many contacts it takes, how the pressure grows above.

use crate::bench::simulation;
use crate::bulk;
use crate::{Case, Effort, Evidence, Findings};
use esker::contact::visit;
use esker::math::Vec3;
use esker::measure::fabric::Backbone;
use esker::simulation::Simulation;
use std::f64::consts::PI;

pub const CASES: &[Case] = &[Case {
    id: "V28",
    source: "O'Hern, Silbert, Liu & Nagel, Phys. Rev. E 68, 011306 (2003)",
    title: "jamming of 1000 frictionless spheres and 1000 discs of two sizes: packing, contacts, exponents of the pressure",
    evidence: Evidence::OtherCode,
    effort: Effort::Long,
    run: jamming,
}];

/// Grains whose sizes keep their ratio while all of them grow or shrink in a periodic box.
struct Packing {
    planar: bool,
    /// Side of the box, in diameters of the small grains near jamming.
    side: f64,
    law: &'static str,
    /// Places of each kind, with its size over that of the first.
    kinds: Vec<(f64, Vec<Vec3>)>,
}

/// Mean force on a grain over that of a contact below which a packing is at rest.
const BALANCED: f64 = 1e-6;

/// A packing at rest.
#[derive(Clone, Copy)]
struct Point {
    packing: f64,
    pressure: f64,
    contacts: f64,
    imbalance: f64,
}

impl Packing {
    /// Grains at random places, far from touching.
    fn random(planar: bool, law: &'static str, seed: u64) -> Self {
        let kinds: Vec<(f64, usize)> = if planar { vec![(1.0, 500), (1.4, 500)] } else { vec![(1.0, 1000)] };
        let dimension = if planar { 2 } else { 3 };
        let unit = if planar { 0.25 * PI } else { PI / 6.0 };
        let solid: f64 = kinds.iter().map(|(size, n)| *n as f64 * unit * size.powi(dimension)).sum();
        let side = (solid / if planar { 0.84 } else { 0.64 }).powf(1.0 / f64::from(dimension));
        let (zero, max) = if planar {
            ("[0, 0]".into(), format!("[{side}, {side}]"))
        } else {
            ("[0, 0, 0]".to_string(), format!("[{side}, {side}, {side}]"))
        };
        let groups: Vec<String> = kinds
            .iter()
            .enumerate()
            .map(|(k, (size, n))| {
                format!(
                    "[[grains]]\nname = \"k{k}\"\nmaterial = \"m\"\nradius = {}\nfill = {{ method = \"random\", count = {n}, region = {{ box = {{ min = {zero}, max = {max} }} }} }}\n",
                    0.3 * size
                )
            })
            .collect();
        let start = simulation(
            &format!(
                "planar = {planar}\nseed = {seed}\n{}\n{}",
                Self::tables(planar, &format!("min = {zero}\nmax = {max}"), law),
                groups.concat()
            ),
            1,
        );
        let p = &start.state.particles;
        let places =
            |k: usize| (0..p.owned()).filter(|&i| usize::from(p.kind[i]) == k).map(|i| p.position(i)).collect();
        let kinds = kinds.iter().enumerate().map(|(k, (size, _))| (*size, places(k))).collect();
        Self { planar, side, law, kinds }
    }

    fn tables(planar: bool, corners: &str, law: &str) -> String {
        let axes = if planar { "\"x\", \"y\"" } else { "\"x\", \"y\", \"z\"" };
        format!(
            "[domain]\n{corners}\nperiodic = [{axes}]\n[material.m]\ndensity = 1.9\n[contact.default]\nnormal = {{ {law} }}\n\
             tangential = {{ law = \"none\" }}\n[[field]]\nname = \"drag\"\ndrag = {{ coefficient = 0.02 }}\n[solver]\nstep = 0.25\n"
        )
    }

    /// Gives the grains the size of a packing and lets them come to rest.
    fn relax(&mut self, packing: f64, steps: u64) -> Point {
        let dimension = if self.planar { 2 } else { 3 };
        let unit = if self.planar { PI } else { 4.0 / 3.0 * PI };
        let sum: f64 = self.kinds.iter().map(|(size, x)| x.len() as f64 * unit * size.powi(dimension)).sum();
        let radius = (packing * self.side.powi(dimension) / sum).powf(1.0 / f64::from(dimension));
        let groups: Vec<String> = self
            .kinds
            .iter()
            .enumerate()
            .map(|(k, (size, places))| {
                let places: Vec<String> = places
                    .iter()
                    .map(|x| if self.planar { format!("[{}, {}]", x.x, x.y) } else { format!("[{}, {}, {}]", x.x, x.y, x.z) })
                    .collect();
                format!(
                    "[[grains]]\nname = \"k{k}\"\nmaterial = \"m\"\nradius = {}\nfill = {{ method = \"at\", positions = [{}] }}\n",
                    radius * size,
                    places.join(", ")
                )
            })
            .collect();
        let side = self.side;
        let corners = if self.planar {
            format!("min = [0, 0]\nmax = [{side}, {side}]")
        } else {
            format!("min = [0, 0, 0]\nmax = [{side}, {side}, {side}]")
        };
        let tables = Self::tables(self.planar, &corners, self.law);
        let mut simulation = simulation(&format!("planar = {}\n{tables}\n{}", self.planar, groups.concat()), 1);
        // Spheres that hardly touch are soft under Hertz's law and take long to come to rest.
        for _ in 0..100 {
            simulation.advance(steps).expect("the packing comes to rest");
            if imbalance(&simulation) < BALANCED {
                break;
            }
        }
        let p = &simulation.state.particles;
        for (k, (_, places)) in self.kinds.iter_mut().enumerate() {
            let wrap = |x: Vec3| simulation.model().cell.wrapped(x);
            *places = (0..p.owned()).filter(|&i| usize::from(p.kind[i]) == k).map(|i| wrap(p.position(i))).collect();
        }
        let held = bulk::in_box(
            simulation.model(),
            &simulation.state,
            [0.0, 0.0, -1.0],
            [side, side, if self.planar { 1.0 } else { side }],
        );
        let trace = held.stress.x_axis.x + held.stress.y_axis.y + if self.planar { 0.0 } else { held.stress.z_axis.z };
        let contacts = Backbone::of(simulation.model(), &simulation.state, dimension as usize + 1).coordination();
        Point { packing, pressure: trace / f64::from(dimension), contacts, imbalance: imbalance(&simulation) }
    }
}

/// Mean force on a grain over the mean force of a contact; nothing is out of balance where nothing touches.
fn imbalance(simulation: &Simulation) -> f64 {
    let mut pushes = [0.0; 2];
    visit::for_each(simulation.model(), &simulation.state, |c| {
        pushes = [pushes[0] + c.share * c.normal_force, pushes[1] + c.share];
    });
    let loads = &simulation.state.particles.load;
    let net = loads.iter().map(|load| load.force.length()).sum::<f64>() / loads.len() as f64;
    if pushes[1] > 0.0 { net / (pushes[0] / pushes[1]) } else { 0.0 }
}

/// Opens a packing from above jamming towards it, until it is near or grains change places; returns where the pressure ends,
/// and the way there.
fn open(mut packing: Packing, exponent: f64, from: f64) -> (f64, Vec<Point>) {
    let mut points = vec![packing.relax(from, 20_000), packing.relax(from - 0.003, 6000)];
    let root = |p: &Point| p.pressure.max(0.0).powf(1.0 / exponent);
    let end = |points: &[Point]| {
        let (a, b) = (&points[points.len() - 2], &points[points.len() - 1]);
        b.packing - root(b) * (a.packing - b.packing) / (root(a) - root(b))
    };
    while points.len() < 14 {
        let (jammed, last) = (end(&points), points[points.len() - 1].packing);
        if last - jammed < 3e-4 {
            break;
        }
        // Two fifths of the way: the packing stays jammed.
        let next = packing.relax(last - 0.4 * (last - jammed), 10_000);
        // Far less than three fifths: grains have changed places, and it is another packing that jams elsewhere.
        if root(&next) < 0.3 * root(&points[points.len() - 1]) {
            break;
        }
        points.push(next);
    }
    (end(&points), points)
}

fn jamming() -> Findings {
    let mut found = Findings::default();
    let (hooke, hertz) =
        ("law = \"hooke\", stiffness = 1, restitution = 0.5", "law = \"power\", coefficient = 1, exponent = 1.5");
    let mut pressures = Vec::new();
    for (name, planar, law, exponent, from, jammed, contacts) in [
        ("spheres, Hooke", false, hooke, 1.0, 0.655, 0.639, 6.0),
        ("spheres, Hertz", false, hertz, 1.5, 0.655, 0.639, 6.0),
        ("discs of two sizes, Hooke", true, hooke, 1.0, 0.855, 0.842, 4.0),
    ] {
        let (end, points) = open(Packing::random(planar, law, 1), exponent, from);
        found.absolute(format!("{name}: packing at jamming"), end, jammed, 0.003);
        let near: Vec<&Point> = points.iter().filter(|p| p.packing - end > 2e-4).collect();
        // Few points, or near each other, would fit anything.
        let (low, high) = bulk::range(&near.iter().map(|p| p.packing - end).collect::<Vec<_>>());
        found.at_least(format!("{name}: packings at rest"), near.len() as f64, 6.0);
        found.at_least(format!("{name}: farthest over nearest from jamming"), high / low, 10.0);
        let (_, worst) = bulk::range(&points.iter().map(|p| p.imbalance).collect::<Vec<_>>());
        found.at_most(format!("{name}: force out of balance over that of a contact"), worst, BALANCED);
        let roots: Vec<[f64; 2]> = near.iter().map(|p| [(p.packing - end).sqrt(), p.contacts]).collect();
        let line = bulk::line(&roots);
        found.absolute(format!("{name}: contacts of a grain that carries, at jamming"), line.offset, contacts, 0.1);
        let curve: Vec<[f64; 2]> = near.iter().map(|p| [p.packing - end, p.pressure]).collect();
        found.absolute(format!("{name}: exponent of the pressure"), bulk::exponent(&curve).slope, exponent, 0.1);
        pressures.push((name.to_string(), curve.iter().map(|c| [c[0].log10(), c[1].log10()]).collect()));
    }
    found.charts.push(bulk::chart(
        "Pressure above jamming",
        "log10 of packing above jamming",
        "log10 of pressure",
        pressures,
    ));
    found.reading = "one packing of each kind, laid at random, brought to rest 0.013 to 0.016 above jamming and opened step by step, until it is near or grains change places; the published packings are \
                     those of endlessly many grains, and one of a thousand scatters about them. Brought to rest further above it jams at a \
                     higher packing, by 0.002 from 0.68. Contacts are counted once a grain is out of balance by less than a millionth of a contact \
                     force: with a ten-thousandth, Hertzian grains had 5.7 contacts";
    found
}
