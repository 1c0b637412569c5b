// The JavaScript SDKs and `reknit run`, talking to the same strict provider, which goes wrong in the same ways.
// Run by `cargo xtask sdk`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";

const { REKNIT: reknit, REKNIT_STRICT: strict } = process.env;
const apiKey = "sk-strict-0123456789abcdef-secret";
const model = "strict-1";
const text = "Grüezi – this is the strict provider. ☂";
const question = "How is the weather?";

/** How each SDK asks, and how `reknit run` is told where to ask. */
const providers = {
  anthropic: {
    async ask(baseURL) {
      const client = new Anthropic({ baseURL, apiKey, maxRetries: 1 });
      const messages = [{ role: "user", content: [{ type: "text", text: question }] }];
      const message = await client.messages.stream({ model, max_tokens: 99, messages }).finalMessage();
      return message.content.at(-1).text;
    },
    environment: (url) => ({ ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: url }),
    name: `anthropic/${model}`,
  },
  "openai-chat": {
    async ask(baseURL) {
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 1 });
      const messages = [{ role: "user", content: question }];
      const stream = client.chat.completions.stream({ model, messages });
      return (await stream.finalChatCompletion()).choices[0].message.content;
    },
    environment: (url) => ({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: url }),
    name: `openai/${model}`,
  },
  "openai-responses": {
    async ask(baseURL) {
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 1 });
      const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: question }] }];
      const response = await client.responses.stream({ model, input, store: false }).finalResponse();
      assert.equal(response.status, "completed");
      return response.output_text;
    },
    // There is no variable for another server with Responses.
    configuration: (url) =>
      `[models.strict]\ndialect = "openai-responses"\nmodel = "${model}"\nbase_url = "${url}"\nkey_env = "OPENAI_API_KEY"\n`,
    environment: () => ({ OPENAI_API_KEY: apiKey }),
    name: "strict",
  },
  gemini: {
    async ask(baseUrl) {
      const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
      const contents = [{ role: "user", parts: [{ text: question }] }];
      let said = "";
      let end;
      for await (const chunk of await client.models.generateContentStream({ model, contents })) {
        const [candidate] = chunk.candidates ?? [];
        said += (candidate?.content?.parts ?? []).map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
        end ??= candidate?.finishReason;
      }
      // It does not notice that a stream has no end.
      assert.equal(end, "STOP");
      return said;
    },
    environment: (url) => ({ GEMINI_API_KEY: apiKey, GEMINI_BASE_URL: url }),
    name: `gemini/${model}`,
    /** It sends nothing again by itself. */
    isPatient: false,
  },
  ollama: {
    async ask(host) {
      const messages = [{ role: "user", content: question }];
      let said = "";
      for await (const part of await new Ollama({ host }).chat({ model, messages, stream: true })) {
        said += part.message.content;
      }
      return said;
    },
    environment: (url) => ({ OLLAMA_HOST: url }),
    name: `ollama/${model}`,
    isPatient: false,
  },
};

/** What must come of each fault: whether the reply arrives after all, with the SDK and with `reknit`. */
const faults = {
  none: { sdk: true, ours: true },
  429: { sdk: true, ours: true },
  "429-with-time": { sdk: true, ours: true },
  529: { sdk: true, ours: true },
  500: { sdk: true, ours: true },
  cut: { sdk: false, ours: false },
  error: { sdk: false, ours: false },
  // Nothing was said yet, so the request can be sent again.
  "error-first": { sdk: false, ours: true },
  page: { sdk: false, ours: false },
  // The SDKs do not look at it.
  "content-type": { sdk: true, ours: false },
};

/** Lets `use` talk to a provider that goes wrong once. */
async function serving(dialect, fault, use) {
  const server = spawn(strict, fault === "none" ? [dialect] : [dialect, fault], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: server.stdout });
    const url = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      server.once("exit", (code) => reject(new Error(`the provider ended with ${code}`)));
    });
    return await use(url);
  } finally {
    server.kill();
  }
}

/** Runs `reknit run` with a home of its own. */
async function run({ environment, configuration, name }, url) {
  const home = mkdtempSync(join(tmpdir(), "reknit-strict-"));
  try {
    if (configuration) {
      mkdirSync(join(home, "reknit"));
      writeFileSync(join(home, "reknit", "config.toml"), configuration(url));
    }
    const env = { PATH: process.env.PATH, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, ...environment(url) };
    const child = spawn(reknit, ["run", question, "--model", name], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (piece) => (stdout += piece));
    child.stderr.setEncoding("utf8").on("data", (piece) => (stderr += piece));
    const code = await new Promise((resolve) => child.once("close", resolve));
    return { code, stdout, stderr };
  } finally {
    rmSync(home, { recursive: true });
  }
}

for (const [dialect, provider] of Object.entries(providers)) {
  for (const [fault, { sdk, ours }] of Object.entries(faults)) {
    const isSentAgain = ["429", "429-with-time", "529", "500"].includes(fault);
    await serving(dialect, fault, async (url) => {
      if (isSentAgain && provider.isPatient === false) {
        await assert.rejects(provider.ask(url), undefined, `${dialect}, ${fault}`);
      }
      if (sdk) assert.equal(await provider.ask(url), text, `${dialect}, ${fault}`);
      else await assert.rejects(provider.ask(url), undefined, `${dialect}, ${fault}`);
    });
    await serving(dialect, fault, async (url) => {
      const { code, stdout, stderr } = await run(provider, url);
      const what = `${dialect}, ${fault}: ${stdout}${stderr}`;
      assert.equal(code, ours ? 0 : 1, what);
      if (ours) assert.ok(stdout.endsWith(`${text}\n`), what);
      else assert.ok(stdout.includes("error: ") && !stdout.includes(`${text}\n`), what);
    });
  }
  console.log(`ok   JavaScript and reknit run, ${dialect}`);
}
