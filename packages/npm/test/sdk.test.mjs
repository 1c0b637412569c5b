// The official SDKs as sources: the response of a request, and the events that they have parsed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { read } from "reknit";

import { bytesOf, serving } from "./replay.mjs";

const expected = JSON.parse(readFileSync(`${process.env.REKNIT_SDK}/expected.json`, "utf8"));
const messages = [{ role: "user", content: "How is the weather?" }];

/** The ways in which each SDK is asked for a stream. */
const providers = {
  anthropic: (address) =>
    new Anthropic({ baseURL: address, apiKey: "none", maxRetries: 0 }).messages.create({ model: "any", max_tokens: 99, messages, stream: true }),
  "openai-chat": (address) =>
    new OpenAI({ baseURL: `${address}/v1`, apiKey: "none", maxRetries: 0 }).chat.completions.create({ model: "any", messages, stream: true }),
  "openai-responses": (address) =>
    new OpenAI({ baseURL: `${address}/v1`, apiKey: "none", maxRetries: 0 }).responses.create({ model: "any", input: messages, stream: true }),
};

async function collected(source) {
  const reply = { text: "", calls: [] };
  for await (const item of read(source)) {
    if (item.type === "text") reply.text += item.text;
    if (item.type === "call") reply.calls.push({ name: item.name, input: item.input });
    if (item.type === "end") Object.assign(reply, { status: item.status, error: item.error, message: item.message });
  }
  return reply;
}

for (const [dialect, create] of Object.entries(providers)) {
  const whole = { text: expected.text, calls: [{ name: expected.call, input: expected.input }], status: "stopped" };

  test(`${dialect}: events and response`, async () => {
    await serving(dialect, [], async (address) => {
      const { error: noError, message, ...events } = await collected(await create(address));
      assert.deepEqual(events, whole);
      assert.equal(noError, undefined);
      const { error: none, message: same, ...response } = await collected(await create(address).asResponse());
      assert.deepEqual(response, whole);
      assert.equal(none, undefined);
      assert.deepEqual(message.blocks, same.blocks, "both ways give the same blocks");
      assert.deepEqual(message.usage, same.usage);
    });
  });

  test(`${dialect}: a connection that breaks`, async () => {
    const cut = bytesOf(dialect).indexOf("days");
    await serving(dialect, ["--cut", String(cut)], async (address) => {
      for (const open of [create, (server) => create(server).asResponse()]) {
        const { text, calls, status, error } = await collected(await open(address));
        // What waits to be read when a connection breaks is lost before anybody sees it.
        assert.ok(expected.text.startsWith(text), text);
        assert.deepEqual(calls, [], "a call of a reply that is cut is not offered");
        assert.equal(status, "cut");
        assert.ok(error instanceof Error);
      }
    });
  });
}

test("anthropic: the events of a message stream", async () => {
  await serving("anthropic", [], async (address) => {
    const client = new Anthropic({ baseURL: address, apiKey: "none", maxRetries: 0 });
    const { text, status } = await collected(client.messages.stream({ model: "any", max_tokens: 99, messages }));
    assert.deepEqual({ text, status }, { text: expected.text, status: "stopped" });
  });
});

test("an error that an SDK throws in the middle is the provider's, and fails the message", async () => {
  const anthropic = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}\n\n';
  const overloaded = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const answer = (body) => async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const claude = new Anthropic({ apiKey: "none", maxRetries: 0, baseURL: "http://127.0.0.1", fetch: answer(anthropic + overloaded) });
  const first = await collected(await claude.messages.create({ model: "m", max_tokens: 9, messages, stream: true }));
  assert.equal(first.status, "failed");
  assert.equal(first.message.error.message, "Overloaded");

  const chat = 'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
  const broken = 'data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n';
  const gpt = new OpenAI({ apiKey: "none", maxRetries: 0, baseURL: "http://127.0.0.1", fetch: answer(chat + broken) });
  const second = await collected(await gpt.chat.completions.create({ model: "m", messages, stream: true }));
  assert.equal(second.text, "Hi");
  assert.equal(second.status, "failed");
  assert.equal(second.message.error.message, "The server had an error");
});
