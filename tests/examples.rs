//! The examples are run, so that what they show is so.

#[path = "../examples/agent_loop.rs"]
mod agent_loop;
#[path = "../examples/search.rs"]
mod search;
#[path = "../examples/seed_workspace.rs"]
mod seed_workspace;

#[test]
fn a_workspace_is_seeded() -> Result<(), Box<dyn std::error::Error>> {
    seed_workspace::main()
}

#[test]
fn an_agent_loop_ends() -> Result<(), Box<dyn std::error::Error>> {
    agent_loop::main()
}

#[test]
fn tools_are_found() -> Result<(), Box<dyn std::error::Error>> {
    search::main()
}
