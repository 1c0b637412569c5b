// Where the package is used in Node: installed from its tarball, imported, required, bundled, and checked for its types.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { build } from "esbuild";

const here = import.meta.dirname;

/** A fresh folder, which is removed at the end. */
async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "reknit-npm-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(folder, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

const STREAM = JSON.stringify('data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
const LOOP = `for await (const item of read([${STREAM}])) console.log(item.type, item.text ?? item.status);`;
const PRINTED = "text Hi\nend stopped\n";

test("npm installs the tarball, and it can be imported and required", () =>
  inFolder((folder) => {
    writeFileSync(join(folder, "package.json"), "{}");
    const words = ["install", "--no-audit", "--no-fund", "--offline", "--loglevel=error", process.env.REKNIT_TARBALL];
    execFileSync("npm", words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    writeFileSync(join(folder, "a.mjs"), `import { read } from "reknit";\n${LOOP}`);
    writeFileSync(join(folder, "b.cjs"), `const { read } = require("reknit");\n(async () => { ${LOOP} })();`);
    writeFileSync(join(folder, "c.mjs"), `import { read } from "reknit/inline";\n${LOOP}`);
    for (const file of ["a.mjs", "b.cjs", "c.mjs"]) assert.equal(run(folder, file), PRINTED, file);
    for (const end of ["", "/inline"]) {
      const program = `
        import { applyEdits, ready } from "reknit/edits${end}";
        import { chunks, ready as readyForSessions } from "reknit/session${end}";
        await Promise.all([ready(), readyForSessions()]);
        console.log(applyEdits({}, "").problems[0].kind, chunks([]).chunks.length);`;
      writeFileSync(join(folder, "d.mjs"), program);
      assert.equal(run(folder, "d.mjs"), "no-edits 0\n", end);
    }
    const installed = join(folder, "node_modules/reknit");
    for (const file of ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"]) {
      assert.ok(readFileSync(join(installed, file), "utf8").length > 100, file);
    }
    const { dependencies, version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    assert.equal(dependencies, undefined, "nothing else is installed");
    assert.ok(process.env.REKNIT_TARBALL.endsWith(`reknit-${version}.tgz`));
  }));

test("esbuild bundles the package into one file, or with the module beside it", () =>
  inFolder(async (folder) => {
    const bundled = async (from, outfile) => {
      const stdin = { contents: `import { read } from "${from}";\n${LOOP}`, resolveDir: here, loader: "js" };
      await build({ stdin, outfile, bundle: true, format: "esm", platform: "node", minify: true, logLevel: "error" });
    };
    mkdirSync(join(folder, "one"));
    await bundled("reknit/inline", join(folder, "one/bundle.mjs"));
    assert.equal(run(folder, "one/bundle.mjs"), PRINTED);
    await bundled("reknit", join(folder, "bundle.mjs"));
    copyFileSync(join(here, "node_modules/reknit/dist/entry/reply.wasm"), join(folder, "reply.wasm"));
    assert.equal(run(folder, "bundle.mjs"), PRINTED);
  }));

test("the types are those of the package, in strict mode", () => {
  const words = ["node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2023", "--lib", "es2023,dom", "--types", "node", "--module", "nodenext", "types.mts"];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: here, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
