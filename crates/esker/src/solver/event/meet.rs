//! What happens when bodies meet.

use super::fly;
use super::predict::TOUCHING;
use super::scratch::Scratch;
use super::walls;
use crate::boundary::WallTouch;
use crate::law::collision::{Collision, Encounter, Impulse};
use crate::math::Vec3;
use crate::measure::tally::Hit;
use crate::model::{Collapse, EventSettings, Model};
use crate::particles::Particles;
use crate::state::{Meetings, State};

/// A grain as a collision sees it.
struct Body {
    velocity: Vec3,
    spin: Vec3,
    inverse_mass: f64,
    /// 1/I about an axis in the tangent plane.
    inverse_inertia: f64,
    radius: f64,
}

impl Body {
    /// Of grain `i`; where a law has no tangential impulses its spin and inertia do not matter and are not looked for.
    #[inline]
    fn of(p: &Particles, planar: bool, i: usize, velocity: Vec3, inverse_mass: f64, law: &Collision) -> Self {
        let smooth =
            Self { velocity, spin: Vec3::ZERO, inverse_mass, inverse_inertia: 0.0, radius: p.flight[i].radius };
        if !law.turns() {
            return smooth;
        }
        let inertia = if planar { p.inertia[i].z } else { p.inertia[i].x };
        let inverse_inertia = if inverse_mass > 0.0 { 1.0 / inertia } else { 0.0 };
        Self { spin: p.motion[i].angular_velocity, inverse_inertia, ..smooth }
    }

    /// 1/m + r²/I.
    fn tangential(&self) -> f64 {
        self.inverse_mass + self.radius * self.radius * self.inverse_inertia
    }

    /// Velocity of its surface in a direction \[m/s\].
    fn surface(&self, direction: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(self.radius * direction)
    }

    /// Velocity and spin after an impulse at the surface in a direction.
    fn pushed(&self, impulse: Vec3, direction: Vec3) -> (Vec3, Vec3) {
        let lever = (self.radius * direction).cross(impulse);
        (self.velocity + self.inverse_mass * impulse, self.spin + self.inverse_inertia * lever)
    }
}

impl Scratch {
    /// The impulse of two bodies, by the law or, where collisions would never end, by what is done against that.
    fn exchange(
        &self,
        state: &mut State,
        settings: &EventSettings,
        law: &Collision,
        encounter: &Encounter,
        since_last: f64,
    ) -> Impulse {
        let Meetings { cures, watch, .. } = &mut state.meetings;
        watch[0] += 1;
        let v = encounter.approach;
        let elastic = match settings.collapse {
            Collapse::Refuse => false,
            Collapse::Speed(least) | Collapse::HandOver(least) => {
                let slow = v < least;
                watch[1] += u64::from(slow);
                cures.slow += u64::from(slow);
                slow
            }
            Collapse::Time { contact, .. } => {
                let soon = since_last < contact;
                cures.soon += u64::from(soon);
                soon
            }
        };
        let impulse = if elastic { law.elastic(encounter) } else { law.impulse(encounter) };
        let least = settings.collapse.least();
        if impulse.restitution * v >= least {
            return impulse;
        }
        cures.lifted += 1;
        law.parting_with(least, encounter)
    }

    /// Two grains meet.
    pub fn meet_grain(&mut self, model: &Model, state: &mut State, settings: &EventSettings, pair: [u32; 2], t: f64) {
        // Always the elder first, so that the order in memory changes no bit.
        let mut pair = pair;
        if state.particles.id[pair[0] as usize] > state.particles.id[pair[1] as usize] {
            pair.swap(0, 1);
        }
        let p = &state.particles;
        let [i, j] = pair.map(|k| k as usize);
        let ((xi, vi), (xj, vj)) = (fly::at(p, &self.pull, i, t), fly::at(p, &self.pull, j, t));
        let (ki, kj) = (p.kind[i], p.kind[j]);
        let law = model.collisions.law(model.material_of(ki), model.material_of(kj));
        let body = |k: usize, v: Vec3| Body::of(p, model.planar, k, v, self.lightness[k], law);
        let (a, b) = (body(i, vi), body(j, vj));
        let apart = model.cell.nearest(xj - xi);
        let distance = apart.length();
        let normal = apart / distance;
        let overlap = (a.radius + b.radius - distance) / a.radius.min(b.radius);
        let relative = a.surface(normal) - b.surface(-normal);
        let approach = relative.dot(normal);
        let encounter = Encounter {
            approach: approach.max(0.0),
            slip: relative - approach * normal,
            effective_mass: 1.0 / (a.inverse_mass + b.inverse_mass),
            effective_radius: 1.0 / (1.0 / a.radius + 1.0 / b.radius),
            tangential_mass: 1.0 / (a.tangential() + b.tangential()),
        };
        let since_last = t - p.met[i].max(p.met[j]);
        fly::halve(state, &pair, since_last);
        let impulse = self.exchange(state, settings, law, &encounter, since_last);
        let on_i = impulse.tangential - impulse.normal * normal;
        for (k, body, push, direction) in [(i, &a, on_i, normal), (j, &b, -on_i, -normal)] {
            if body.inverse_mass > 0.0 {
                let (v, spin) = body.pushed(push, direction);
                fly::restart(model, state, &self.pull, k, t, v);
                if law.turns() {
                    state.particles.motion[k].angular_velocity = spin;
                }
            }
            state.particles.met[k] = t;
        }
        self.book(state, &impulse);
        state.meetings.overlap = state.meetings.overlap.max(overlap);
        let hit = Hit::new(&encounter, &impulse, 0.0);
        if let Some(tally) = state.meetings.tallies.last_mut() {
            tally.add_pair(ki, kj, &hit);
        }
        for k in pair {
            self.has_met(k);
        }
        for k in pair {
            self.predict(model, state, k);
        }
    }

    /// A grain meets a wall.
    pub fn meet_wall(&mut self, model: &Model, state: &mut State, settings: &EventSettings, i: u32, w: u16, t: f64) {
        let (k, wall) = (i as usize, &model.walls[usize::from(w)]);
        let p = &state.particles;
        let (x, v) = fly::at(p, &self.pull, k, t);
        let kind = p.kind[k];
        let law = model.collisions.law(model.material_of(kind), wall.material);
        let body = Body::of(p, model.planar, k, v, self.lightness[k], law);
        let pose = self.carriers[usize::from(w)].pose(t);
        let twist = state.wall_twist(model, usize::from(w), state.meetings.clock + t);
        let mut touches: Vec<WallTouch> = Vec::new();
        wall.surface.touches(pose.to_local(x), body.radius * (1.0 + 2.0 * TOUCHING), &mut touches);
        // In a corner the face that it runs into fastest comes first, the others in their turn.
        let approach = |touch: &WallTouch| {
            let normal = pose.orientation * touch.normal;
            (v - twist.at(pose.to_world(touch.point))).dot(normal)
        };
        let Some(touch) = touches.iter().max_by(|a, b| approach(a).total_cmp(&approach(b))) else {
            // It was there when the time was found; rounding has it a hair away now.
            return self.predict(model, state, i);
        };
        let normal = pose.orientation * touch.normal;
        let point = x + body.radius * normal;
        let wall_velocity = twist.at(point);
        let relative = body.surface(normal) - wall_velocity;
        let approach = relative.dot(normal);
        let curvature = 1.0 / body.radius + 0.5 * (touch.curvature[0] + touch.curvature[1]);
        let encounter = Encounter {
            approach: approach.max(0.0),
            slip: relative - approach * normal,
            effective_mass: 1.0 / body.inverse_mass,
            effective_radius: 1.0 / curvature,
            tangential_mass: 1.0 / body.tangential(),
        };
        let since_last = t - p.met[k];
        fly::halve(state, &[i], since_last);
        let impulse = self.exchange(state, settings, law, &encounter, since_last);
        let push = impulse.tangential - impulse.normal * normal;
        let (velocity, spin) = body.pushed(push, normal);
        fly::restart(model, state, &self.pull, k, t, velocity);
        if law.turns() {
            state.particles.motion[k].angular_velocity = spin;
        }
        state.particles.met[k] = t;
        self.book(state, &impulse);
        let work = push.dot(wall_velocity);
        state.walls[usize::from(w)].work += work;
        walls::feel(state, settings.window, usize::from(w), t, -push, point);
        let hit = Hit::new(&encounter, &impulse, work);
        if let Some(tally) = state.meetings.tallies.last_mut() {
            tally.add_wall(kind, w, &hit);
        }
        self.has_met(i);
        self.predict(model, state, i);
    }

    fn book(&mut self, state: &mut State, impulse: &Impulse) {
        state.ledger.dissipated += impulse.lost;
        state.meetings.since_set += 1;
    }
}
