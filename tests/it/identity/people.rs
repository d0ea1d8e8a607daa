//! People sign in to the pages.
