# SPDX-License-Identifier: Apache-2.0
"""servers.py - rows that measure by themselves: what goes over a connection, calls of an MCP server.

Each takes the bench, a row and a way, and returns pairs of seconds (bare, watched); the start-up
of the command, which has a row of its own, is not in them.
"""
import json
import os
import shutil
import subprocess
import time

MEGABYTES = 2048
CALLS = 1000


def alternating(bench, row, way, command, measure):
    found = []
    for number in range(max(3, round(bench.pairs * row.weight)) + 1):
        took = {}
        for which in ("bare", "watched") if number % 2 else ("watched", "bare"):
            # the policy is made when the server is there, whose port it has
            words = bench.watch(way.how, command, bench.log_of(way)) if which == "watched" else command
            took[which] = measure(words)
        if number:
            found.append((took["bare"], took["watched"]))
    return found


def throughput(bench, row, way):
    """Bytes through a connection that the policy allows: none of them should pass through us."""
    command = [bench.compiled("connect_loop"), "flood", str(MEGABYTES), str(bench.served_port())]

    def flood(words):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"the sender ended with {done.returncode}: {done.stderr[-200:]}")
        return float(done.stdout)
    return alternating(bench, row, way, command, flood)


class Client:
    """The host's side of a server on pipes: JSON-RPC, a line each way."""

    def __init__(self, words, cwd):
        self.server = subprocess.Popen(words, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, method, params, **more):
        line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more})
        self.server.stdin.write(line.encode() + b"\n")
        self.server.stdin.flush()

    def call(self, method, params):
        self.number += 1
        self.send(method, params, id=self.number)
        while True:
            line = self.server.stdout.readline()
            if not line:
                raise RuntimeError("the MCP server has ended")
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if answer.get("id") == self.number and "method" not in answer:
                return answer

    def close(self):
        self.server.stdin.close()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()


def mcp(bench, row, way):
    """One tool call after the other, each of which opens a file."""
    modules = os.path.join(bench.agents, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
    if not shutil.which("node") or not os.path.exists(modules):
        raise LookupError("no MCP server in AW_AGENTS_DIR")
    folder = bench.once("served", os.makedirs)
    with open(f"{folder}/file", "w") as file:
        file.write("some text\n")
    command = [shutil.which("node"), modules, folder]

    def round_trips(words):
        client = Client(words, folder)
        try:
            client.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
            client.send("notifications/initialized", {})
            start = None
            for number in range(CALLS + 20):
                if number == 20:  # what the first ones cost is the start's
                    start = time.perf_counter()
                answer = client.call("tools/call", {"name": "read_text_file", "arguments": {"path": f"{folder}/file"}})
                if "some text" not in json.dumps(answer):
                    raise RuntimeError(f"the MCP server answered {json.dumps(answer)[:200]}")
            return (time.perf_counter() - start) / CALLS
        finally:
            client.close()
    return alternating(bench, row, way, command, round_trips)
