#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// mcp.js REQUESTS COMMAND [ARG...]: send a fixed script of JSON-RPC lines to an MCP server.
//
// REQUESTS holds one message a line; each request waits for its answer before the next is sent.
// Everything the server writes to stdout goes to our stdout byte for byte; the status is its own.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');

const [requests, command, ...args] = process.argv.slice(2);
const messages = fs.readFileSync(requests, 'utf8').split('\n').filter(Boolean);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
let rest = '';
let waitingFor;

function next() {
  while (messages.length > 0) {
    const line = messages.shift();
    child.stdin.write(line + '\n');
    waitingFor = JSON.parse(line).id;
    if (waitingFor !== undefined) return;
  }
  child.stdin.end();
}

child.stdout.on('data', (data) => {
  process.stdout.write(data);
  rest += data;
  for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
    const { id } = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    if (id !== undefined && id === waitingFor) next();
  }
});

const late = setTimeout(() => child.kill('SIGKILL'), 30000);
child.on('exit', (code, signal) => {
  clearTimeout(late);
  process.exitCode = signal ? 1 : code;
});
next();
