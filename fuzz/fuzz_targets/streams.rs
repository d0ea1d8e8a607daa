#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolcrib_fuzz::streams::check(bytes));
