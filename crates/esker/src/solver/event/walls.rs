//! The force on walls: impulses, averaged over windows of time that depend on the clock alone.

use crate::math::Vec3;
use crate::state::State;

/// Adds the impulse of a grain on a wall at a point, at the local time `t`.
pub(super) fn feel(state: &mut State, window: f64, wall: usize, t: f64, impulse: Vec3, point: Vec3) {
    roll(state, window, state.meetings.clock + t);
    let felt = &mut state.meetings.window.impulse;
    felt.resize(state.walls.len(), Default::default());
    felt[wall][0] += impulse;
    felt[wall][1] += point.cross(impulse);
}

/// Goes on to the window of a time: the force of the last whole window is that of the walls.
pub(super) fn roll(state: &mut State, window: f64, time: f64) {
    let number = (time / window) as u64;
    let present = &mut state.meetings.window;
    if number <= present.number {
        return;
    }
    // Windows in between were empty.
    let whole = number == present.number + 1;
    for (w, wall) in state.walls.iter_mut().enumerate() {
        let [force, torque] = match present.impulse.get(w) {
            Some(felt) if whole => felt.map(|sum| sum / window),
            _ => [Vec3::ZERO; 2],
        };
        (wall.force, wall.torque) = (force, torque);
    }
    present.number = number;
    present.impulse.clear();
}
