// `reknit replay --serve`, which answers a provider's clients with a recording.

import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const { REKNIT: reknit, REKNIT_SDK: folder } = process.env;

export const recording = (dialect) => `${folder}/recordings/${dialect}.rec`;

/** All bytes of a recording. */
export function bytesOf(dialect) {
  return execFileSync(reknit, ["replay", recording(dialect), "--speed", "max"]);
}

/** Lets `use` talk to a server of a recording. */
export async function serving(dialect, options, use) {
  const words = ["replay", recording(dialect), "--serve", "0", "--speed", "max", ...options];
  const server = spawn(reknit, words, { stdio: ["ignore", "inherit", "pipe"] });
  try {
    const lines = createInterface({ input: server.stderr });
    const address = await new Promise((resolve, reject) => {
      lines.once("line", (line) => resolve(line.replace("listening on ", "")));
      server.once("exit", (code) => reject(new Error(`reknit ended with ${code}`)));
    });
    return await use(address);
  } finally {
    server.kill();
  }
}

/** Asks as a client of Anthropic would. */
export function ask(address, options = {}) {
  const body = JSON.stringify({ model: "any", max_tokens: 99, stream: true, messages: [{ role: "user", content: "Hi" }] });
  const headers = { "content-type": "application/json", "x-api-key": "none" };
  return fetch(`${address}/v1/messages`, { method: "POST", headers, body, ...options });
}
