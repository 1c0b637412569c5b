// A model's edits to files: what `reknit/edits` exports, wherever it runs.

import { bytesIn, decoded } from "./bytes.js";
import { Handle } from "./engine.js";
import { described } from "./errors.js";
import type { EditFormat, EditReport, How } from "./forms.js";
import { type Bindings, engine } from "./modules/edits.js";

export type { ModuleSource } from "./engine.js";
export { type ErrorKind, ReknitError } from "./errors.js";
export type * from "./forms.js";
export { initSync, ready } from "./modules/edits.js";

/** Files by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array>> | ReadonlyMap<string, string | Uint8Array>;

export interface EditOptions {
  /** How the edits are written; by default that is detected. */
  format?: EditFormat | "auto";
  /** What may differ at most between a search text and the file. */
  loosest?: How;
  /** Apply what can be applied, even if something else cannot; by default it is all or nothing. */
  keepGoing?: boolean;
}

class Edits extends Handle<InstanceType<Bindings["Edits"]>> {
  constructor(options: string) {
    super(engine, engine.call((bindings) => new bindings.Edits(options)));
  }

  add(path: string, content: Uint8Array): void {
    this.use((inner) => inner.addFile(path, content));
  }

  apply(answer: string): string {
    return this.use((inner) => {
      inner.push(answer);
      return inner.apply();
    });
  }
}

const encoder = new TextEncoder();

/**
 * Finds the place of each edit of an answer, and returns the new content of the files and what became of each
 * edit: what `reknit apply --json` prints.
 *
 * Nothing is written: that is up to the caller, who also has to decide which paths it lets a model name. If an
 * edit has no place, or two, no file of the report has content, unless `keepGoing` is set.
 */
export function applyEdits(files: Files, answer: string, options: EditOptions = {}): EditReport {
  if (typeof files !== "object" || files === null) {
    throw new TypeError(`applyEdits takes an object or a Map of files, not ${described(files)}`);
  }
  if (typeof answer !== "string") {
    throw new TypeError(`the answer is the text of a reply, not ${described(answer)}`);
  }
  const edits = new Edits(JSON.stringify(options));
  for (const [path, content] of files instanceof Map ? files : Object.entries(files)) {
    const bytes = typeof content === "string" ? encoder.encode(content) : bytesIn(content);
    if (bytes === undefined) {
      throw new TypeError(`the content of \`${path}\` is a string or bytes, not ${described(content)}`);
    }
    edits.add(path, bytes);
  }
  const report = JSON.parse(edits.apply(answer)) as EditReport;
  for (const file of report.files) {
    const { bytes } = file as { bytes?: unknown };
    if (typeof bytes === "string") {
      file.bytes = decoded(bytes);
    }
  }
  return report;
}
