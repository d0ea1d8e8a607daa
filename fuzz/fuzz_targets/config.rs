#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolcrib_fuzz::config::check(bytes));
