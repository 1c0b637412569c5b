// The entry point with the module inside it, for wherever a second file is a problem.

import { decoded } from "../bytes.js";
import { MODULE } from "../inline/reply.js";
import { engine } from "../modules/reply.js";

engine.provide(() => decoded(MODULE));

export * from "../index.js";
