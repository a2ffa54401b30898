//! Whose program is at the other end of a connection.
//!
//! A client's base URL names no user, and what it sends as its key is for the vendor. But the kernel knows whose socket it is:
//! asked by netlink for the one socket of a connection, it answers with its owner. Where it cannot be asked, nobody is known.

use std::net::{IpAddr, SocketAddr};

/// Whose program asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The user who runs the gateway, or the one who may do everything.
    Same,
    /// Somebody else on this machine.
    Other,
    /// The system does not say.
    Unknown,
}

/// Says whose socket `client` is, in its connection with `server`.
pub(crate) fn of(client: SocketAddr, server: SocketAddr) -> Peer {
    match owner(client, server) {
        Some(0) => Peer::Same,
        Some(uid) if uid == rustix::process::geteuid().as_raw() => Peer::Same,
        Some(_) => Peer::Other,
        None => Peer::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
fn owner(_client: SocketAddr, _server: SocketAddr) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
fn owner(client: SocketAddr, server: SocketAddr) -> Option<u32> {
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kernel =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG)).ok()?;
    send(&kernel, &question(client, server), SendFlags::empty()).ok()?;
    let mut answer = [0; 512];
    let (_, n_read) = recv(&kernel, &mut answer[..], RecvFlags::empty()).ok()?;
    read(answer.get(..n_read)?)
}

/// `SOCK_DIAG_BY_FAMILY`: the kind of the question, and of its answer.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// The header of a netlink message.
const HEADER: usize = 16;
/// Where the owner stands in `struct inet_diag_msg`: after four bytes, the id of the socket, and three numbers.
const OWNER: usize = 4 + 48 + 12;

/// `struct nlmsghdr` and `struct inet_diag_req_v2`: the one socket with these two ends.
fn question(client: SocketAddr, server: SocketAddr) -> Vec<u8> {
    const TCP: u8 = 6;
    let family = if client.is_ipv4() { 2 } else { 10 };
    let mut body = vec![family, TCP, 0, 0];
    body.extend(u32::MAX.to_ne_bytes()); // in whichever state
    body.extend(client.port().to_be_bytes());
    body.extend(server.port().to_be_bytes());
    body.extend(address(client.ip()));
    body.extend(address(server.ip()));
    body.extend(0_u32.to_ne_bytes()); // on whichever interface
    body.extend([0xff; 8]); // without a cookie
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]); // the first message, from nobody in particular
    message.extend(body);
    message
}

fn address(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
    }
}

fn read(answer: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let owner = answer.get(HEADER + OWNER..HEADER + OWNER + 4)?;
    (kind == BY_FAMILY).then_some(u32::from_ne_bytes(owner.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// S14.
    #[cfg(target_os = "linux")]
    #[test]
    fn s14_the_kernel_says_whose_socket_it_is() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(local) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let uid = rustix::process::geteuid().as_raw();
            assert_eq!(owner(peer, server.local_addr().unwrap()), Some(uid), "{local}");
            assert_eq!(of(peer, server.local_addr().unwrap()), Peer::Same);
            drop(client);
        }
    }

    #[test]
    fn a_connection_that_is_not_there_has_no_owner() {
        let nowhere = "127.0.0.1:9".parse().unwrap();
        assert_eq!(of(nowhere, nowhere), Peer::Unknown);
        assert_eq!(read(&[0; 10]), None);
        assert_eq!(read(&[0; 200]), None);
    }
}
