# SPDX-License-Identifier: Apache-2.0
"""lingerer.py server READY | client - sockets that linger for an hour are closed.

The server never reads at port 9100 and answers at 9101.  The client leaves connections to
9100 behind whose close waits for the server (socket(7), SO_LINGER), by itself and by a
child that is killed in the middle of a call; meanwhile another process of its connects to
9101 and opens files.  Prints whether that one was held up.
"""
import os
import signal
import socket
import struct
import sys
import threading
import time

HOST = "192.0.2.20"


def server(ready):
    silent, echo = socket.socket(), socket.create_server((HOST, 9101), backlog=200)
    silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    silent.bind((HOST, 9100))
    silent.listen(100)
    kept = []

    def never_read():
        while True:
            one = silent.accept()[0]
            one.shutdown(socket.SHUT_WR)
            kept.append(one)

    threading.Thread(target=never_read, daemon=True).start()
    with open(ready, "w", encoding="ascii"):
        pass
    while True:
        one = echo.accept()[0]
        one.sendall(one.recv(1))
        one.close()


def connected():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    s.connect((HOST, 9100))
    return s


def say_all_and_end():
    """What is said has not arrived, and the server has said its end."""
    s = connected()
    s.sendall(bytes(100000))
    s.shutdown(socket.SHUT_WR)
    while s.recv(100):
        pass
    os._exit(0)


def leave_to_a_child():
    s = connected()
    s.setblocking(False)
    try:
        while s.send(bytes(65536)):
            pass
    except BlockingIOError:
        pass
    pid = os.fork()
    while pid == 0:  # watched calls with the socket
        try:
            s.sendmsg([b"x"], [], socket.MSG_DONTWAIT, (HOST, 9100))
        except OSError:
            pass
    s.detach()
    time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os._exit(0)


def other(until):
    held = 0.0
    while not os.path.exists(until):
        begin = time.monotonic()
        with socket.create_connection((HOST, 9101), timeout=20) as s:
            s.sendall(b"x")
            s.recv(1)
        os.close(os.open("probe", os.O_RDWR | os.O_CREAT, 0o600))
        held = max(held, time.monotonic() - begin)
        time.sleep(0.02)
    print("held up" if held > 5 else "not held up")


def client():
    pid = os.fork()
    if pid == 0:
        try:
            other("over")
        except OSError as error:
            print("held up", error)
        sys.stdout.flush()
        os._exit(0)
    for leave in [say_all_and_end, leave_to_a_child] * 4:
        maker = os.fork()
        if maker == 0:
            leave()
        os.waitpid(maker, 0)
    time.sleep(1)
    with open("over", "w", encoding="ascii"):
        pass
    os.waitpid(pid, 0)


server(sys.argv[2]) if sys.argv[1] == "server" else client()
