#![no_main]

mod json;

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    json::mutate(data, size, max_size, seed, 1)
});
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolcrib_fuzz::openapi::check(bytes));
