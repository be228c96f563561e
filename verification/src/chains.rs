//! A pulse in a chain of discs under different normal laws.

use crate::bench::simulation;
use crate::bulk;
use crate::{Case, Effort, Evidence, Findings};

pub const CASES: &[Case] = &[Case {
    id: "D-15",
    source: "Sadd, Tai & Shukla, Int. J. Non-Linear Mech. 28, 251 (1993), as told by Džiugys & Peters (1998)",
    title: "pulse in a chain of discs: spread by the law, speed by the amplitude",
    evidence: Evidence::Trend,
    effort: Effort::Quick,
    run: chain,
}];

/// Discs in the chain, and the two between which the speed is taken.
const DISCS: usize = 60;
const POSTS: [usize; 2] = [20, 40];

/// A pulse as it passed.
struct Pulse {
    /// Discs per second.
    speed: f64,
    /// Width at half its height when it passes disc 20, in discs.
    width: f64,
    /// Peak velocity at disc 40 over that at disc 20.
    kept: f64,
    /// Velocity of disc 20 over its peak, against time \[s\].
    shape: Vec<[f64; 2]>,
}

/// Sends a pulse through discs of one metre and one kilogram that just touch.
fn pulse(law: &str, velocity: f64) -> Pulse {
    let places: Vec<String> = (1..DISCS).map(|k| format!("[{k}, 0]")).collect();
    let mut simulation = simulation(
        &format!(
            "planar = true\n[material.m]\ndensity = \"{} kg/m^2\"\n[contact.default]\nnormal = {{ {law} }}\n\
             [[grains]]\nname = \"first\"\nmaterial = \"m\"\nradius = 0.5\nvelocity = [{velocity}, 0]\n\
             fill = {{ method = \"at\", positions = [[0, 0]] }}\n\
             [[grains]]\nname = \"chain\"\nmaterial = \"m\"\nradius = 0.5\nfill = {{ method = \"at\", positions = [{}] }}\n\
             [solver]\nstep = 2e-5\n",
            4.0 / std::f64::consts::PI,
            places.join(", ")
        ),
        1,
    );
    let index: Vec<usize> = POSTS
        .iter()
        .map(|&post| {
            let p = &simulation.state.particles;
            (0..p.owned()).find(|&i| (p.position(i).x - post as f64).abs() < 0.1).expect("a disc of our own")
        })
        .collect();
    let id: Vec<u64> = index.iter().map(|&i| simulation.state.particles.id[i]).collect();
    let mut history: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
    let mut peaks = [[0.0; 2]; 2];
    // Until the second post is well behind its peak.
    while simulation.state.time < 20.0 && (peaks[1][1] == 0.0 || simulation.state.time < 1.2 * peaks[1][0]) {
        simulation.advance(20).expect("the run goes on");
        let (p, t) = (&simulation.state.particles, simulation.state.time);
        for (k, id) in id.iter().enumerate() {
            let i = p.id.iter().position(|other| other == id).expect("no disc is lost");
            let v = p.velocity(i).x;
            history[k].push([t, v]);
            if v > peaks[k][1] {
                peaks[k] = [t, v];
            }
        }
    }
    let half = |series: &[[f64; 2]], peak: f64| {
        let above: Vec<f64> = series.iter().filter(|s| s[1] > 0.5 * peak).map(|s| s[0]).collect();
        above[above.len() - 1] - above[0]
    };
    let speed = (POSTS[1] - POSTS[0]) as f64 / (peaks[1][0] - peaks[0][0]);
    Pulse {
        speed,
        width: half(&history[0], peaks[0][1]) * speed,
        kept: peaks[1][1] / peaks[0][1],
        shape: history[0].iter().map(|s| [(s[0] - peaks[0][0]) * speed, s[1] / peaks[0][1]]).collect(),
    }
}

fn chain() -> Findings {
    let mut found = Findings::default();
    // All three lose the same in an impact of two discs: a restitution of 0.8.
    let linear = pulse("law = \"hooke\", stiffness = 1e4, restitution = 0.8", 1.0);
    let damped = pulse("law = \"power\", coefficient = 1e5, exponent = 1.4, restitution = 0.8", 1.0);
    let hysteretic = pulse("law = \"sadd\", coefficient = 1e5, exponent = 1.4, restitution = 0.8", 1.0);
    found.at_least(
        "width after 20 discs, linear with dashpot over non-linear with dashpot",
        linear.width / damped.width,
        1.05,
    );
    found.at_least(
        "width after 20 discs, non-linear with dashpot over hysteretic",
        damped.width / hysteretic.width,
        1.05,
    );
    // Without loss: by dimensions the speed goes with the velocity to the power (n - 1)/(n + 1), n the exponent of the law.
    for (name, law, n) in [
        ("linear", "law = \"hooke\", stiffness = 1e4", 1.0),
        ("exponent 1.4", "law = \"power\", coefficient = 1e5, exponent = 1.4", 1.4),
    ] {
        let (slow, fast) = (pulse(law, 0.5), pulse(law, 2.0));
        let power = (fast.speed / slow.speed).ln() / 4f64.ln();
        found.absolute(
            format!("{name}, no loss: exponent of the speed against the velocity"),
            power,
            (n - 1.0) / (n + 1.0),
            2e-3,
        );
    }
    let steady = pulse("law = \"power\", coefficient = 1e5, exponent = 1.4", 1.0);
    found.relative("exponent 1.4, no loss: peak after 40 discs over that after 20", steady.kept, 1.0, 0.01);
    found.charts.push(bulk::chart(
        "Velocity of disc 20 as the pulse passes",
        "place relative to the peak [discs]",
        "velocity over its peak",
        vec![
            ("linear, dashpot".into(), linear.shape),
            ("exponent 1.4, dashpot".into(), damped.shape),
            ("exponent 1.4, hysteresis".into(), hysteretic.shape),
            ("exponent 1.4, no loss".into(), steady.shape),
        ],
    ));
    found.reading = "stiffness, discs and pulse are our own, none are reported; the chain is not pressed together before, so a law \
                     with an exponent above one carries a solitary wave";
    found
}
