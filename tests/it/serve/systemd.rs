//! A server that systemd starts, reloads and stops.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use super::Server;
use crate::fixture;

#[test]
fn systemd_hears_that_the_server_is_ready_and_stops_and_may_reload_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let told = || {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).trim().to_string()
    };
    let github = fixture::package().join("examples/github");
    let variables = [("NOTIFY_SOCKET", fixture::text(&path))];
    let mut server = Server::process(fixture::text(&github), &["--log-level", "debug"], &variables);
    assert_eq!(told(), "READY=1");
    server.signal("HUP");
    server.signal("HUP");
    assert_eq!(server.text("/healthz"), "ok\n");
    server.terminate();
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(server.ended(Duration::from_secs(60)), Some(0));
}
