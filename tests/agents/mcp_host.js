#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// mcp_host.js FILE: an agent as far as MCP servers go: starts several, calls tools, prints answers.
//
// FILE holds one server a line: {"name":…, "argv":[…], "tools":[{"name":…,"arguments":…}…]}.
// Each answer is one line on stdout, "NAME: TEXT", after all servers have been asked.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');

const servers = fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l));
const greeting = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } };

function textOf({ result, error }) {
  const text = error ? error.message : (result.content || []).map((c) => c.text || '').join(' ');
  return text.replace(/\s+/g, ' ').trim();
}

// Speak with one server; the promise holds its lines.
function ask({ name, argv, tools }) {
  return new Promise((resolve) => {
    const child = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = [];
    let rest = '';
    const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    child.stdin.on('error', () => {});
    send({ id: 0, method: 'initialize', params: greeting });
    child.stdout.on('data', (data) => {
      rest += data;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const message = JSON.parse(rest.slice(0, end));
        rest = rest.slice(end + 1);
        if (message.id === undefined || message.method) continue;
        if (message.id === 0) send({ method: 'notifications/initialized' });
        else lines.push(`${name}: ${textOf(message)}`);
        const tool = tools[message.id];
        if (tool) send({ id: message.id + 1, method: 'tools/call', params: tool });
        else child.stdin.end();
      }
    });
    const late = setTimeout(() => child.kill('SIGKILL'), 20000);
    child.on('error', (e) => lines.push(`${name}: ${e.message}`));
    child.on('close', (code, signal) => {
      clearTimeout(late);
      if (lines.length < tools.length) lines.push(`${name}: ended with ${signal || code}`);
      resolve(lines);
    });
  });
}

Promise.all(servers.map(ask)).then((all) => console.log(all.flat().join('\n')));
