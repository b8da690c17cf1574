#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// fake-model.js PORTFILE LOGFILE PLAN: a stand-in for a model, on loopback.
//
// Speaks Anthropic messages, OpenAI chat completions and responses, and Gemini.  PLAN is JSON:
// {"steps": [{"cmd": "..."} or {"path": "...", "content": "..."}], "final": "text"}.  Step k is
// sent as a tool call when the conversation holds k tool results; the text comes after the last.
'use strict';
const fs = require('fs');
const http = require('http');

const [portFile, logFile, planText] = process.argv.slice(2);
const plan = JSON.parse(planText);

const SHELL = /^(bash|shell|run_shell_command|exec_command|shell_command|local_shell|execute_bash)$/i;
const WRITE = /^(write|write_file)$/i;

function placeholder(schema, type) {
  if (schema.enum) return schema.enum[0];
  return { boolean: false, array: [], number: 1000, integer: 1000, object: {} }[type] ?? 'x';
}

// Arguments for a tool, made from the schema that the agent sent along.
function fill(schema, step) {
  const properties = (schema && schema.properties) || {};
  const required = (schema && schema.required) || [];
  const result = {};
  for (const [name, property] of Object.entries(properties)) {
    const type = String([].concat(property.type)[0] || '').toLowerCase();
    if (name === 'command' || name === 'cmd') {
      result[name] = type === 'array' ? ['bash', '-lc', step.cmd] : step.cmd;
    } else if (/^(file_?path|absolute_path|path)$/i.test(name) && step.path) {
      result[name] = step.path;
    } else if (name === 'content' && step.content !== undefined) {
      result[name] = step.content;
    } else if (required.includes(name)) {
      result[name] = placeholder(property, type);
    }
  }
  return result;
}

// The tool call for the step that is due; null when only the final text is left.
function choose(tools, resultCount) {
  const step = plan.steps[resultCount];
  if (!step) return null;
  const tool = tools.find((candidate) => (step.path ? WRITE : SHELL).test(candidate.name));
  return tool ? { name: tool.name, arguments: fill(tool.schema, step) } : null;
}

function json(response, body, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stream(response, events, named) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    response.write((named ? `event: ${event.type}\n` : '') + `data: ${data}\n\n`);
  }
  response.end();
}

function anthropic(request, response) {
  const blocks = request.messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  const results = blocks.filter((block) => block.type === 'tool_result').length;
  const tools = (request.tools || []).map((tool) => ({ name: tool.name, schema: tool.input_schema }));
  const call = choose(tools, results);
  const usage = { input_tokens: 10, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const block = call
    ? { type: 'tool_use', id: `toolu_${results}`, name: call.name, input: call.arguments }
    : { type: 'text', text: plan.final };
  const reason = call ? 'tool_use' : 'end_turn';
  const message = { id: `msg_${Date.now()}`, type: 'message', role: 'assistant', model: request.model, usage };
  if (!request.stream) {
    return json(response, { ...message, content: [block], stop_reason: reason, stop_sequence: null });
  }
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) }
    : { type: 'text_delta', text: plan.final };
  return stream(response, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ], true);
}

function chat(request, response) {
  const results = request.messages.filter((message) => message.role === 'tool').length;
  const tools = (request.tools || []).map((tool) => ({ name: tool.function.name, schema: tool.function.parameters }));
  const call = choose(tools, results);
  const base = { id: `chatcmpl-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: request.model };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const message = call
    ? { role: 'assistant', content: null, tool_calls: [{ index: 0, id: `call_${results}`, type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) } }] }
    : { role: 'assistant', content: plan.final };
  const reason = call ? 'tool_calls' : 'stop';
  if (!request.stream) {
    return json(response, { ...base, object: 'chat.completion', usage,
      choices: [{ index: 0, message, finish_reason: reason }] });
  }
  const chunk = (delta, finish) => ({ ...base, object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }] });
  return stream(response, [chunk(message, null), chunk({}, reason),
    { ...base, object: 'chat.completion.chunk', choices: [], usage }, '[DONE]']);
}

function responses(request, response) {
  const items = Array.isArray(request.input) ? request.input : [];
  const results = items.filter((item) => /_call_output$/.test(item.type || '')).length;
  const tools = (request.tools || [])
    .filter((tool) => tool.type === 'function' || tool.type === 'local_shell')
    .map((tool) => ({ name: tool.name || tool.type, schema: tool.parameters }));
  const call = choose(tools, results);
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 20 };
  const item = call
    ? { type: 'function_call', id: `fc_${results}`, call_id: `call_${results}`, name: call.name,
      arguments: JSON.stringify(call.arguments), status: 'completed' }
    : { type: 'message', id: `msg_${results}`, role: 'assistant', status: 'completed',
      content: [{ type: 'output_text', text: plan.final, annotations: [] }] };
  const whole = { id: `resp_${Date.now()}`, object: 'response', status: 'completed', model: request.model,
    output: [item], usage };
  if (!request.stream) return json(response, whole);
  return stream(response, [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ], true);
}

function gemini(request, response, streaming) {
  const parts = (request.contents || []).flatMap((content) => content.parts || []);
  const results = parts.filter((part) => part.functionResponse).length;
  const tools = (request.tools || []).flatMap((tool) => tool.functionDeclarations || [])
    .map((tool) => ({ name: tool.name, schema: tool.parametersJsonSchema || tool.parameters }));
  const call = tools.length > 0 ? choose(tools, results) : null;
  const config = request.generationConfig || {};
  const routing = { reasoning: 'x', next_speaker: 'user', model_choice: 'flash', complexity_score: 1,
    complexity_reasoning: 'x' };
  const text = config.responseMimeType === 'application/json' ? JSON.stringify(routing) : plan.final;
  const part = call ? { functionCall: { id: `c${results}`, name: call.name, args: call.arguments } } : { text };
  const body = {
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion: 'fake',
  };
  return streaming ? stream(response, [body]) : json(response, body);
}

function answer(method, path, body, response) {
  if (path.endsWith('/count_tokens')) return json(response, { input_tokens: 10 });
  if (path.endsWith('/messages')) return anthropic(body, response);
  if (path.endsWith('/chat/completions')) return chat(body, response);
  if (path.endsWith('/responses')) return responses(body, response);
  if (path.includes(':streamGenerateContent')) return gemini(body, response, true);
  if (path.includes(':generateContent')) return gemini(body, response, false);
  if (path.includes(':countTokens')) return json(response, { totalTokens: 10 });
  if (path.endsWith('/models')) {
    return json(response, { object: 'list', data: [{ id: 'fake', object: 'model' }], models: [] });
  }
  return json(response, {}, method === 'HEAD' ? 200 : 404);
}

const server = http.createServer((request, response) => {
  let text = '';
  request.on('data', (data) => { text += data; });
  request.on('end', () => {
    const path = request.url.split('?')[0];
    fs.appendFileSync(logFile, JSON.stringify({ method: request.method, path }) + '\n');
    try {
      answer(request.method, path, text ? JSON.parse(text) : {}, response);
    } catch (error) {
      fs.appendFileSync(logFile, JSON.stringify({ error: String(error.stack) }) + '\n');
      json(response, { error: { message: String(error) } }, 500);
    }
  });
});
server.listen(0, '127.0.0.1', () => fs.writeFileSync(portFile, String(server.address().port)));
process.on('SIGTERM', () => process.exit(0));
