// The JavaScript SDKs, talking to `reknit replay --serve`. Run by `cargo xtask sdk`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import Anthropic, { AnthropicError } from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { CohereClientV2 } from "cohere-ai";
import OpenAI, { OpenAIError } from "openai";

const { REKNIT: reknit, REKNIT_SDK: folder } = process.env;
const expected = JSON.parse(readFileSync(`${folder}/expected.json`, "utf8"));
const question = [{ role: "user", content: "How is the weather?" }];

/** One way to ask for a reply and what comes of it, for each dialect. */
const anthropic = {
  recording: `${folder}/recordings/anthropic.rec`,
  async ask(url) {
    const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
    const stream = client.messages.stream({ model: "any", max_tokens: 99, messages: question });
    const message = await stream.finalMessage();
    const [text, call] = message.content;
    return { text: text.text, call: call.name, input: call.input, end: message.stop_reason };
  },
  end: "tool_use",
  misfit: { error: AnthropicError, message: /^409 .*the recording is `/s },
  broken: { error: AnthropicError, message: /^terminated$/ },
  short: { error: AnthropicError, message: /^stream ended without producing a Message/ },
};

const chat = {
  recording: `${folder}/recordings/openai-chat.rec`,
  async ask(url) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const stream = client.chat.completions.stream({ model: "any", messages: question });
    const [choice] = (await stream.finalChatCompletion()).choices;
    const [call] = choice.message.tool_calls;
    const input = JSON.parse(call.function.arguments);
    return { text: choice.message.content, call: call.function.name, input, end: choice.finish_reason };
  },
  end: "tool_calls",
  misfit: { error: OpenAIError, message: /^409 .*the recording is `/s },
  broken: { error: OpenAIError, message: /^terminated$/ },
  short: { error: OpenAIError, message: /^missing finish_reason for choice 0$/ },
};

const responses = {
  recording: `${folder}/recordings/openai-responses.rec`,
  async ask(url) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const response = await client.responses.stream({ model: "any", input: question }).finalResponse();
    const call = response.output[1];
    const whole = call.status === "completed";
    const input = whole ? JSON.parse(call.arguments) : call.arguments;
    return { text: response.output_text, call: call.name, input, end: response.status };
  },
  end: "completed",
  misfit: { error: OpenAIError, message: /^409 .*the recording is `/s },
  broken: { error: OpenAIError, message: /^terminated$/ },
  // It gives back what it has, and only the status tells.
  short: { reply: { ...expected, input: '{"city": "Zü', end: "in_progress" } },
};

/** These SDKs return events and no message, so an early end is the last event and nothing more. */
const half = { ...expected, input: '{"city": "Zü', end: undefined };

const interactions = {
  recording: `${folder}/recordings/gemini-interactions.rec`,
  async ask(url) {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } });
    const stream = await client.interactions.create({ model: "any", input: question[0].content, stream: true });
    const reply = new Collected();
    for await (const { step, delta, interaction } of stream) {
      reply.text += delta?.type === "text" ? delta.text : "";
      reply.call ??= step?.name;
      reply.input += delta?.type === "arguments_delta" ? delta.arguments : "";
      reply.end = interaction?.status;
    }
    return reply.whole(reply.end === "requires_action");
  },
  end: "requires_action",
  misfit: { error: Error, message: /the recording is `/ },
  broken: { error: Error, message: /terminated|aborted/ },
  short: { reply: half },
};

const cohere = {
  recording: `${folder}/recordings/cohere.rec`,
  async ask(url) {
    const client = new CohereClientV2({ environment: url, token: "none" });
    const stream = await client.chatStream({ model: "any", messages: question }, { maxRetries: 0 });
    const reply = new Collected();
    for await (const { delta } of stream) {
      reply.text += delta?.message?.toolPlan ?? "";
      const called = delta?.message?.toolCalls?.function;
      reply.call ??= called?.name;
      reply.input += called?.arguments ?? "";
      reply.end = delta?.finishReason;
    }
    return reply.whole(reply.end !== undefined);
  },
  end: "TOOL_CALL",
  misfit: { error: Error, message: /409.*the recording is `/s },
  broken: { error: Error, message: /terminated|aborted/ },
  short: { reply: half },
};

const bedrock = {
  recording: `${folder}/recordings/bedrock-converse.rec`,
  async ask(url) {
    const client = new BedrockRuntimeClient({
      endpoint: url,
      region: "none",
      credentials: { accessKeyId: "none", secretAccessKey: "none" },
      maxAttempts: 1,
      // By default it only speaks HTTP/2.
      requestHandler: new NodeHttpHandler(),
    });
    const messages = [{ role: "user", content: [{ text: question[0].content }] }];
    const { stream } = await client.send(new ConverseStreamCommand({ modelId: "any", messages }));
    const reply = new Collected();
    for await (const { contentBlockStart, contentBlockDelta, messageStop } of stream) {
      reply.text += contentBlockDelta?.delta.text ?? "";
      reply.call ??= contentBlockStart?.start.toolUse.name;
      reply.input += contentBlockDelta?.delta.toolUse?.input ?? "";
      reply.end ??= messageStop?.stopReason;
    }
    return reply.whole(reply.end !== undefined);
  },
  end: "tool_use",
  misfit: { error: Error, message: /^the recording is `/ },
  broken: { error: Error, message: /aborted|terminated/ },
  short: { reply: half },
};

/** What the events of a stream add up to. */
class Collected {
  text = "";
  call = undefined;
  input = "";
  end = undefined;

  whole(isOver) {
    return { text: this.text, call: this.call, input: isOver ? JSON.parse(this.input) : this.input, end: this.end };
  }
}

/** The end of the last event or message that is complete before a byte. */
function completeBefore(bytes, inside) {
  if (bytes[0] !== 0) return bytes.lastIndexOf("\n\n", inside) + 2;
  let end = 0;
  while (end + bytes.readUInt32BE(end) <= inside) end += bytes.readUInt32BE(end);
  return end;
}

/** Lets `use` talk to a server of a file. */
async function serving(file, options, use) {
  const args = ["replay", file, "--serve", "0", "--speed", "max", ...options];
  const server = spawn(reknit, args, { stdio: ["ignore", "inherit", "pipe"] });
  try {
    const lines = createInterface({ input: server.stderr });
    const url = await new Promise((resolve, reject) => {
      lines.once("line", (line) => resolve(line.replace("listening on ", "")));
      server.once("exit", (code) => reject(new Error(`reknit ended with ${code}`)));
    });
    return await use(url);
  } finally {
    server.kill();
  }
}

async function outcome(promise, { error, message, reply }) {
  if (reply) return assert.deepEqual(await promise, reply);
  await assert.rejects(promise, (thrown) => {
    assert.ok(thrown instanceof error, `${thrown.constructor.name}: ${thrown.message}`);
    assert.match(thrown.message, message);
    return true;
  });
}

for (const [name, api, other] of [
  ["anthropic", anthropic, chat],
  ["openai chat", chat, anthropic],
  ["openai responses", responses, chat],
  ["gemini interactions", interactions, anthropic],
  ["cohere", cohere, chat],
  ["bedrock converse", bedrock, cohere],
]) {
  const whole = { reply: { ...expected, end: api.end } };
  const bytes = execFileSync(reknit, ["replay", api.recording, "--speed", "max"]);
  const inside = bytes.indexOf("days");
  const complete = completeBefore(bytes, inside);
  const short = `${process.cwd()}/${name.replace(" ", "-")}-short.sse`;
  writeFileSync(short, bytes.subarray(0, complete));

  await serving(api.recording, [], (url) => outcome(api.ask(url), whole));
  await serving(api.recording, ["--recut", "bytes"], (url) => outcome(api.ask(url), whole));
  await serving(api.recording, [], (url) => outcome(Promise.all([api.ask(url), api.ask(url)]), {
    reply: [whole.reply, whole.reply],
  }));
  await serving(other.recording, [], (url) => outcome(api.ask(url), api.misfit));
  await serving(api.recording, ["--cut", String(inside)], (url) => outcome(api.ask(url), api.broken));
  await serving(short, [], (url) => outcome(api.ask(url), api.short));
  console.log(`ok   JavaScript, ${name}`);
}
