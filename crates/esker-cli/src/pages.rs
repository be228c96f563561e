//! Large pages for large memory, and columns that do not begin alike.
//!
//! A step walks through tens of megabytes of columns. In pages of 4 kB the processor has to look up where each lies more
//! often than its tables hold; in pages of 2 MB it does not. Linux gives them to those who ask.
//!
//! It walks through several columns at once. Entries whose addresses end in the same bits compete for the same places in
//! caches and memory, and allocators like to begin all large blocks alike: with many threads the two largest columns of a
//! million grains came to lie whole multiples of 64 MB apart, and steps took a sixth longer. So large blocks
//! begin at other addresses modulo [`TURN`] than the last few before them; where one grows, it is copied to another place.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The allocator of the system, which asks for large pages around large blocks and staggers the largest.
pub struct LargePages;

/// Blocks from this size on \[byte\] get large pages: columns, not strings.
const LARGE: usize = 32 << 10;

/// Blocks from this size on \[byte\] are staggered.
const STAGGERED: usize = 1 << 20;

/// Where blocks begin is staggered over so much \[byte\]: what one way of a second cache of 2 MB holds.
const TURN: usize = 128 << 10;

/// From where one block begins to where the next one does \[byte\]: near the golden section of a turn, and an eighth of a page
/// less than whole pages, so that any eight blocks in turn lie far apart in both.
const STRIDE: usize = 81_408;

/// A cache line: staggered blocks begin with one, and have at least one before them \[byte\].
const LINE: usize = 64;

/// Where the next staggered block begins.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Whether such a block is staggered.
fn is_staggered(layout: Layout) -> bool {
    layout.size() >= STAGGERED && layout.align() <= LINE
}

/// What has to be asked of the system for a staggered block, if there can be so much.
fn with_room(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(LINE + TURN)?, align_of::<usize>()).ok()
}

/// How much of memory at an address is skipped, a line at least, for a block that is to begin at `wanted` modulo a turn
/// \[byte\].
fn skipped(address: usize, wanted: usize) -> usize {
    LINE + wanted.wrapping_sub(address + LINE) % TURN
}

/// Puts a staggered block into memory got from the system, which is nowhere if there was none. `next` tells where it is to
/// begin, and goes on.
///
/// # Safety
/// The memory has [room](with_room) for the block.
unsafe fn stagger(memory: *mut u8, next: &AtomicUsize) -> *mut u8 {
    if memory.is_null() {
        return memory;
    }
    let skipped = skipped(memory as usize, next.fetch_add(STRIDE, Ordering::Relaxed));
    // SAFETY: less than a line and a turn is skipped, and at least a line, which has room for the number.
    unsafe {
        let block = memory.add(skipped);
        block.cast::<usize>().sub(1).write(skipped);
        black_box(block)
    }
}

/// The memory that a staggered block was put into.
///
/// The number lies before the block, where nothing of it is. Where the compiler has put the giving back of a new block into the
/// function that asks for it, but not the making, it may take the number for a zero or for anything, and the other way round
/// for never read. So neither may see that it is the same block: both go through [`black_box`].
///
/// # Safety
/// The block was staggered.
unsafe fn memory_of(block: *mut u8) -> *mut u8 {
    let block = black_box(block);
    // SAFETY: the number was left there.
    unsafe { block.sub(block.cast::<usize>().sub(1).read()) }
}

/// Asks for large pages around a block.
fn ask(block: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= LARGE && !block.is_null() {
        const PAGE: usize = 2 << 20;
        let first = block as usize / PAGE * PAGE;
        let end = (block as usize + size).next_multiple_of(PAGE);
        // SAFETY: advice on how to back memory changes nothing in it, whoever it belongs to. Where there is none, or
        // the system has no such pages, the call tells so, and nothing is lost.
        unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, size, LARGE);
}

/// A block by one of the functions of the system's allocator.
///
/// # Safety
/// That function's.
unsafe fn block_by(of_system: unsafe fn(&System, Layout) -> *mut u8, layout: Layout) -> *mut u8 {
    if !is_staggered(layout) {
        // SAFETY: the caller's.
        let block = unsafe { of_system(&System, layout) };
        ask(block, layout.size());
        return block;
    }
    let Some(wide) = with_room(layout) else { return std::ptr::null_mut() };
    // SAFETY: the size is not zero, and there is room for the block.
    unsafe {
        let memory = of_system(&System, wide);
        ask(memory, wide.size());
        stagger(memory, &NEXT)
    }
}

// SAFETY: all work is that of the allocator of the system. Staggered blocks lie within what it gave, on a line, and whether a
// block is one follows from its layout.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { block_by(System::alloc, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { block_by(System::alloc_zeroed, layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's; a staggered block could be had, so its layout has room.
        unsafe {
            match is_staggered(layout).then(|| with_room(layout)).flatten() {
                Some(wide) => System.dealloc(memory_of(block), wide),
                None => System.dealloc(block, layout),
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            if !is_staggered(layout) && !is_staggered(wanted) {
                let block = System.realloc(block, layout, size);
                ask(block, size);
                return block;
            }
            let to = self.alloc(wanted);
            if !to.is_null() {
                to.copy_from_nonoverlapping(block, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).unwrap()
    }

    #[test]
    fn any_eight_blocks_in_turn_begin_on_lines_far_from_each_other_in_pages_and_turns() {
        // Each at the same place of its memory, which begins on a turn.
        let mut memory = vec![0_u8; 3 * TURN];
        let whole = memory.as_mut_ptr();
        let first = (whole as usize).next_multiple_of(TURN) - whole as usize;
        let next = AtomicUsize::new(0);
        let begin = |_| {
            // SAFETY: there is room for a line, a turn and a block without a length behind it.
            let (at, block) = unsafe { (whole.add(first), stagger(whole.add(first), &next)) };
            // SAFETY: it was staggered.
            assert_eq!(unsafe { memory_of(block) }, at);
            block as usize - at as usize
        };
        let begins: Vec<usize> = (0..1000).map(begin).collect();
        assert!(begins.iter().all(|begin| begin % LINE == 0 && (LINE..LINE + TURN).contains(begin)));
        for (k, a) in begins.iter().enumerate() {
            for b in begins.iter().skip(k + 1).take(7) {
                for (modulo, least) in [(4096, 512), (TURN, TURN / 10)] {
                    let apart = a.abs_diff(*b) % modulo;
                    assert!(apart.min(modulo - apart) >= least, "{a:x} and {b:x} modulo {modulo}");
                }
            }
        }
    }

    #[test]
    fn blocks_keep_what_is_in_them_when_they_grow_and_shrink() {
        let sizes = [1000, STAGGERED - 1, STAGGERED, 3 * STAGGERED, STAGGERED + 7, 500_000, 100];
        // SAFETY: each call has the layout of the one before; no more is written and read than there is.
        unsafe {
            let mut block = LargePages.alloc(layout(sizes[0]));
            for two in sizes.windows(2) {
                (0..two[0]).for_each(|k| *block.add(k) = (k % 251) as u8);
                block = LargePages.realloc(block, layout(two[0]), two[1]);
                assert!((0..two[0].min(two[1])).all(|k| usize::from(*block.add(k)) == k % 251), "{two:?}");
                assert_eq!(block as usize % LINE, 0);
            }
            LargePages.dealloc(block, layout(100));
            let zeroed = LargePages.alloc_zeroed(layout(2 * STAGGERED));
            assert!((0..2 * STAGGERED).all(|k| *zeroed.add(k) == 0));
            LargePages.dealloc(zeroed, layout(2 * STAGGERED));
        }
    }

    #[test]
    fn more_than_there_can_be_is_nowhere() {
        let most = Layout::from_size_align(isize::MAX as usize - LINE, LINE).unwrap();
        assert!(with_room(most).is_none());
        // SAFETY: nothing is done with it.
        assert!(unsafe { LargePages.alloc(most) }.is_null());
    }
}
