//! Descriptions as Markdown: their HTML is rewritten, and a parser reads their lines.
//!
//! 1. [`from_html`] makes Markdown of HTML, entities and escapes, once for each text; [`without_prompt_tags`] drops the tags
//!    of prompts.
//! 2. [`Inline`] has what Markdown reads in one line: code, links and emphasis.
//! 3. [`bullet`] and [`item`] know the lines of a list, and [`Fences`] the lines of code.

mod html;
mod inline;
mod lines;

pub use html::{from_html, without_prompt_tags};
pub use inline::{Edit, Emphasis, Inline, Link, edited};
pub use lines::{Fences, bullet, item};
