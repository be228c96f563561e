//! Files of Esker.
