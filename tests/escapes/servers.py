# SPDX-License-Identifier: Apache-2.0
"""servers.py - what denied and allowed programs try to reach, and what was seen of them.

Every attempt has addresses of its own, so what arrives says by itself whose it is.
"""
import os
import selectors
import socket
import struct
import threading

IP_PKTINFO = 8


def address(index, denied):
    """The IPv4 address of an attempt: 127.2.x.y is denied by the policy, 127.1.x.y allowed."""
    return "127.%d.%d.%d" % (2 if denied else 1, 1 + index // 200, 1 + index % 200)


class Servers:
    """Servers in a thread; `seen` holds (attempt, denied), `ids` the peers' user and group."""

    def __init__(self, names, nonce):
        self.seen, self.bound, self.ids = set(), set(), {}
        self.names, self.nonce = names, nonce
        self.selector = selectors.DefaultSelector()
        self.by_address = {address(i, denied): (name, denied)
                           for i, name in enumerate(names) for denied in (True, False)}
        self.open = []
        self.port = self._inet()
        self.stop, self.wake = os.pipe()
        self.selector.register(self.stop, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _keep(self, sock, handle):
        sock.setblocking(False)
        self.open.append(sock)
        self.selector.register(sock, selectors.EVENT_READ, (sock, handle))

    def _inet(self):
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.bind(("0.0.0.0", 0))
        tcp.listen(500)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        udp.bind(("0.0.0.0", tcp.getsockname()[1]))
        self._keep(tcp, self._tcp)
        self._keep(udp, self._udp)
        return tcp.getsockname()[1]

    def unix(self, name, denied, stream, dgram, passed=None):
        """The Unix sockets of an attempt; `passed`: a file whose descriptor is handed over."""
        abstract = "\0awesc-%s-%s-%s" % (self.nonce, "deny" if denied else "open", name)
        for where, kind in ((stream, socket.SOCK_STREAM), (abstract, socket.SOCK_STREAM),
                            (dgram, socket.SOCK_DGRAM)):
            sock = socket.socket(socket.AF_UNIX, kind)
            sock.bind(where)
            if where[0] != "\0":
                os.chmod(where, 0o777)
            if kind == socket.SOCK_STREAM:
                sock.listen(20)
                self._keep(sock, lambda s, n=name, d=denied: self._unix(s, n, d, passed))
            else:
                self._keep(sock, lambda s, n=name, d=denied: self._dgram(s, n, d))

    def _tcp(self, sock):
        peer = sock.accept()[0]
        self.seen.add(self.by_address.get(peer.getsockname()[0]))
        peer.close()

    def _udp(self, sock):
        _data, extra, _flags, source = sock.recvmsg(100, 100)
        for _level, kind, data in extra:
            if kind == IP_PKTINFO:
                self.seen.add(self.by_address.get(socket.inet_ntoa(data[8:12])))
        self.bound.add(self.by_address.get(source[0]))

    def _unix(self, sock, name, denied, passed):
        peer = sock.accept()[0]
        self.seen.add((name, denied))
        pid, uid, gid = struct.unpack("iii", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        self.ids[name, denied] = (uid, gid)
        try:
            if passed:
                fd = os.open(passed, os.O_RDONLY)
                socket.send_fds(peer, [b"x"], [fd])
                os.close(fd)
            else:
                peer.send(b"uid %d gid %d pid %d\n" % (uid, gid, pid))
        except OSError:
            pass
        peer.close()

    def _dgram(self, sock, name, denied):
        sock.recv(100)
        self.seen.add((name, denied))

    def _serve(self):
        while True:
            for key, _events in self.selector.select():
                if key.data is None:
                    return
                try:
                    key.data[1](key.data[0])
                except OSError:
                    pass

    def start(self):
        self.thread.start()

    def close(self):
        os.write(self.wake, b"x")
        self.thread.join()
        for sock in self.open:
            sock.close()
        os.close(self.stop)
        os.close(self.wake)
        self.selector.close()
