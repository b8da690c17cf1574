// SPDX-License-Identifier: Apache-2.0
// basic.rs - the basic attempts in a static Rust program: open, write, exec PATH, connect ADDRESS PORT
use std::io::Write;
use std::os::unix::process::CommandExt;

fn work(args: &[String]) -> std::io::Result<()> {
    match args[1].as_str() {
        "open" => std::io::stdout().write_all(&std::fs::read(&args[2])?),
        "write" => std::fs::write(&args[2], "changed\n"),
        "exec" => Err(std::process::Command::new(&args[2]).exec()),
        _ => std::net::TcpStream::connect(format!("{}:{}", args[2], args[3])).map(|_| ()),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Err(error) = work(&args) {
        std::process::exit(error.raw_os_error().unwrap_or(1));
    }
}
