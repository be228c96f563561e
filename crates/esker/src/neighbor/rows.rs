//! Puts entries found in any order by many tasks together to sorted rows. Rows are cut into blocks, tasks keep what they
//! find by block, and each block is counted, dealt out and sorted by itself: in parallel, in cache, and with one result
//! whatever the order of arrival. O(entries).

use super::Image;
use rayon::prelude::*;
use std::mem::take;

/// Entries found by one task.
pub(super) struct Found {
    /// Row and partner of pairs without shift, by block of rows.
    pub pairs: Vec<Vec<(u32, u32)>>,
    /// Pairs with shift: the image and the row that meets it.
    pub across: Vec<(Image, u32)>,
    /// Number of all of them.
    pub count: usize,
}

/// Blocks of rows, so that the list is put together in parallel, each block in cache.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    /// log2 of the rows in a block.
    bits: u32,
    /// Number of blocks.
    count: usize,
}

impl Blocks {
    /// Few enough to keep apart in every task; their size depends on the number of rows alone.
    pub fn new(rows: usize) -> Blocks {
        let bits = rows.div_ceil(64).next_power_of_two().max(4096).trailing_zeros();
        Blocks { bits, count: rows.div_ceil(1 << bits) }
    }

    /// Block of a row.
    pub fn of(self, row: u32) -> usize {
        (row >> self.bits) as usize
    }
}

impl Found {
    /// Nothing yet.
    pub fn new(blocks: Blocks) -> Found {
        Found { pairs: vec![Vec::new(); blocks.count], across: Vec::new(), count: 0 }
    }
}

/// Gathers the images, ascending and each once, and turns the pairs across faces into rows with image indices.
pub(super) fn number_images(found: &mut [Found], owned: usize, blocks: Blocks) -> (Vec<Image>, Found) {
    let mut across: Vec<(Image, u32)> = found.iter_mut().flat_map(|f| std::mem::take(&mut f.across)).collect();
    across.par_sort_unstable();
    let mut images: Vec<Image> = Vec::new();
    let mut rows = Found::new(blocks);
    for (image, row) in across {
        if images.last() != Some(&image) {
            images.push(image);
        }
        rows.pairs[blocks.of(row)].push((row, (owned + images.len() - 1) as u32));
    }
    (images, rows)
}

/// Sorts (row, partner) entries into rows.
pub(super) fn assemble(found: &[Found], owned: usize, blocks: Blocks) -> (Vec<u32>, Vec<u32>) {
    let parts: Vec<(Vec<u32>, Vec<u32>)> = (0..blocks.count)
        .into_par_iter()
        .map(|block| {
            let base = (block as u32) << blocks.bits;
            let rows = (owned - base as usize).min(1 << blocks.bits);
            let entries = || found.iter().flat_map(|f| &f.pairs[block]);
            // `end` holds where each row begins until its entries are dealt out.
            let mut end = vec![0_u32; rows + 1];
            for &(row, _) in entries() {
                end[(row - base) as usize + 1] += 1;
            }
            for r in 1..=rows {
                end[r] += end[r - 1];
            }
            let mut partner = vec![0; end[rows] as usize];
            for &(row, j) in entries() {
                let slot = &mut end[(row - base) as usize];
                partner[*slot as usize] = j;
                *slot += 1;
            }
            end.truncate(rows);
            let mut begin = 0;
            for &e in &end {
                sort_row(&mut partner[begin..e as usize]);
                begin = e as usize;
            }
            (end, partner)
        })
        .collect();

    let mut start = vec![0; owned + 1];
    let mut partner = vec![0; parts.iter().map(|(_, p)| p.len()).sum()];
    let (mut base, mut starts, mut partners) = (0, &mut start[1..], partner.as_mut_slice());
    let mut copies = Vec::new();
    for (end, part) in &parts {
        let to = (take(&mut starts).split_at_mut(end.len()), take(&mut partners).split_at_mut(part.len()));
        copies.push((base, (to.0.0, end), (to.1.0, part)));
        (base, starts, partners) = (base + part.len() as u32, to.0.1, to.1.1);
    }
    copies.into_par_iter().for_each(|(base, (starts, end), (partners, part))| {
        starts.iter_mut().zip(end).for_each(|(start, end)| *start = base + end);
        partners.copy_from_slice(part);
    });
    (start, partner)
}

/// Insertion for the few partners a row usually has.
fn sort_row(row: &mut [u32]) {
    if row.len() > 24 {
        row.sort_unstable();
        return;
    }
    for i in 1..row.len() {
        let key = row[i];
        let mut k = i;
        while k > 0 && row[k - 1] > key {
            row[k] = row[k - 1];
            k -= 1;
        }
        row[k] = key;
    }
}
