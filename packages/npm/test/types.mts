// What a user writes in TypeScript; compiled, never run.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Change, frames, type Item, type Message, PartialJson, read, ready, ReknitError, Reply, tools } from "reknit";
import { applyEdits, type EditReport } from "reknit/edits";
import { applyEdits as inlineEdits } from "reknit/edits/inline";
import { read as inline } from "reknit/inline";
import { chunks, history, ready as readyForSessions, Transcript } from "reknit/session";
import { Chunks as InlineChunks } from "reknit/session/inline";

declare function show(text: string): void;
declare function run(name: string, input: unknown): Promise<void>;

export async function reply(response: Response, signal: AbortSignal): Promise<Message | undefined> {
  const reading = read(response, { dialect: "anthropic", signal, limits: { replyBytes: 1_000_000 } });
  for await (const item of reading) {
    switch (item.type) {
      case "text":
      case "thinking":
        show(item.text);
        break;
      case "call":
        await run(item.name, item.input);
        break;
      case "end":
        if (item.status !== "stopped") show(`${item.status}: ${item.message.error?.message ?? ""}`);
        break;
      default:
        item satisfies never;
    }
  }
  return reading.message;
}

export async function sdks(): Promise<Item[]> {
  const claude = await new Anthropic().messages.create({ model: "m", max_tokens: 9, messages: [], stream: true });
  const gpt = await new OpenAI().chat.completions.create({ model: "m", messages: [], stream: true });
  const items: Item[] = [];
  for await (const item of read(claude)) items.push(item);
  for await (const item of inline(gpt)) items.push(item);
  for await (const frame of frames(new Uint8Array())) if (frame.type === "data") show(frame.data);
  return items;
}

export async function classes(bytes: Uint8Array): Promise<Change[]> {
  await ready();
  using live = new Reply({ profile: "hermes", tools: [{ name: "now" }], join: false });
  const changes = live.push(bytes);
  for (const change of changes) {
    if ("grew" in change) show(change.grew.text);
    // @ts-expect-error: there is no such change
    if ("shrank" in change) show(change.shrank.text);
  }
  const json = new PartialJson({ numbers: "bigint" });
  for (const change of json.push("{")) if ("opened" in change) show(change.opened.path);
  const report: EditReport = applyEdits({ "a.rs": "" }, "", { loosest: "indentation" });
  show(report.files[0]?.edits[0]?.reason ?? "");
  await readyForSessions();
  const { messages } = history("anthropic", [{ v: 1, seq: 1, at: 0, body: { type: "mode", mode: "plan" } }]);
  show(String(messages.length + chunks([{ type: "text-delta", delta: "Hi" }]).chunks.length));
  const step = new Transcript().append({ v: 1, seq: 1, at: 0, body: { type: "text-delta", delta: "Hi" } });
  if (step !== undefined && "chunk" in step.effect) show(step.effect.chunk.status);
  show(new InlineChunks().json + inlineEdits({}, "").problems.length);
  for (const block of tools("").blocks) if (block.type === "tool_call") show(block.name);
  // @ts-expect-error: a number is not a piece
  live.push(5);
  // @ts-expect-error: there is no such dialect
  new Reply({ dialect: "antropic" });
  try {
    live.finish();
  } catch (error) {
    if (error instanceof ReknitError && error.kind === "panicked") show(error.hint);
    // @ts-expect-error: there is no such kind
    if (error instanceof ReknitError && error.kind === "panick") show(error.hint);
  }
  return changes;
}
