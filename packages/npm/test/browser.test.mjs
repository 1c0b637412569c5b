// The package in a browser: a page that Vite builds, and one that its development server serves, read a reply from
// `reknit replay --serve`.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";
import { build, createServer, preview } from "vite";

import { bytesOf, serving } from "./replay.mjs";

const root = join(import.meta.dirname, "page");
const expected = JSON.parse(readFileSync(`${process.env.REKNIT_SDK}/expected.json`, "utf8"));
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const skip = executablePath === undefined ? "left out: no Chromium is installed (`apt-get install chromium`)" : false;
if (skip) console.log(skip);

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The page and the provider are at different addresses, as with a key in a page they never would be.
  "--disable-web-security",
];

let browser;

before(async () => {
  if (!skip) browser = await chromium.launch({ executablePath, args: ARGUMENTS });
});

after(() => browser?.close());

/** What the page shows once it is over. */
async function shown(url) {
  const page = await browser.newPage();
  try {
    await page.goto(url);
    const isOver = page.waitForFunction(() => document.body.dataset.status !== undefined);
    // A page with an error would never be over.
    const failed = new Promise((_, reject) => page.once("pageerror", reject));
    await Promise.race([isOver, failed]);
    return await page.evaluate(() => ({
      status: document.body.dataset.status,
      text: document.querySelector("#text").textContent,
      calls: document.querySelector("#calls").textContent,
      live: document.querySelector("#live").textContent,
    }));
  } finally {
    await page.close();
  }
}

/** The server's address on this machine. */
const addressOf = (server) => {
  const { port } = server.httpServer.address();
  return `http://127.0.0.1:${port}/`;
};

async function isShown(page, provider) {
  const { status, text, calls, live } = await shown(`${page}?provider=${provider}`);
  assert.equal(status, "stopped");
  assert.equal(text, expected.text);
  assert.deepEqual(JSON.parse(calls), [{ name: expected.call, input: expected.input }]);
  assert.deepEqual(JSON.parse(live), { path: "a.rs", state: "partial", chunks: 1 });
}

const quiet = { root, configFile: false, logLevel: "error" };

test("a production build", { skip }, async () => {
  const outDir = mkdtempSync(join(tmpdir(), "reknit-page-"));
  await build({ ...quiet, build: { outDir, emptyOutDir: true } });
  const server = await preview({ ...quiet, build: { outDir }, preview: { port: 0, host: "127.0.0.1" } });
  try {
    const page = addressOf(server);
    await serving("anthropic", [], (provider) => isShown(page, provider));
    await serving("anthropic", ["--recut", "bytes"], (provider) => isShown(page, provider));
    const inside = bytesOf("anthropic").indexOf("days");
    await serving("anthropic", ["--cut", String(inside)], async (provider) => {
      const { status, text, calls } = await shown(`${page}?provider=${provider}`);
      assert.deepEqual({ status, calls: JSON.parse(calls) }, { status: "cut", calls: [] });
      assert.ok(expected.text.startsWith(text), text);
    });
    // The page gives up when it has seen all of the text.
    await serving("anthropic", ["--stall", `600000@${inside}`], async (provider) => {
      const { status, text } = await shown(`${page}?provider=${provider}&impatient`);
      assert.deepEqual({ status, text }, { status: "cut", text: expected.text });
    });
  } finally {
    await server.close();
    rmSync(outDir, { recursive: true });
  }
});

test("the development server", { skip }, async () => {
  // A fresh cache: it would keep the package of an earlier run, which has the same version.
  const cacheDir = mkdtempSync(join(tmpdir(), "reknit-vite-"));
  const server = await createServer({ ...quiet, cacheDir, server: { port: 0, host: "127.0.0.1" } });
  try {
    await server.listen();
    await serving("anthropic", [], (provider) => isShown(addressOf(server), provider));
  } finally {
    await server.close();
    rmSync(cacheDir, { recursive: true });
  }
});
