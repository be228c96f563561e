//! Large pages for large memory.
//!
//! A step walks through tens of megabytes of columns. In pages of 4 kB the processor has to look up where each lies more
//! often than its tables hold; in pages of 2 MB it does not. Linux gives them to those who ask.

use std::alloc::{GlobalAlloc, Layout, System};

/// The allocator of the system, which asks for large pages around large blocks.
pub struct LargePages;

/// Blocks from this size on \[byte\]: columns, not strings.
const LARGE: usize = 32 << 10;

impl LargePages {
    fn ask(block: *mut u8, size: usize) {
        #[cfg(target_os = "linux")]
        if size >= LARGE && !block.is_null() {
            const PAGE: usize = 2 << 20;
            let first = block as usize / PAGE * PAGE;
            let end = (block as usize + size).next_multiple_of(PAGE);
            // SAFETY: advice on how to back memory changes nothing in it, whoever it belongs to. Where there is none, or
            // the system has no such pages, the call fails and nothing happens.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (block, size, LARGE);
    }
}

// SAFETY: all work is that of the allocator of the system.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let block = unsafe { System.alloc(layout) };
        Self::ask(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let block = unsafe { System.alloc_zeroed(layout) };
        Self::ask(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        let block = unsafe { System.realloc(block, layout, size) };
        Self::ask(block, size);
        block
    }
}
