//! Every grain against every copy of every grain: O(n²), obvious. The twin that tests hold [`cell_grid`](super::cell_grid)
//! against, and quite good enough for a hundred grains.

use super::periodic::Wrapped;
use super::{Candidates, Image, PeriodicCell, SearchError, near};
use std::collections::BTreeSet;

/// Candidates straight from the definition.
pub(super) fn search(
    wrapped: &Wrapped,
    cell: &PeriodicCell,
    skin: f64,
    limit: usize,
) -> Result<Candidates, SearchError> {
    let places = &wrapped.places;
    let owned = places.len();
    let reach = |axis: usize| if cell.length[axis].is_some() { -1..=1 } else { 0..=0 };

    let mut pairs = Vec::new();
    let mut across = Vec::new();
    let mut needed = BTreeSet::new();
    for i in 0..owned {
        for j in 0..owned {
            for x in reach(0) {
                for y in reach(1) {
                    for z in reach(2) {
                        let copy = [x, y, z];
                        if (i == j && copy == [0; 3]) || !near(&places[i], &places[j], cell.shift_vector(copy), skin) {
                            continue;
                        }
                        match wrapped.shift(i as u32, j as u32, copy) {
                            [0, 0, 0] if i < j => pairs.push((i, j as u32)),
                            [0, 0, 0] => {}
                            shift => {
                                let image = Image { owner: j as u32, shift };
                                across.push((i, image));
                                needed.insert(image);
                            }
                        }
                        if pairs.len() + across.len() > limit {
                            return Err(SearchError::TooManyPairs { limit });
                        }
                    }
                }
            }
        }
    }

    let images: Vec<Image> = needed.into_iter().collect();
    if owned + images.len() > limit {
        return Err(SearchError::TooManyPairs { limit });
    }
    let mut rows = vec![Vec::new(); owned];
    for (i, j) in pairs {
        rows[i].push(j);
    }
    for (i, image) in across {
        let k = images.binary_search(&image).expect("every image met was collected");
        rows[i].push((owned + k) as u32);
    }
    let mut candidates = Candidates { start: vec![0], partner: Vec::new(), images };
    for mut row in rows {
        row.sort();
        candidates.partner.extend(row);
        candidates.start.push(candidates.partner.len() as u32);
    }
    Ok(candidates)
}
