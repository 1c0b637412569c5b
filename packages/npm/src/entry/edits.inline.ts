// The entry point of edits with the module inside it, for wherever a second file is a problem.

import { decoded } from "../bytes.js";
import { MODULE } from "../inline/edits.js";
import { engine } from "../modules/edits.js";

engine.provide(() => decoded(MODULE));

export * from "../edits.js";
