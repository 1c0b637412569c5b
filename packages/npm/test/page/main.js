// A page that asks for a reply and shows it.

import { PartialJson, read } from "reknit";
import { chunks, ready } from "reknit/session";

const body = JSON.stringify({ model: "any", max_tokens: 99, stream: true, messages: [{ role: "user", content: "Hi" }] });
const abort = new AbortController();
const options = new URLSearchParams(location.search);
const response = await fetch(`${options.get("provider")}/v1/messages`, { method: "POST", headers: { "content-type": "application/json" }, body });

const text = document.querySelector("#text");
const calls = [];
let status = "nothing";
for await (const item of read(response, { signal: abort.signal })) {
  if (item.type === "text") text.append(item.text);
  if (item.type === "call") calls.push({ name: item.name, input: item.input });
  if (item.type === "end") status = item.status;
  if (options.has("impatient") && text.textContent.endsWith("☂")) abort.abort();
}
document.querySelector("#calls").textContent = JSON.stringify(calls);

const json = new PartialJson();
json.push('{"path": "a.rs", "content": "fn ma');
await ready();
const { length } = chunks([{ type: "text-delta", delta: "Hi" }]).chunks;
const live = { path: json.value.path, state: json.state("/content"), chunks: length };
document.querySelector("#live").textContent = JSON.stringify(live);
document.body.dataset.status = status;
