//! Which colour each grain or contact has.

use super::settings::Range;
use crate::choice::hint;
use crate::colour::{self, Map, Rgb};
use esker::math::Vec3;
use esker_io::store::column::Column;
use esker_io::store::{FrameData, RunHead, Table};
use std::collections::HashMap;

/// Bands of `layer of origin`.
const LAYERS: usize = 10;
const LAYER: &str = "layer of origin";
/// What has no value.
const UNKNOWN: Rgb = Rgb([0.62; 3]);

/// A field that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// No such field.
    #[error("`{option} {word}`: there is no such field\n  fields of this run: {known}{hint}")]
    NoField {
        /// The option that asked for it.
        option: &'static str,
        /// The word.
        word: String,
        /// All fields.
        known: String,
        /// The nearest, as a question.
        hint: String,
    },
    /// No such component.
    #[error("`{option} {word}`: `{field}` has {known}")]
    NoComponent {
        /// The option that asked for it.
        option: &'static str,
        /// The word.
        word: String,
        /// Its field.
        field: String,
        /// Its components.
        known: String,
    },
}

/// What is taken of a row.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// The number, or the size of a vector.
    Size,
    /// A component.
    Component(usize),
    /// The band that the grain was in in the first frame.
    Layer(HashMap<u64, usize>),
}

/// A number of each grain or contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name, with the component.
    pub name: String,
    /// Unit, empty for none.
    pub unit: String,
    column: String,
    part: Part,
}

/// Letters that count: case, spaces and hyphens do not.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !" -_".contains(*c)).flat_map(char::to_lowercase).collect()
}

impl Field {
    /// The field that a word means: a name, or a name, a point and a component.
    pub fn find(word: &str, option: &'static str, columns: &[&Column]) -> Result<Self, FieldError> {
        let named = |name: &str| columns.iter().find(|c| plain(&c.name) == plain(name));
        if let Some(column) = named(word) {
            let part = if column.components.is_empty() { Part::Component(0) } else { Part::Size };
            return Ok(Self {
                name: column.name.clone(),
                unit: column.unit.clone(),
                column: column.name.clone(),
                part,
            });
        }
        let (name, component) = word.rsplit_once('.').unwrap_or((word, ""));
        let Some(column) = named(name) else {
            let names = columns.iter().map(|c| c.name.as_str());
            let known = names.clone().collect::<Vec<_>>().join(", ");
            return Err(FieldError::NoField { option, word: word.to_owned(), known, hint: hint(name, names) });
        };
        let Some(k) = column.components.iter().position(|c| plain(c) == plain(component)) else {
            let known = match &column.components[..] {
                [] => "no components".to_owned(),
                some => format!("the components {}", some.join(", ").to_lowercase()),
            };
            let (word, field) = (word.to_owned(), column.name.clone());
            return Err(FieldError::NoComponent { option, word, field, known });
        };
        let name = format!("{} {}", column.name, column.components[k].to_lowercase());
        Ok(Self { name, unit: column.unit.clone(), column: column.name.clone(), part: Part::Component(k) })
    }

    /// The number of every row; those of a column that is not there are no numbers.
    pub fn values(&self, table: &Table) -> Vec<f64> {
        let Some(column) = table.column(&self.column) else { return vec![f64::NAN; table.rows] };
        let value = |row: usize| {
            let numbers = column.row(row);
            match &self.part {
                Part::Size => numbers.iter().map(|x| x * x).sum::<f64>().sqrt(),
                Part::Component(k) => numbers[*k],
                Part::Layer(bands) => bands.get(&(numbers[0] as u64)).map_or(LAYERS as f64, |band| *band as f64),
            }
        };
        (0..table.rows).map(value).collect()
    }
}

/// Bands of height against gravity in the first frame, by identity.
fn layers(first: &FrameData, gravity: [f64; 3]) -> Field {
    let up = -Vec3::from(gravity).try_normalize().unwrap_or(Vec3::NEG_Z);
    let (id, place) = (first.grains.column("id"), first.grains.column("position"));
    let mut bands = HashMap::new();
    if let (Some(id), Some(place)) = (id, place) {
        let heights: Vec<f64> = (0..first.grains.rows).map(|row| up.dot(Vec3::from(place.vector(row)))).collect();
        let range = heights.iter().fold(Range::EMPTY, |range, h| range.including(*h));
        for (row, height) in heights.iter().enumerate() {
            let band = (LAYERS as f64 * range.share(*height)) as usize;
            bands.insert(id.values[row] as u64, band.min(LAYERS - 1));
        }
    }
    Field { name: LAYER.to_owned(), unit: String::new(), column: "id".to_owned(), part: Part::Layer(bands) }
}

/// Which colours there are, and what they mean.
#[derive(Clone, Debug)]
pub enum Colouring {
    /// One for all.
    Plain(Rgb),
    /// By a number.
    Scale {
        /// The number.
        field: Field,
        /// The colours.
        scale: Scale,
    },
    /// By a name.
    Names {
        /// The number of the name.
        field: Field,
        /// The names and their colours.
        names: Vec<(String, Rgb)>,
        /// Which of them occur.
        seen: Vec<bool>,
    },
}

/// A map with its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The map.
    pub map: Map,
    /// Which way it is taken.
    pub way: Way,
    /// Lowest and highest value.
    pub range: Range,
}

/// Which way a map is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As it is.
    Forward,
    /// From its end to its beginning.
    Backward,
}

impl Scale {
    /// The colour of a share of the range.
    pub fn at(&self, share: f64) -> Rgb {
        self.map.at(if self.way == Way::Backward { 1.0 - share } else { share })
    }

    /// The colour of a value.
    pub fn colour(&self, value: f64) -> Rgb {
        if value.is_nan() { UNKNOWN } else { self.at(self.range.share(value)) }
    }

    /// Rounds the range off once all values are in it: not empty, from zero where nothing is negative and a bar may begin
    /// there, even about zero for maps with a middle.
    pub fn settle(&mut self) {
        let Range { min, max } = &mut self.range;
        if !(min.is_finite() && max.is_finite()) {
            (*min, *max) = (0.0, 1.0);
        }
        if self.map.is_diverging() && *min < 0.0 && *max > 0.0 {
            *max = max.max(-*min);
            *min = -*max;
        }
        if *min == *max {
            let by = if *min == 0.0 { 1.0 } else { 0.05 * min.abs() };
            (*min, *max) = (if *min == 0.0 { 0.0 } else { *min - by }, *max + by);
        }
    }
}

impl Colouring {
    /// Colours of grains by a word. The range of numbers is still to be found.
    pub fn of_grains(
        word: &str,
        map: Map,
        head: &RunHead,
        some: &FrameData,
        first: impl FnOnce() -> Result<FrameData, super::RenderError>,
    ) -> Result<Self, super::RenderError> {
        if plain(word) == plain(LAYER) {
            let band = |k: usize| map.at((k as f64 + 0.5) / LAYERS as f64);
            let name = |k: usize| match k + 1 {
                1 => "1 lowest".to_owned(),
                LAYERS => format!("{LAYERS} highest"),
                k => k.to_string(),
            };
            let bands = (0..LAYERS).rev().map(|k| (name(k), band(k)));
            let names = bands.chain([("came later".to_owned(), UNKNOWN)]).collect::<Vec<_>>();
            let mut field = layers(&first()?, head.gravity);
            // The highest is listed first.
            if let Part::Layer(bands) = &mut field.part {
                bands.values_mut().for_each(|band| *band = LAYERS - 1 - *band);
            }
            return Ok(Self::by_name(field, names));
        }
        let layer = Column { name: LAYER.to_owned(), ..Column::default() };
        let columns: Vec<&Column> = some.grains.columns.iter().chain([&layer]).collect();
        let field = Field::find(word, "--colour", &columns)?;
        let names = match field.column.as_str() {
            "material" => &head.materials[..],
            "kind" => &head.kinds[..],
            _ => &[],
        };
        if names.is_empty() {
            return Ok(Self::by_number(field, map, Way::Forward));
        }
        let names = names.iter().enumerate().map(|(k, name)| (name.clone(), colour::named(k))).collect();
        Ok(Self::by_name(field, names))
    }

    /// By a name. Which of them occur is still to be found.
    pub fn by_name(field: Field, names: Vec<(String, Rgb)>) -> Self {
        Colouring::Names { field, seen: vec![false; names.len()], names }
    }

    /// By a number whose range is still to be found.
    pub fn by_number(field: Field, map: Map, way: Way) -> Self {
        Colouring::Scale { field, scale: Scale { map, way, range: Range::EMPTY } }
    }

    /// Takes the values of a table into the range, or into the names that occur.
    pub fn include(&mut self, table: &Table) {
        match self {
            Colouring::Plain(_) => {}
            Colouring::Scale { field, scale } => {
                scale.range = field.values(table).into_iter().fold(scale.range, Range::including);
            }
            Colouring::Names { field, seen, .. } => {
                for value in field.values(table) {
                    if let Some(seen) = seen.get_mut(value as usize) {
                        *seen = true;
                    }
                }
            }
        }
    }

    /// The colour of every row.
    pub fn colours(&self, table: &Table) -> Vec<Rgb> {
        match self {
            Colouring::Plain(colour) => vec![*colour; table.rows],
            Colouring::Scale { field, scale } => field.values(table).iter().map(|v| scale.colour(*v)).collect(),
            Colouring::Names { field, names, .. } => {
                let colour = |v: &f64| names.get(*v as usize).filter(|_| *v >= 0.0).map_or(UNKNOWN, |(_, c)| *c);
                field.values(table).iter().map(colour).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let of = |name: &str, components: &[&str], values: Vec<f64>| Column {
            name: name.to_owned(),
            unit: String::new(),
            components: components.iter().map(|c| c.to_string()).collect(),
            values,
        };
        vec![of("contact force", &[], vec![2.0]), of("velocity", &["X", "Y", "Z"], vec![3.0, 0.0, -4.0])]
    }

    #[test]
    fn vectors_give_their_size_or_a_component() {
        let table = Table { rows: 1, columns: columns() };
        let all: Vec<&Column> = table.columns.iter().collect();
        let value = |word: &str| Field::find(word, "--colour", &all).unwrap().values(&table)[0];
        assert_eq!((value("velocity"), value("velocity.z"), value("Velocity.X")), (5.0, -4.0, 3.0));
        assert_eq!((value("contact force"), value("contact-force")), (2.0, 2.0));
    }

    #[test]
    fn unknown_fields_and_components_are_told_with_those_there_are() {
        let table = columns();
        let all: Vec<&Column> = table.iter().collect();
        let message = |word: &str| Field::find(word, "--colour", &all).unwrap_err().to_string();
        let told = message("velocty");
        assert!(told.contains("--colour velocty") && told.contains("contact force, velocity"), "{told}");
        assert!(told.contains("did you mean `velocity`?"), "{told}");
        assert!(message("velocity.w").contains("the components x, y, z"), "{}", message("velocity.w"));
        assert!(message("contact force.x").contains("no components"));
    }

    #[test]
    fn a_range_about_zero_is_even_where_the_map_has_a_middle() {
        let mut scale = Scale { map: Map::Coolwarm, way: Way::Forward, range: Range { min: -1.0, max: 3.0 } };
        scale.settle();
        assert_eq!(scale.range, Range { min: -3.0, max: 3.0 });
        scale.range = Range::EMPTY;
        scale.settle();
        assert_eq!(scale.range, Range { min: 0.0, max: 1.0 });
        scale.range = Range { min: 2.0, max: 2.0 };
        scale.settle();
        assert!(scale.range.min < 2.0 && scale.range.max > 2.0);
    }
}
