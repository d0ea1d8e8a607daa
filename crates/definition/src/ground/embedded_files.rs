//! Files of a crate that are part of the program.

/// The named files of a folder of a crate, each as its path and its text. `tests/tidy.rs` checks that the list is complete.
#[macro_export]
macro_rules! embedded_files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $file)))),+]
    };
}
