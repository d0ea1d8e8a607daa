//! The `toolcrib` program: hands its arguments to the command line and returns its exit code.

/// Catalogs are millions of small values; this allocator takes a third off reading and binding them. Its feature `no_thp`
/// keeps it from asking for huge pages, which would hold 2 MiB for each few values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    toolcrib::cli::main()
}
