// The entry point for browsers and bundlers: the module is fetched from where this file is.

import { provide } from "./engine.js";

provide(async () => {
  const address = new URL("./engine_bg.wasm", import.meta.url);
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(
      `cannot load ${address.href}: ${response.status} ${response.statusText} (serve the file, or import "reknit/inline")`,
    );
  }
  return response.arrayBuffer();
});

export * from "./index.js";
