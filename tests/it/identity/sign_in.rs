//! A person signs in to the servers behind toolcrib.
