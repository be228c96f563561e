"""What bench/compare measures is right: python3 -m unittest discover bench"""

import math
import random
import tempfile
import unittest
from pathlib import Path

import state as states
from workloads import WORKLOADS, tsuji_restitution


def random_state(n, box, seed):
    draw = random.Random(seed)
    vector = lambda size: tuple(draw.uniform(0, s) for s in size)
    return states.State(
        position=[vector(box) for _ in range(n)],
        radius=[draw.uniform(0.3, 0.5) for _ in range(n)],
        velocity=[vector((1, 1, 1)) for _ in range(n)],
        spin=[vector((1, 1, 1)) for _ in range(n)],
        force=[vector((1, 1, 1)) for _ in range(n)],
        fixed=[draw.random() < 0.2 for _ in range(n)],
    )


def all_pairs(state, periods):
    """Overlaps by looking at every pair."""
    found = []
    for i in range(len(state)):
        for j in range(i):
            d = [a - b for a, b in zip(state.position[i], state.position[j])]
            d = [x - period * round(x / period) if period else x for x, period in zip(d, periods)]
            overlap = state.radius[i] + state.radius[j] - math.hypot(*d)
            if overlap > 0 and not (state.fixed[i] and state.fixed[j]):
                found.append(overlap)
    return found


class Measures(unittest.TestCase):
    def test_cells_find_the_same_overlaps_as_looking_at_every_pair(self):
        for seed in range(10):
            state = random_state(200, (5.3, 4.1, 6.0), seed)
            for periods in ([None] * 3, [5.3, 4.1, None], [5.3, 4.1, 6.0]):
                found, twin = states.overlaps(state, periods), all_pairs(state, periods)
                self.assertEqual(len(found), len(twin))
                for a, b in zip(sorted(found), sorted(twin)):
                    self.assertAlmostEqual(a, b, places=12)

    def test_energy_and_wall_force_of_one_rolling_sphere_have_their_closed_forms(self):
        # Rolling without slip: 7/10 m v^2. It rests on a floor, so all forces on it add up to nothing.
        state = states.State([(0, 0, 0)], [0.5], [(2.0, 0, 0)], [(0, 4.0, 0)], [(0, 0, 0)], [False])
        mass = 3 * 4 / 3 * math.pi / 8
        found = states.measure(state, 3, (0, 0, -9.81), [None] * 3)
        self.assertAlmostEqual(found["kinetic energy"], 0.7 * mass * 4)
        self.assertAlmostEqual(found["rotation"], 0.2 * mass * 4)
        self.assertAlmostEqual(found["wall force"], 9.81 * mass)
        self.assertEqual(found["contacts per grain"], 0)

    def test_a_data_file_holds_every_digit(self):
        state = random_state(20, (5, 5, 5), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.data"
            states.write_data(path, state, 2500.0, [(0.0, 5.0)] * 3)
            rows = [line.split() for line in path.read_text().splitlines()]
        atoms = [row for row in rows if len(row) == 7 and row[0].isdigit()][:20]
        self.assertEqual([tuple(map(float, row[4:])) for row in atoms], state.position)
        self.assertEqual([int(row[1]) == 1 for row in atoms], state.fixed)

    def test_the_restitution_told_to_lammps_gives_the_coefficient(self):
        for e in (0.1, 0.367, 0.8):
            fit = (1.2728, -4.2783, 11.087, -22.348, 27.467, -18.022, 4.8218)
            self.assertAlmostEqual(tsuji_restitution(sum(c * e**k for k, c in enumerate(fit))), e)

    def test_every_workload_states_a_tolerance_for_every_measure(self):
        measures = {"kinetic energy", "rotation", "contacts per grain", "wall force"}
        for workload in WORKLOADS.values():
            for tolerance in (workload.tolerance, *workload.apart.values()):
                self.assertEqual(set(tolerance), measures)


if __name__ == "__main__":
    unittest.main()
