//! Appends frames to a store.

use super::column::{self, Code, Coded};
use super::{FrameTables, Head, MAGIC, Part, Reader, RunHead, StoreError, TableHead};
use crate::atomic::{Attempt, FileError};
use crate::frame::{Field, Keep, Number, Scene, WallShape};
use esker::contact::visit::{ContactForce, Other};
use esker::math::Vec3;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Places are kept to this part of the smallest radius, twice the largest error.
pub const STEPS_PER_RADIUS: f64 = 256.0;

/// A store that grows.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    /// Length of what is whole \[B\].
    end: u64,
    /// The last block of grains: where it begins, and its mark.
    grains: Option<(u64, u32)>,
    /// The same of walls.
    walls: Option<(u64, u32)>,
}

/// A block being put together.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
}

impl Body {
    /// Appends a column.
    fn column(&mut self, name: &str, unit: &str, components: &[&str], code: Code, values: &[f64]) -> Coded {
        let compressed = column::encode(&code, values, components.len().max(1));
        let (at, length) = (self.bytes.len() as u64, compressed.len() as u64);
        self.bytes.extend_from_slice(&compressed);
        let components = components.iter().map(|c| (*c).to_owned()).collect();
        Coded { name: name.to_owned(), unit: unit.to_owned(), components, code, at, length }
    }

    /// Appends some rows of a field.
    fn field(&mut self, field: &Field, rows: &[u32]) -> Coded {
        let values = values(field, rows);
        let code = match (field.number, field.keep) {
            (Number::Real, Keep::Once) => Code::Single,
            (Number::Real, _) => column::half(&values),
            (Number::Whole, _) => column::whole(&values),
            (Number::Identity, _) => column::rising(&values),
        };
        self.column(field.name, field.unit, field.components, code, &values)
    }
}

/// Numbers of some rows of a field, one row after another.
fn values(field: &Field, rows: &[u32]) -> Vec<f64> {
    let width = field.width();
    let mut values = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        values.extend_from_slice(&field.value(row as usize)[..width]);
    }
    values
}

/// Checksum of some numbers.
fn mark(columns: &[Vec<f64>]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for value in columns.iter().flatten() {
        hasher.update(&value.to_le_bytes());
    }
    hasher.finalize()
}

impl Writer {
    /// Starts a store; an existing one is never overwritten.
    pub fn create(path: &Path, head: RunHead) -> Result<Self, StoreError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(FileError::at(path, Attempt::Create))?;
        let mut writer = Self { path: path.to_owned(), file, end: 0, grains: None, walls: None };
        writer.block(&Head::Run(head), &[])?;
        Ok(writer)
    }

    /// Goes on with a store: what comes after the last frame at or before a step is dropped. One that is damaged is left alone.
    pub fn resume(path: &Path, step: u64) -> Result<Self, StoreError> {
        let reader = Reader::open(path)?;
        if let Some(what) = reader.fault() {
            return Err(StoreError::Damaged { path: path.to_owned(), at: reader.end(), what: what.to_owned() });
        }
        let kept = reader.frames().iter().rev().find(|frame| frame.step <= step);
        let end = kept.map_or(reader.first_block_end(), |frame| frame.end());
        let [grains, walls] = kept.map_or(Ok([None; 2]), |frame| reader.marks(frame).map(|m| m.map(Some)))?;
        let file = OpenOptions::new().append(true).open(path).map_err(FileError::at(path, Attempt::Write))?;
        file.set_len(end).map_err(FileError::at(path, Attempt::Write))?;
        Ok(Self { path: path.to_owned(), file, end, grains, walls })
    }

    /// Appends a frame.
    pub fn frame(&mut self, scene: &Scene) -> Result<(), StoreError> {
        let p = &scene.state.particles;
        let mut order: Vec<u32> = (0..scene.grains() as u32).collect();
        order.sort_unstable_by_key(|&i| p.id[i as usize]);
        let fields = scene.grain_fields();
        let grains = self.grains_block(&fields, &order)?;
        let walls = self.walls_block(&scene.walls)?;

        let mut body = Body::default();
        let places: Vec<f64> = order.iter().flat_map(|&i| scene.place(i as usize).to_array()).collect();
        let smallest = order.iter().map(|&i| p.radius(i as usize)).fold(f64::INFINITY, f64::min);
        let step = if smallest.is_finite() { smallest / STEPS_PER_RADIUS } else { 0.0 };
        let mut columns =
            vec![body.column("position", "m", &["X", "Y", "Z"], column::steps(&places, 3, step), &places)];
        let changing = fields.iter().filter(|f| f.keep == Keep::Always);
        columns.extend(changing.map(|f| body.field(f, &order)));
        let mut tables = FrameTables { grains: TableHead { rows: order.len(), columns }, ..Default::default() };
        if scene.has_contacts() {
            let (pairs, ends) = contact_tables(scene, &order, &mut body);
            (tables.pairs, tables.ends) = (Some(pairs), Some(ends));
        }
        let part = |shape: &WallShape| Part {
            wall: shape.wall,
            position: shape.pose.position.to_array(),
            orientation: shape.pose.orientation.to_array(),
            force: shape.force.to_array(),
        };
        let parts = scene.walls.iter().map(part).collect();
        let (time, step) = (scene.state.time, scene.state.step);
        self.block(&Head::Frame { time, step, grains, walls, parts, tables }, &body.bytes)
    }

    /// Forces the frames to disk, so that they outlive a power cut; meant to go with each checkpoint.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        Ok(self.file.sync_data().map_err(FileError::at(&self.path, Attempt::Write))?)
    }

    /// Where the block of these grains begins: the last one, if nothing has changed.
    fn grains_block(&mut self, fields: &[Field], order: &[u32]) -> Result<u64, StoreError> {
        let lasting: Vec<&Field> = fields.iter().filter(|f| f.keep == Keep::Once).collect();
        let mark = mark(&lasting.iter().map(|f| values(f, order)).collect::<Vec<_>>());
        if let Some((at, last)) = self.grains
            && last == mark
        {
            return Ok(at);
        }
        let mut body = Body::default();
        let columns = lasting.iter().map(|f| body.field(f, order)).collect();
        let at = self.end;
        self.block(&Head::Grains { mark, table: TableHead { rows: order.len(), columns } }, &body.bytes)?;
        self.grains = Some((at, mark));
        Ok(at)
    }

    /// The same for walls.
    fn walls_block(&mut self, shapes: &[WallShape]) -> Result<u64, StoreError> {
        let parts = |count: fn(&WallShape) -> usize| -> Vec<f64> {
            shapes.iter().enumerate().flat_map(|(k, shape)| std::iter::repeat_n(k as f64, count(shape))).collect()
        };
        let (of_vertices, of_triangles) = (parts(|s| s.vertices.len()), parts(|s| s.triangles.len()));
        let vertices: Vec<f64> = shapes.iter().flat_map(|s| &s.vertices).flat_map(|v| v.to_array()).collect();
        let triangles: Vec<f64> = shapes.iter().flat_map(|s| s.triangles.as_flattened()).map(|&k| k.into()).collect();
        let all = [of_vertices, of_triangles, vertices, triangles];
        let mark = mark(&all);
        if let Some((at, last)) = self.walls
            && last == mark
        {
            return Ok(at);
        }
        let [of_vertices, of_triangles, vertices, triangles] = &all;
        let mut body = Body::default();
        let mut table = |rows: &[f64], name, unit, components: &[&str], code, values| {
            let part = body.column("part", "", &[], column::rising(rows), rows);
            TableHead { rows: rows.len(), columns: vec![part, body.column(name, unit, components, code, values)] }
        };
        let vertices = table(of_vertices, "place", "m", &["X", "Y", "Z"], Code::Single, vertices);
        let triangles = table(of_triangles, "corners", "", &["a", "b", "c"], column::whole(triangles), triangles);
        let at = self.end;
        self.block(&Head::Walls { mark, vertices, triangles }, &body.bytes)?;
        self.walls = Some((at, mark));
        Ok(at)
    }

    /// Appends a block in one piece. If that fails, what went out of it is taken back.
    fn block(&mut self, head: &Head, body: &[u8]) -> Result<(), StoreError> {
        // These types have no values that JSON cannot hold; a number that is not finite becomes null and is found by a reader.
        let head = serde_json::to_vec(head).expect("plain values");
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        hasher.update(body);
        let mut bytes = Vec::with_capacity(super::PREFIX as usize + head.len() + body.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&hasher.finalize().to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(body);
        if let Err(reason) = self.file.write_all(&bytes) {
            // A second error tells nothing new; a reader passes over a torn end.
            let _ = self.file.set_len(self.end);
            return Err(FileError::new(&self.path, Attempt::Write, reason).into());
        }
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// Contacts of two grains, and those that end elsewhere.
fn contact_tables(scene: &Scene, order: &[u32], body: &mut Body) -> (TableHead, TableHead) {
    let mut row = vec![0u32; order.len()];
    for (k, &grain) in order.iter().enumerate() {
        row[grain as usize] = k as u32;
    }
    let smallest = order.iter().map(|&i| scene.state.particles.radius(i as usize)).fold(f64::INFINITY, f64::min);
    // A line between both grains as they are shown, unless a periodic face lies between them.
    let partner = |c: &ContactForce| match c.other {
        Other::Grain(j) if scene.ends(c)[1].distance(scene.place(j)) < 1e-3 * smallest => Some(row[j]),
        _ => None,
    };
    let (mut pairs, mut ends) = (Vec::new(), Vec::new());
    for (k, c) in scene.contacts().iter().enumerate() {
        let a = row[c.i];
        match partner(c) {
            Some(b) => pairs.push((a.min(b), a.max(b), k as u32)),
            None => ends.push((a, k as u32)),
        }
    }
    // A pair across a periodic face that is shown on one side of it has two records of the same line.
    pairs.sort_unstable();
    pairs.dedup_by_key(|&mut (a, b, _)| (a, b));
    ends.sort_unstable();
    let fields = scene.contact_fields();
    let stored = || fields.iter().filter(|f| f.keep == Keep::Always);

    let rows: Vec<u32> = pairs.iter().map(|p| p.2).collect();
    let first: Vec<f64> = pairs.iter().map(|p| p.0.into()).collect();
    let beyond: Vec<f64> = pairs.iter().map(|p| (p.1 - p.0).into()).collect();
    let mut columns = vec![
        body.column("first", "", &[], column::rising(&first), &first),
        body.column("beyond", "", &[], column::whole(&beyond), &beyond),
    ];
    columns.extend(stored().map(|f| body.field(f, &rows)));
    let pairs = TableHead { rows: rows.len(), columns };

    let rows: Vec<u32> = ends.iter().map(|e| e.1).collect();
    let contact = |k: &u32| &scene.contacts()[*k as usize];
    let first: Vec<f64> = ends.iter().map(|e| e.0.into()).collect();
    let wall: Vec<f64> = rows
        .iter()
        .map(contact)
        .map(|c| match c.other {
            Other::Wall(w) => w as f64,
            Other::Grain(_) => -1.0,
        })
        .collect();
    let branches: Vec<f64> =
        rows.iter().map(contact).map(|c| c.to - c.from).flat_map(|branch: Vec3| branch.to_array()).collect();
    let mut columns = vec![
        body.column("first", "", &[], column::rising(&first), &first),
        body.column("wall", "", &[], column::whole(&wall), &wall),
        body.column("branch", "m", &["X", "Y", "Z"], column::half(&branches), &branches),
    ];
    columns.extend(stored().map(|f| body.field(f, &rows)));
    (pairs, TableHead { rows: rows.len(), columns })
}
