//! Files that are part of the program, by their paths below a folder of the checkout.

/// The named files of a folder, each as its path and its text. `tests/tidy.rs` sees to it that none is forgotten.
macro_rules! embedded_files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $file)))),+]
    };
}
pub(crate) use embedded_files;
