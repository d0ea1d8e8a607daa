//! The pages of whole catalogs: of real ones, and of ones that mean harm.

mod catalogs;
mod fixture;
mod hostile;
mod index;
