// The JavaScript peers. Reads requests line by line from standard input, answers each with a line.
//
// A work reads the input it is given as its users would, and returns a number for what it read, which the
// benchmark compares with that of everyone else.

import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";

import Anthropic from "@anthropic-ai/sdk";
import { parsePartialJson, readUIMessageStream } from "ai";
import { createParser } from "eventsource-parser";
import { parse } from "partial-json";

/** The npm package; nothing if it was not built. */
const reknit = await import("reknit").catch(() => undefined);
await reknit?.ready();

const works = {
  // Bytes in reads to events.
  "eventsource-parser": (input, { read }) => {
    let result = 0;
    const parser = createParser({
      onEvent: (event) => {
        result += event.data.length + event.event.length;
      },
    });
    const decoder = new TextDecoder();
    return timed(
      () => {
        for (let at = 0; at < input.bytes.length; at += read) {
          parser.feed(decoder.decode(input.bytes.subarray(at, at + read), { stream: true }));
        }
      },
      () => result,
    );
  },

  // All that has come of an argument is read again with each delta.
  "partial-json": (input, { ends }) =>
    timed(
      () => {
        for (const end of ends) isObject(parse(input.text.slice(0, end)));
      },
      () => fingerprint(parse(input.text)),
    ),
  ai: (input, { ends }) =>
    timed(
      async () => {
        for (const end of ends) isObject((await parsePartialJson(input.text.slice(0, end))).value);
      },
      async () => fingerprint((await parsePartialJson(input.text)).value),
    ),

  // The npm package, on the same arguments: a look is the value, what changed and the new text.
  "reknit, look": (input, { ends }) => {
    const json = new reknit.PartialJson();
    return timed(
      () => {
        let at = 0;
        for (const end of ends) {
          const changes = json.push(input.text.slice(at, end));
          at = end;
          if (changes.length > 0) isObject(json.value);
        }
      },
      () => {
        const value = json.finish();
        json.dispose();
        return fingerprint(value);
      },
    );
  },

  // The npm package, bytes in reads to the message, with a look at each change.
  "reknit, message": async (input, { read, event }) => {
    const pieces = event ? events(input.bytes) : reads(input.bytes, read);
    let units = 0;
    const reply = new reknit.Reply({ dialect: "anthropic" });
    return timed(
      () => {
        for (const piece of pieces) {
          for (const change of reply.push(piece)) {
            if ("grew" in change) units += change.grew.text.length;
          }
        }
        reply.finish();
        isObject(reply.message.blocks);
      },
      () => units + fingerprint(reply.message.blocks[0].input ?? reply.message.blocks[0].text),
    );
  },

  // The steps of a message, as objects, to the message after each of them.
  "ai, messages": (input) => {
    const steps = input.text.trim().split("\n").map((line) => JSON.parse(line));
    let at = 0;
    const stream = new ReadableStream({
      pull(controller) {
        if (at >= steps.length) return controller.close();
        controller.enqueue(steps[at]);
        at += 1;
      },
    });
    let message;
    return timed(
      async () => {
        for await (message of readUIMessageStream({ stream })) isObject(message.parts);
      },
      () =>
        message.parts.reduce(
          (sum, part) => sum + (part.text ?? part.input.content + part.output).length,
          message.parts.length,
        ),
    );
  },

  // Bytes in reads to the message, with a listener.
  "@anthropic-ai/sdk": async (input, { read, event, listen, units }) => {
    const pieces = (event ? events(input.bytes) : reads(input.bytes, read)).values();
    const body = new ReadableStream({
      pull(controller) {
        const { done, value } = pieces.next();
        if (done) return controller.close();
        controller.enqueue(value);
      },
    });
    const headers = { "content-type": "text/event-stream" };
    const fetch = async () => new Response(body, { headers });
    const client = new Anthropic({ apiKey: "none", baseURL: "http://localhost", maxRetries: 0, fetch });
    let calls = 0;
    let message;
    return timed(
      async () => {
        const stream = client.messages.stream({ model: "m", max_tokens: 1, messages: [] });
        stream.on(listen, (delta, soFar) => {
          if (delta.length > 0 && soFar !== undefined) calls += units ? delta.length : 1;
        });
        message = await stream.finalMessage();
      },
      () => calls + fingerprint(message.content[0].input ?? message.content[0].text),
    );
  },
};

// Bytes in reads of one length.
function reads(bytes, length) {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
}

// Bytes in reads of one server-sent event.
function events(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while (end < bytes.length && !(bytes[end] === 10 && bytes[end + 1] === 10)) end += 1;
    pieces.push(bytes.subarray(at, end + 2));
    at = end + 2;
  }
  return pieces;
}

// Times `work` by the clock on the wall or by the processor time of the process, whichever is less: other
// programs on the machine must not count against Node, nor its own threads that collect garbage meanwhile.
async function timed(work, result) {
  const wall = process.hrtime.bigint();
  const processor = process.cpuUsage();
  await work();
  const used = process.cpuUsage(processor);
  const passed = Number(process.hrtime.bigint() - wall) / 1e9;
  return { seconds: Math.min(passed, (used.user + used.system) / 1e6), result: await result() };
}

function isObject(value) {
  if (typeof value !== "object") throw new Error(`a look showed ${value}`);
}

// How many values there are in a value, and how long its strings and keys are.
function fingerprint(value) {
  if (typeof value === "string") return 1 + value.length;
  if (Array.isArray(value)) return value.reduce((sum, element) => sum + fingerprint(element), 1);
  if (value === null || typeof value !== "object") return 1;
  return Object.entries(value).reduce((sum, [key, member]) => sum + key.length + fingerprint(member), 1);
}

function versions() {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const own = reknit && JSON.parse(readFileSync("node_modules/reknit/package.json", "utf8")).version;
  return { node: process.versions.node, ...dependencies, reknit: own };
}

const inputs = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer = {};
  if (request.do === "versions") {
    answer = versions();
  } else if (request.do === "keep") {
    inputs.set(request.input, { text: request.text, bytes: new TextEncoder().encode(request.text) });
  } else {
    answer = await works[request.work](inputs.get(request.input), request.options);
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
