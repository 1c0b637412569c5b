// `read`: Node's `fetch` against a real server, and everything that can be a source.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { test } from "node:test";

import { read, ReknitError } from "reknit";

import { ask, bytesOf, serving } from "./replay.mjs";

const expected = JSON.parse(readFileSync(`${process.env.REKNIT_SDK}/expected.json`, "utf8"));

/** All items, with the text joined. */
async function collected(reading) {
  const reply = { text: "", thinking: "", calls: [], ends: [] };
  for await (const item of reading) {
    if (item.type === "call") reply.calls.push(item);
    else if (item.type === "end") reply.ends.push(item);
    else reply[item.type] += item.text;
  }
  return reply;
}

function isWhole({ text, calls, ends }) {
  assert.equal(text, expected.text);
  assert.deepEqual(calls.map(({ name, input }) => ({ name, input })), [{ name: expected.call, input: expected.input }]);
  assert.deepEqual(JSON.parse(calls[0].inputText), expected.input);
  assert.equal(ends.length, 1);
  assert.equal(ends[0].status, "stopped");
  assert.equal(ends[0].error, undefined);
}

test("a response of fetch, however it is cut", async () => {
  for (const options of [[], ["--recut", "1"], ["--recut", "bytes"]]) {
    await serving("anthropic", options, async (address) => {
      const reading = read(await ask(address));
      assert.equal(reading.reply, undefined);
      isWhole(await collected(reading));
      assert.equal(reading.message.status, "stopped");
      assert.equal(reading.reply.dialect, "anthropic");
    });
  }
});

test("a connection that breaks is an item", async () => {
  const cut = bytesOf("anthropic").indexOf("days");
  await serving("anthropic", ["--cut", String(cut)], async (address) => {
    const reading = read(await ask(address));
    const { text, calls, ends } = await collected(reading);
    // What waits to be read when a connection breaks is lost before anybody sees it.
    assert.ok(expected.text.startsWith(text), text);
    assert.deepEqual(calls, []);
    assert.equal(ends.length, 1);
    assert.equal(ends[0].status, "cut");
    assert.ok(ends[0].error instanceof Error, "what fetch threw");
    assert.equal(reading.message.status, "cut");
  });
});

test("a stall ends with the signal, and what came is kept", async () => {
  const stall = bytesOf("anthropic").indexOf("days");
  await serving("anthropic", ["--stall", `600000@${stall}`], async (address) => {
    const abort = new AbortController();
    const reading = read(await ask(address), { signal: abort.signal });
    let text = "";
    let end;
    for await (const item of reading) {
      if (item.type === "end") end = item;
      if (item.type !== "text") continue;
      text += item.text;
      abort.abort(new Error("enough"));
    }
    assert.ok(text.length > 0);
    assert.equal(end.status, "cut");
    assert.equal(end.error.message, "enough");
  });
});

test("a stall before anything, and a signal that is aborted already", async () => {
  await serving("anthropic", ["--stall", "600000@0"], async (address) => {
    const reason = new Error("not now");
    const { ends } = await collected(read(await ask(address), { signal: AbortSignal.abort(reason) }));
    assert.equal(ends.length, 1);
    assert.equal(ends[0].status, "cut");
    assert.equal(ends[0].error, reason);
  });
});

test("every kind of source", async () => {
  const bytes = new Uint8Array(bytesOf("anthropic"));
  const text = new TextDecoder().decode(bytes);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(at * 7, at * 7 + 7));
  const sources = [
    bytes,
    bytes.slice().buffer,
    new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    pieces,
    [...text],
    text.split(""),
    (async function* () {
      yield* pieces;
    })(),
    Readable.from(pieces.map((piece) => Buffer.from(piece))),
    new Response(bytes),
    new Response(bytes).body,
    new Response(bytes).body.pipeThrough(new TextDecoderStream()),
    new Blob([bytes]),
  ];
  for (const source of sources) isWhole(await collected(read(source)));
});

test("nothing is read ahead, and the source is told when nobody wants more", async () => {
  let pulled = 0;
  let cancelled;
  const piece = new TextEncoder().encode('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n');
  const source = new ReadableStream(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(piece);
      },
      cancel(reason) {
        cancelled = { reason };
      },
    },
    { highWaterMark: 0 },
  );
  const reading = read(source);
  for await (const item of reading) {
    assert.equal(item.type, "text");
    break;
  }
  assert.equal(pulled, 1);
  assert.notEqual(cancelled, undefined);
  assert.equal(reading.message.status, "cut");
  assert.equal(reading.message.blocks[0].text, "Hi");
});

test("a source that is never read is cancelled too", async () => {
  let isCancelled = false;
  const source = new ReadableStream({ cancel: () => (isCancelled = true) });
  assert.deepEqual(await read(source).return(), { value: undefined, done: true });
  assert.ok(isCancelled);
});

test("an input that is no stream", async () => {
  const { ends } = await collected(read(new Response("<html>502 Bad Gateway</html>", { status: 502 })));
  assert.equal(ends.length, 1);
  assert.notEqual(ends[0].status, "stopped");
  assert.ok(ends[0].error instanceof ReknitError);
  assert.equal(ends[0].error.kind, "unknown-dialect");
  assert.ok(ends[0].error.hint.length > 0);
});

test("calls that are written into the text", async () => {
  const body = [
    'data: {"choices":[{"delta":{"content":"I look.\\n<read_fi"}}]}\n\n',
    'data: {"choices":[{"delta":{"content":"le><path>a.rs</path></read_file>"}}]}\n\n',
    'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  ];
  const { text, calls } = await collected(read(body, { profile: "cline" }));
  assert.equal(text, "I look.");
  assert.deepEqual(calls, [{ type: "call", id: "call_0_1", name: "read_file", input: { path: "a.rs" }, inputText: '{"path":"a.rs"}' }]);
});

test("numbers that are too long for a double", async () => {
  const call = '{\\"id\\": 12345678901234567890, \\"text\\": \\"\\\\u0000 9007199254740993\\", \\"n\\": 7}';
  const body = [
    `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"${call}"}}]}}]}\n\n`,
    'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
  ];
  const plain = (await collected(read(body))).calls[0];
  assert.deepEqual(plain.input, JSON.parse(plain.inputText));
  assert.match(plain.inputText, /12345678901234567890/);
  const exact = (await collected(read(body, { numbers: "bigint" }))).calls[0];
  assert.deepEqual(exact.input, { id: 12345678901234567890n, text: "\u0000 9007199254740993", n: 7 });
});
