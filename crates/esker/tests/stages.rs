//! What a new stage switches: walls that jump, feeds that wake.

use crate::common;

use common::*;
use esker::boundary::{Motion, MotionPart};
use esker::fill::SizeLaw;
use esker::fill::feed::{Arrivals, Feed, Rate};
use esker::law::damping::{AnyDamping, PerMass};
use esker::math::{Aabb, Vec3};
use esker::measure::energy;
use esker::model::Model;
use esker::region::Region;
use esker::simulation::{End, Simulation, Stage};
use esker::state::State;

const G: f64 = 9.81;

fn stages(models: Vec<Model>, duration: f64) -> Vec<Stage> {
    let end = End { duration: Some(duration), ..End::default() };
    models.into_iter().map(|model| Stage { name: "part".into(), model, end: end.clone() }).collect()
}

fn finish(simulation: &mut Simulation) {
    while !simulation.is_finished() {
        simulation.advance(1000).unwrap();
    }
}

#[test]
fn a_floor_that_jumps_away_in_a_new_stage_lets_its_grain_fall_and_the_account_closes() {
    let (r, k, drop) = (0.1, 1e4, 0.05);
    let mut law = hooke(k);
    law.damping = AnyDamping::PerMass(PerMass { rate: 20.0 });
    let mut still = model(law, 1000.0, 1e-5);
    still.fields.push(gravity(Vec3::Z * -G));
    still.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
    let m = still.kinds[0].mass(r);
    let squeezed = m * G / k;
    // The jump falls into the first step of the stage, or into the middle of it.
    for at in [0.0, 0.02] {
        let mut jumping = still.clone();
        jumping.walls[0].motion = Motion { parts: vec![MotionPart::Jump { at, by: Vec3::Z * -drop }] };
        let mut state = State::new(&still);
        add(&still, &mut state, 0, Vec3::Z * (r - squeezed), r, Vec3::ZERO, Vec3::ZERO);
        let models = vec![still.clone(), jumping.clone(), jumping];
        let mut simulation = Simulation::new(stages(models, 0.2), state, 1);
        simulation.prepare().unwrap();
        let weight = m * G;
        while simulation.state.stage == 0 {
            simulation.advance(100).unwrap();
        }
        simulation.advance(4000).unwrap();
        let falling = simulation.state.time - (0.2 + at);
        close(simulation.state.particles.velocity(0).z, -G * falling, 2e-3, "free fall since the jump");
        finish(&mut simulation);
        // It has landed: 0.05 m deeper, and not once more in the stage that keeps the same motion.
        let b = energy::balance(&simulation.stages()[2].model, &simulation.state);
        close(b.switched, -0.5 * k * squeezed * squeezed, 1e-3, "elastic energy the floor took along");
        assert!(b.wall_work[0].1.abs() < 1e-9 * weight * drop, "a jump does no work: {} J", b.wall_work[0].1);
        assert!(simulation.state.walls[0].force.z < 0.0, "it stands on the floor again");
        let height = simulation.state.particles.position(0).z;
        assert!((height - (r - drop)).abs() < 0.1 * drop + squeezed, "{height}");
        assert!(b.residual().abs() < 1e-4 * weight * drop, "residual {:e} of {:e} J", b.residual(), weight * drop);
    }
}

#[test]
fn a_feed_that_sleeps_through_a_stage_wakes_in_the_next_and_makes_up_for_nothing() {
    let mut fed = model(hooke(1e4), 1000.0, 1e-4);
    fed.fields.push(gravity(Vec3::Z * -G));
    let feed = Feed {
        region: Region::Box(Aabb { min: Vec3::new(-0.5, -0.5, 0.0), max: Vec3::new(0.5, 0.5, 0.1) }),
        size: SizeLaw::Single { radius: 0.01 },
        rate: Rate::Number(100.0),
        arrivals: Arrivals::Steady,
        start: 0.0,
        stop: None,
        max_count: None,
        tries: 50,
        delay: None,
        patience: 1000,
        velocity: Vec3::Z * -2.0,
        spin: Vec3::ZERO,
        kind: 0,
    };
    fed.feeds.push((feed.prepare(false).unwrap(), true));
    let mut asleep = fed.clone();
    asleep.feeds[0].1 = false;
    let models = vec![asleep.clone(), fed.clone(), asleep, fed];
    let state = State::new(&models[0]);
    let mut simulation = Simulation::new(stages(models, 0.5), state, 1);
    let mut created = Vec::new();
    for stage in 0..4 {
        while simulation.state.stage == stage {
            simulation.advance(1000).unwrap();
        }
        created.push(simulation.state.feeds[0].created);
    }
    assert_eq!(created[0], 0, "asleep");
    assert!((50..=51).contains(&created[1]), "100 per second for half a second: {created:?}");
    assert_eq!(created[2], created[1], "asleep again");
    assert!((50..=51).contains(&(created[3] - created[2])), "the pause is not made up for: {created:?}");
}
