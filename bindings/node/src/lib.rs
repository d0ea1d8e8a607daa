//! The core of toolcrib as a module of Node. A thin layer: JSON text goes in and out, and the package makes objects of it.
//! What takes long can be done beside the event loop.

mod aside;
mod catalog;
mod error;
mod session;
