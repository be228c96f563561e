//! Nodes and what joins them: degrees of freedom, links, and the springs that links are made of.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// A node that does not move.
pub const GROUND: u32 = u32::MAX;

/// Most degrees of freedom of a node.
pub const MOST: usize = 6;

/// What a node can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Freedom {
    /// Two translations (Gavrilov's nodes).
    #[default]
    Planar,
    /// Two translations and a rotation.
    PlanarTurning,
    /// Three translations.
    Spatial,
    /// Three translations and three rotations.
    SpatialTurning,
}

/// Displacement of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shift {
    /// Translation \[m\].
    pub by: Vec3,
    /// Rotation \[rad\].
    pub turn: Vec3,
}

/// What acts on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Action {
    /// Force \[N\].
    pub force: Vec3,
    /// Couple \[N m\].
    pub couple: Vec3,
}

impl Freedom {
    /// Degrees of freedom of a node.
    pub fn size(self) -> usize {
        match self {
            Freedom::Planar => 2,
            Freedom::PlanarTurning | Freedom::Spatial => 3,
            Freedom::SpatialTurning => 6,
        }
    }

    /// Whether nodes turn.
    pub fn turns(self) -> bool {
        matches!(self, Freedom::PlanarTurning | Freedom::SpatialTurning)
    }

    /// A pair of vectors as the numbers of a node.
    #[inline]
    pub(super) fn pack(self, linear: Vec3, angular: Vec3) -> [f64; MOST] {
        let (l, a) = (linear, angular);
        match self {
            Freedom::Planar => [l.x, l.y, 0.0, 0.0, 0.0, 0.0],
            Freedom::PlanarTurning => [l.x, l.y, a.z, 0.0, 0.0, 0.0],
            Freedom::Spatial => [l.x, l.y, l.z, 0.0, 0.0, 0.0],
            Freedom::SpatialTurning => [l.x, l.y, l.z, a.x, a.y, a.z],
        }
    }

    #[inline]
    fn unpack(self, v: &[f64]) -> (Vec3, Vec3) {
        match self {
            Freedom::Planar => (Vec3::new(v[0], v[1], 0.0), Vec3::ZERO),
            Freedom::PlanarTurning => (Vec3::new(v[0], v[1], 0.0), Vec3::new(0.0, 0.0, v[2])),
            Freedom::Spatial => (Vec3::new(v[0], v[1], v[2]), Vec3::ZERO),
            Freedom::SpatialTurning => (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])),
        }
    }

    /// Displacement of a node in the column of all; none of the ground.
    #[inline]
    pub fn shift(self, u: &[f64], node: u32) -> Shift {
        if node == GROUND {
            return Shift::default();
        }
        let (by, turn) = self.unpack(&u[node as usize * self.size()..]);
        Shift { by, turn }
    }

    /// Adds an action on a node to the column of all loads; on the ground it is lost.
    #[inline]
    pub fn load(self, f: &mut [f64], node: u32, action: &Action) {
        if node == GROUND {
            return;
        }
        let m = self.size();
        let packed = self.pack(action.force, action.couple);
        f[node as usize * m..][..m].iter_mut().zip(&packed).for_each(|(f, a)| *f += a);
    }

    /// The action on a node in the column of all loads.
    pub fn action(self, f: &[f64], node: u32) -> Action {
        let (force, couple) = self.unpack(&f[node as usize * self.size()..]);
        Action { force, couple }
    }
}

/// A contact as an elastic element: a normal and a tangential spring at a point between two nodes.
///
/// $$\mathbf C=K_\eta\,\mathbf n\mathbf n^T+K_\tau(\mathbf I-\mathbf n\mathbf n^T),\qquad
/// \boldsymbol\delta=\mathbf d_\alpha-\mathbf d_\beta+(l_\alpha\boldsymbol\theta_\alpha+l_\beta\boldsymbol\theta_\beta)\times\mathbf n$$
///
/// Gavrilov 1999, eqs (4.17), (4.18) without rotations, in a form that needs no angle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The two nodes; either may be [`GROUND`].
    pub ends: [u32; 2],
    /// Unit normal from the first to the second.
    pub normal: Vec3,
    /// Distances of the point from both nodes \[m\]: how much rotations count.
    pub levers: [f64; 2],
    /// Normal and tangential stiffness \[N/m\].
    pub stiffness: [f64; 2],
}

/// One spring of an element: its elongation is the sum of `row · u` over both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// The two nodes; either may be [`GROUND`].
    pub ends: [u32; 2],
    /// Row of each.
    pub rows: [[f64; MOST]; 2],
    /// Stiffness \[N/m\].
    pub stiffness: f64,
}

impl Link {
    /// Relative displacement of the two sides of the point \[m\].
    #[inline]
    pub fn stretch(&self, a: &Shift, b: &Shift) -> Vec3 {
        if self.levers == [0.0; 2] {
            return a.by - b.by;
        }
        a.by - b.by + (self.levers[0] * a.turn + self.levers[1] * b.turn).cross(self.normal)
    }

    /// Force that resists a relative displacement, on the second node; the first has the opposite \[N\].
    #[inline]
    pub fn force(&self, stretch: Vec3) -> Vec3 {
        let [k_n, k_t] = self.stiffness;
        let along = stretch.dot(self.normal);
        self.normal * ((k_n - k_t) * along) + stretch * k_t
    }

    /// What a force on the second node at the point does to both nodes.
    #[inline]
    pub fn actions(&self, force: Vec3) -> [Action; 2] {
        if self.levers == [0.0; 2] {
            return [-force, force].map(|force| Action { force, couple: Vec3::ZERO });
        }
        let couple = self.normal.cross(force);
        [Action { force: -force, couple: -self.levers[0] * couple }, Action { force, couple: -self.levers[1] * couple }]
    }

    /// Directions across the normal; none in the second of the plane.
    pub fn tangents(&self, freedom: Freedom) -> [Vec3; 2] {
        match freedom {
            Freedom::Planar | Freedom::PlanarTurning => [Vec3::Z.cross(self.normal), Vec3::ZERO],
            Freedom::Spatial | Freedom::SpatialTurning => self.normal.any_orthonormal_pair().into(),
        }
    }

    /// Its spring in a direction along or across the normal.
    pub fn spring(&self, freedom: Freedom, along: Vec3, stiffness: f64) -> Spring {
        let turn = self.normal.cross(along);
        let rows = [freedom.pack(along, self.levers[0] * turn), freedom.pack(-along, self.levers[1] * turn)];
        Spring { ends: self.ends, rows, stiffness }
    }

    /// Its springs: one along the normal and one or two across it. Those without stiffness are left out.
    pub fn springs(&self, freedom: Freedom) -> impl Iterator<Item = Spring> {
        let [t, s] = self.tangents(freedom);
        let [k_n, k_t] = self.stiffness;
        [(self.normal, k_n), (t, k_t), (s, k_t)]
            .into_iter()
            .filter(|(along, k)| *k != 0.0 && *along != Vec3::ZERO)
            .map(move |(along, k)| self.spring(freedom, along, k))
    }
}

impl Spring {
    /// The springs of any element with a symmetric stiffness matrix of both nodes, line by line, that is not negative:
    /// S = Σ d l lᵀ.
    pub fn of_element(ends: [u32; 2], freedom: Freedom, matrix: &[f64]) -> Vec<Spring> {
        let m = freedom.size();
        let (n, mut s) = (2 * m, matrix.to_vec());
        assert_eq!(s.len(), n * n, "a matrix of two nodes");
        let largest = (0..n).map(|i| s[i * n + i]).fold(0.0, f64::max);
        let mut springs = Vec::new();
        for p in 0..n {
            let d = s[p * n + p];
            if d <= 1e-13 * largest {
                continue;
            }
            let line: Vec<f64> = (0..n).map(|c| s[p * n + c] / d).collect();
            for r in 0..n {
                for c in 0..n {
                    s[r * n + c] -= d * line[r] * line[c];
                }
            }
            let mut rows = [[0.0; MOST]; 2];
            rows[0][..m].copy_from_slice(&line[..m]);
            rows[1][..m].copy_from_slice(&line[m..]);
            springs.push(Spring { ends, rows, stiffness: d });
        }
        springs
    }

    /// Elongation by displacements of all nodes \[m\].
    pub fn elongation(&self, freedom: Freedom, u: &[f64]) -> f64 {
        let m = freedom.size();
        let of = |end: usize| match self.ends[end] {
            GROUND => 0.0,
            node => self.rows[end].iter().zip(&u[node as usize * m..][..m]).map(|(r, u)| r * u).sum(),
        };
        of(0) + of(1)
    }
}
