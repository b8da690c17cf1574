// SPDX-License-Identifier: Apache-2.0
// client.rs - TCP and UDP of Rust's standard library, static: blocking, and with a time limit.
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

fn talk(kind: &str, host: &str) -> std::io::Result<String> {
    let limit = Some(Duration::from_secs(5));
    let mut data = [0u8; 64];
    let n = match kind {
        "udp" => {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.set_read_timeout(limit)?;
            let to = (host, 7007).to_socket_addrs()?.find(|a| a.is_ipv4()).unwrap();
            socket.send_to(b"echo", to)?;
            socket.recv_from(&mut data)?.0
        }
        _ => {
            let mut stream = match kind {
                "limited" => {
                    let to = (host, 7007).to_socket_addrs()?.next().unwrap();
                    TcpStream::connect_timeout(&to, Duration::from_secs(5))?
                }
                _ => TcpStream::connect((host, 7007))?,
            };
            stream.set_read_timeout(limit)?;
            stream.write_all(b"echo")?;
            stream.read(&mut data)?
        }
    };
    Ok(String::from_utf8_lossy(&data[..n]).into_owned())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    match talk(&words[1], &words[2]) {
        Ok(text) => println!("{}", text),
        Err(e) => {
            println!("{}", e);
            std::process::exit(1)
        }
    }
}
