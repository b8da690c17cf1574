#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// acp.js COMMAND [ARG...]: an Agent Client Protocol client over stdio.
//
// initialize, session/new, one session/prompt; file and permission requests of the agent are
// answered.  Prints one JSON object: the results and how often each message came.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', process.env.ACP_ERR ? 'inherit' : 'ignore'] });
const waiting = new Map();
const seen = {};
let lastId = 0;
let rest = '';

const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

function call(method, params) {
  lastId += 1;
  send({ id: lastId, method, params });
  return new Promise((resolve) => waiting.set(lastId, resolve));
}

const handlers = {
  'session/request_permission': ({ options }) => {
    const allow = options.find((option) => /allow/.test(option.kind)) || options[0];
    return { result: { outcome: { outcome: 'selected', optionId: allow.optionId } } };
  },
  'fs/write_text_file': ({ path, content }) => {
    fs.writeFileSync(path, content);
    return { result: null };
  },
  'fs/read_text_file': ({ path }) => ({ result: { content: fs.readFileSync(path, 'utf8') } }),
};

function onRequest(message) {
  const update = message.params && message.params.update;
  const name = message.method + (update ? `:${update.sessionUpdate}` : '');
  seen[name] = (seen[name] || 0) + 1;
  if (message.id === undefined) return;
  const handler = handlers[message.method];
  try {
    send({ id: message.id, ...(handler ? handler(message.params) : { error: { code: -32601, message: 'no' } }) });
  } catch (error) {
    send({ id: message.id, error: { code: -32002, message: String(error) } });
  }
}

function onLine(line) {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message.method) onRequest(message);
  else if (waiting.has(message.id)) waiting.get(message.id)(message);
}

child.stdout.on('data', (data) => {
  rest += data;
  for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    onLine(line);
  }
});

function done(report, status) {
  console.log(JSON.stringify({ ...report, seen }));
  child.stdin.end();
  child.kill();
  setTimeout(() => process.exit(status), 200);
}

child.on('error', (error) => done({ error: String(error) }, 1));
setTimeout(() => done({ error: 'timeout' }, 1), Number(process.env.ACP_TIMEOUT || 60000));

(async () => {
  const files = Boolean(process.env.ACP_FS);
  const first = await call('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: files, writeTextFile: files }, terminal: false },
  });
  const session = await call('session/new', { cwd: process.cwd(), mcpServers: [] });
  if (!session.result) return done({ initialize: first.result, error: session.error }, 1);
  const prompt = await call('session/prompt', {
    sessionId: session.result.sessionId, prompt: [{ type: 'text', text: 'do it' }],
  });
  return done({ version: first.result.protocolVersion, prompt: prompt.result || prompt.error }, prompt.result ? 0 : 1);
})();
