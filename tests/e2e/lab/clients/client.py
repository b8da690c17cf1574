# SPDX-License-Identifier: Apache-2.0
"""client.py KIND HOST - the ways in which Python programs speak to a host."""
import asyncio
import selectors
import socket
import sys
import urllib.request


def urllib_get(host):
    print(urllib.request.urlopen(f"http://{host}/hello", timeout=10).read().decode().strip())


def blocking(host):
    with socket.create_connection((host, 7007), 10) as s:
        s.sendall(b"echo")
        print(s.recv(64).decode())


def selecting(host):
    """A non-blocking connect that is watched before it begins, over a duplicate."""
    family, kind, _, _, to = socket.getaddrinfo(host, 7007, type=socket.SOCK_STREAM)[0]
    s = socket.socket(family, kind)
    s.setblocking(False)
    selector, copy = selectors.EpollSelector(), s.dup()
    selector.register(s, selectors.EVENT_WRITE)
    try:
        s.connect(to)
    except BlockingIOError:
        pass
    if not selector.select(5):
        raise OSError("no connection")
    error = copy.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, "connect")
    copy.sendall(b"echo")
    selector.modify(s, selectors.EVENT_READ)
    if not selector.select(5):
        raise OSError("no answer")
    print(s.recv(64).decode())


def datagram(host, connected):
    family, kind, _, _, to = socket.getaddrinfo(host, 7007, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as s:
        s.settimeout(5)
        if connected:
            s.connect(to)
            s.send(b"echo")
        else:
            s.sendto(b"echo", to)
        data, sender = s.recvfrom(64)
        print(data.decode() if sender[:2] == to[:2] else f"from {sender}")


async def streams(host):
    reader, writer = await asyncio.wait_for(asyncio.open_connection(host, 7007), 10)
    writer.write(b"echo")
    print((await asyncio.wait_for(reader.read(64), 5)).decode())
    writer.close()


async def many(host):
    """Twenty at a time, with threads for the names."""
    async def one(number):
        reader, writer = await asyncio.open_connection(host, 7007)
        writer.write(b"%d" % number)
        text = (await reader.read(64)).decode()
        writer.close()
        return text == str(number)
    done = await asyncio.wait_for(asyncio.gather(*map(one, range(20))), 10)
    print("echo" if all(done) else "mixed up")


class Echo(asyncio.DatagramProtocol):
    def __init__(self, done):
        self.done = done

    def datagram_received(self, data, addr):
        self.done.done() or self.done.set_result(data.decode())

    def error_received(self, exc):
        self.done.done() or self.done.set_exception(exc)


async def datagrams(host):
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(lambda: Echo(done), remote_addr=(host, 7007))
    transport.sendto(b"echo")
    print(await asyncio.wait_for(done, 5))
    transport.close()


KINDS = {
    "urllib": urllib_get, "blocking": blocking, "selecting": selecting,
    "udp": lambda host: datagram(host, False), "udp-connected": lambda host: datagram(host, True),
    "asyncio": lambda host: asyncio.run(streams(host)), "asyncio-many": lambda host: asyncio.run(many(host)),
    "asyncio-udp": lambda host: asyncio.run(datagrams(host)),
}
try:
    KINDS[sys.argv[1]](sys.argv[2])
except (OSError, asyncio.TimeoutError) as e:
    print(type(e).__name__, e)
    sys.exit(1)
