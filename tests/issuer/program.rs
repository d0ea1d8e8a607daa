//! The issuer as a program, for scripts: prints its address and runs until its input ends.
//!
//!     cargo run -p toolcrib-benches --bin issuer -- [ADDRESS:PORT]

#[path = "mod.rs"]
mod issuer;

use std::io::Read;

fn main() {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".into());
    let issuer = issuer::Issuer::at(address.parse().expect("an address and a port"));
    println!("{}", issuer.url());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
