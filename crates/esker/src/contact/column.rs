//! Columns of numbers that a sweep reads here while it writes there.

use std::marker::PhantomData;
use std::ops::Index;

/// A column to be read. Other entries than the one read may be changed meanwhile by who made the column.
#[derive(Debug)]
pub struct Column<'a, T> {
    first: *const T,
    len: usize,
    marker: PhantomData<&'a T>,
}

impl<T> Clone for Column<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Column<'_, T> {}

// SAFETY: it only reads, as a slice does.
unsafe impl<T: Sync> Send for Column<'_, T> {}
// SAFETY: likewise.
unsafe impl<T: Sync> Sync for Column<'_, T> {}

impl<'a, T> Column<'a, T> {
    /// The column of `len` entries from `first` on.
    ///
    /// # Safety
    /// The entries must be there as long as the column. While one is borrowed it must not be changed.
    pub unsafe fn new(first: *const T, len: usize) -> Self {
        Self { first, len, marker: PhantomData }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the entries are.
    pub fn as_ptr(&self) -> *const T {
        self.first
    }
}

impl<'a, T> From<&'a [T]> for Column<'a, T> {
    fn from(all: &'a [T]) -> Self {
        Self { first: all.as_ptr(), len: all.len(), marker: PhantomData }
    }
}

impl<T> Index<usize> for Column<'_, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        assert!(i < self.len, "entry {i} of {}", self.len);
        // SAFETY: it is there, and not changed while borrowed.
        unsafe { &*self.first.add(i) }
    }
}
