//! A uniform grid over a mesh: each cell lists every triangle within reach of it, so a grain asks one cell, and who looks
//! farther asks some around.
//!
//! Built once in the wall frame. Cells are as wide as the reach unless that would make too many: then they are widened
//! until cells and lists fit a budget proportional to the number of triangles. Compared with the search through all
//! triangles in `mesh.rs`.

use crate::math::{Aabb, Vec3};

/// Cells per triangle, and the number a small mesh may have anyway.
const CELLS: (usize, usize) = (8, 32_768);
/// List entries per triangle, and the number a small mesh may have anyway.
const ENTRIES: (usize, usize) = (64, 262_144);
/// Triangles tried against cells, per entry of the budget, before the grid is found too fine.
const TRIALS: usize = 8;
/// Cells that are too small are widened by this factor.
const WIDEN: f64 = 1.5;
/// Slack for rounding in distances, relative.
const SLACK: f64 = 1.0 + 1e-9;

#[derive(Clone, Debug)]
pub(super) struct MeshGrid {
    origin: Vec3,
    inverse_width: f64,
    size: [usize; 3],
    /// Entries of cell `k` are `triangles[start[k]..start[k + 1]]`, ascending.
    start: Vec<u32>,
    triangles: Vec<u32>,
}

impl MeshGrid {
    /// The grid over triangles with these boxes; `distance` is that from a triangle to a point.
    pub fn build(boxes: &[Aabb], reach: f64, distance: impl Fn(usize, Vec3) -> f64) -> MeshGrid {
        let region = boxes.iter().fold(Aabb::EMPTY, |all, b| all.union(*b)).grown(reach * SLACK);
        let allowed = (CELLS.0 * boxes.len()).max(CELLS.1) as f64;
        let mut width = reach;
        loop {
            let cells = (region.size() / width).ceil().max(Vec3::ONE);
            if cells.x * cells.y * cells.z <= allowed {
                let size = [cells.x as usize, cells.y as usize, cells.z as usize];
                if let Some(grid) = MeshGrid::with_cells(region.min, width, size, boxes, reach, &distance) {
                    return grid;
                }
            }
            width *= WIDEN;
        }
    }

    /// The grid with cells of this width, or `None` if its lists would be too long.
    fn with_cells(
        origin: Vec3,
        width: f64,
        size: [usize; 3],
        boxes: &[Aabb],
        reach: f64,
        distance: &impl Fn(usize, Vec3) -> f64,
    ) -> Option<MeshGrid> {
        let cells = size[0] * size[1] * size[2];
        let budget = (ENTRIES.0 * boxes.len()).max(ENTRIES.1);
        let touching = (reach + 0.5 * 3f64.sqrt() * width) * SLACK;
        let mut entries: Vec<(u32, u32)> = Vec::new();
        let mut trials = 0;
        for (t, bounds) in boxes.iter().enumerate() {
            let around = bounds.grown(reach * SLACK);
            let [low, high] = [around.min, around.max].map(|corner| {
                let cell = ((corner - origin) / width).floor().max(Vec3::ZERO);
                [cell.x as usize, cell.y as usize, cell.z as usize]
            });
            for k in low[2]..=high[2].min(size[2] - 1) {
                for j in low[1]..=high[1].min(size[1] - 1) {
                    for i in low[0]..=high[0].min(size[0] - 1) {
                        let centre = origin + width * Vec3::new(i as f64 + 0.5, j as f64 + 0.5, k as f64 + 0.5);
                        if distance(t, centre) <= touching {
                            entries.push((((k * size[1] + j) * size[0] + i) as u32, t as u32));
                        }
                        trials += 1;
                    }
                }
            }
            // One cell for everything is the coarsest there is.
            if cells > 1 && (entries.len() > budget || trials > TRIALS * budget) {
                return None;
            }
        }
        // Triangles come in ascending order, so a counting sort leaves each list ascending.
        let mut start = vec![0u32; cells + 1];
        for (cell, _) in &entries {
            start[*cell as usize + 1] += 1;
        }
        for cell in 0..cells {
            start[cell + 1] += start[cell];
        }
        let mut next = start.clone();
        let mut triangles = vec![0; entries.len()];
        for (cell, t) in entries {
            triangles[next[cell as usize] as usize] = t;
            next[cell as usize] += 1;
        }
        Some(MeshGrid { origin, inverse_width: 1.0 / width, size, start, triangles })
    }

    /// All triangles within reach of this point, and some others near it; none outside the grid.
    pub fn near(&self, point: Vec3) -> &[u32] {
        let cell = (point - self.origin) * self.inverse_width;
        let size = Vec3::new(self.size[0] as f64, self.size[1] as f64, self.size[2] as f64);
        if !(cell.cmpge(Vec3::ZERO).all() && cell.cmplt(size).all()) {
            return &[];
        }
        self.cell((cell.z as usize * self.size[1] + cell.y as usize) * self.size[0] + cell.x as usize)
    }

    /// Of each cell that a cube of this half width around a point meets, what [`Self::near`] says: among all of them are all
    /// triangles nearer to the point than the reach and this width, some several times.
    pub fn around(&self, point: Vec3, width: f64) -> impl Iterator<Item = &[u32]> {
        let last = Vec3::new(self.size[0] as f64, self.size[1] as f64, self.size[2] as f64) - Vec3::ONE;
        let cell = |corner: Vec3| ((corner - self.origin) * self.inverse_width).floor();
        let more = Vec3::splat(width * SLACK);
        let (low, high) = (cell(point - more).max(Vec3::ZERO), cell(point + more).min(last));
        let range = |low: f64, high: f64| low as usize..(high + 1.0).max(0.0) as usize;
        let (x, y, z) = (range(low.x, high.x), range(low.y, high.y), range(low.z, high.z));
        let rows = z.flat_map(move |k| y.clone().map(move |j| (k * self.size[1] + j) * self.size[0]));
        rows.flat_map(move |row| x.clone().map(move |i| self.cell(row + i)))
    }

    /// Most cells that a cube of this half width meets.
    pub fn cells_around(&self, width: f64) -> f64 {
        (2.0 * width * SLACK * self.inverse_width + 2.0).powi(3)
    }

    fn cell(&self, k: usize) -> &[u32] {
        &self.triangles[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// Number of cells and of list entries.
    #[cfg(test)]
    pub fn memory(&self) -> (usize, usize) {
        (self.start.len() - 1, self.triangles.len())
    }
}
