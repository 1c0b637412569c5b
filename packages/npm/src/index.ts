// What `reknit` exports, wherever it runs.

export type { Piece } from "./bytes.js";
export type { ModuleSource } from "./engine.js";
export { type ErrorKind, ReknitError } from "./errors.js";
export type * from "./forms.js";
export { Frames, frames, type FramesOptions } from "./frames.js";
export type { Numbers } from "./json.js";
export { initSync, ready } from "./modules/reply.js";
export { type JsonState, PartialJson, type PartialJsonOptions } from "./partial-json.js";
export { type EndItem, type Item, read, type Reading, type ReadOptions, type TextItem, type ThinkingItem } from "./read.js";
export {
  type CallItem,
  type ChangeOptions,
  type Limits,
  profiles,
  profileSource,
  Reply,
  type ReplyOptions,
  type TextOptions,
  type ToolDefinition,
  Tools,
  type ToolsOptions,
} from "./reply.js";
export type { Source } from "./source.js";
export { tools, type ToolsResult } from "./text-blocks.js";
