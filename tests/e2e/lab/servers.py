#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""servers.py FOLDER ADDRESS... - all of the lab's servers that are ours, in one process.

FOLDER/zone has the names, the first two addresses are those of the name server; FOLDER/ready says that
all listen.  Ports: 53, 80 and 8080, 443 and 8443 (with a certificate), 1080 SOCKS5, 7007 echo.
"""
import os
import sys
import threading

import dns
import socks
import web

folder, addresses = sys.argv[1], sys.argv[2:]
dns.start(os.path.join(folder, "zone"), os.path.join(folder, "dns.log"), addresses[:2])
socks.start(os.path.join(folder, "socks.log"), 1080, 7007, addresses[2:])
web.start(folder, (80, 8080), (443, 8443) if os.path.exists(os.path.join(folder, "cert.pem")) else ())
open(os.path.join(folder, "ready"), "w").close()
threading.Event().wait()
