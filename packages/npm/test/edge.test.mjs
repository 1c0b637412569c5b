// The package in a worker at the edge: `workerd`, on which Cloudflare's workers run.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { build } from "esbuild";

const here = import.meta.dirname;
const workerd = join(here, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
const skip = existsSync(workerd) ? false : "left out: workerd is only installed for Linux on x86-64";
if (skip) console.log(skip);

const WORKER = `
  import { read } from "reknit";
  import { applyEdits, ready } from "reknit/edits";
  export default {
    async fetch(request) {
      const items = [];
      for await (const item of read(request.body)) items.push([item.type, item.text ?? item.status]);
      await ready();
      items.push(applyEdits({}, "nothing").problems[0].kind);
      return Response.json(items);
    },
  };
`;

const CONFIG = `
  using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (
    services = [(name = "main", worker = .worker)],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  );
  const worker :Workerd.Worker = (
    modules = [
      (name = "worker.js", esModule = embed "worker.js"),
      (name = "reply.wasm", wasm = embed "reply.wasm"),
      (name = "edits.wasm", wasm = embed "edits.wasm"),
    ],
    compatibilityDate = "2025-01-01",
  );
`;

test("a worker imports modules and reads what it is sent", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "reknit-edge-"));
  let server;
  try {
    const stdin = { contents: WORKER, resolveDir: here, loader: "js" };
    const outfile = join(folder, "worker.js");
    await build({ stdin, outfile, bundle: true, format: "esm", conditions: ["workerd"], external: ["*.wasm"], logLevel: "error" });
    for (const name of ["reply.wasm", "edits.wasm"]) {
      copyFileSync(join(here, "node_modules/reknit/dist/entry", name), join(folder, name));
    }
    writeFileSync(join(folder, "config.capnp"), CONFIG);
    const words = ["serve", "--control-fd=1", "config.capnp"];
    server = spawn(workerd, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const { port } = await new Promise((resolve, reject) => {
      createInterface({ input: server.stdout }).once("line", (line) => resolve(JSON.parse(line)));
      server.once("exit", (code) => reject(new Error(`workerd ended with ${code}`)));
    });
    const body = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
    assert.deepEqual(await response.json(), [["text", "Hi"], ["end", "stopped"], "no-edits"]);
  } finally {
    server?.kill();
    rmSync(folder, { recursive: true });
  }
});
