// The entry point of sessions with the module inside it, for wherever a second file is a problem.

import { decoded } from "../bytes.js";
import { MODULE } from "../inline/session.js";
import { engine } from "../modules/session.js";

engine.provide(() => decoded(MODULE));

export * from "../session.js";
