//! What the product promises, tested through the library and, where the command line is concerned, the program.

mod calls;
mod catalogs;
mod check;
mod discovery;
mod docs;
mod doors;
mod eval;
mod fixture;
mod formats;
mod hostile;
mod import;
mod kill;
mod live;
mod mcp;
mod ops;
mod payload;
mod prompt;
mod read_tool_doc;
mod repair;
mod rules;
mod seed;
mod serve;
mod site;
mod tokens;
mod watch;
