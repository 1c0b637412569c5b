// The entry point with the module inside it, for wherever a second file is a problem.

import { provide } from "./engine.js";
import { MODULE } from "./module.js";

provide(() => Uint8Array.from(atob(MODULE), (character) => character.charCodeAt(0)));

export * from "./index.js";
