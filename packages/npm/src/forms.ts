// The engine's JSON as types. Written by the tests of `crates/reknit-wasm`, which also compare it with what the engine
// says about every case of the corpus: change `tests/forms` there, not this file.

/**
 * The dialects that are read.
 */
export type Dialect =
  | "anthropic"
  | "openai-responses"
  | "gemini"
  | "gemini-interactions"
  | "bedrock-converse"
  | "cohere"
  | "ollama"
  | "agent-c"
  | "openai-chat";

/**
 * What a diagnostic is about.
 */
export type DiagnosticKind =
  | "invalid-utf8"
  | "ignored-line"
  | "unterminated-frame"
  | "dropped-frame"
  | "damaged-frame"
  | "trailing-bytes"
  | "malformed-frame"
  | "field-as-text"
  | "malformed-escape"
  | "unknown-event"
  | "missing-start"
  | "duplicate-start"
  | "duplicate-block"
  | "orphan-delta"
  | "orphan-fragment"
  | "different-end"
  | "missing-events"
  | "duplicate-event"
  | "misnumbered-event"
  | "changed-id"
  | "unclosed-block"
  | "after-end"
  | "restarted-reply"
  | "no-stop-reason"
  | "calls-missing"
  | "missing-id"
  | "malformed-arguments"
  | "cut-arguments"
  | "scattered-arguments"
  | "duplicate-key"
  | "lone-surrogate"
  | "limit-reached"
  | "cut-recording"
  | "broken-recording"
  | "not-a-recording"
  | "unknown-version"
  | "stray-text"
  | "dropped-text"
  | "repeated-parameter"
  | "wrong-type"
  | "missing-closer"
  | "unknown-tool"
  | "orphan-agent-event"
  | "unknown-agent-event"
  | "unknown-dialect"
  | "wrong-dialect";

/**
 * How a stream is divided into frames.
 */
export type Framing =
  | "sse"
  | "lines"
  | "json-array"
  | "aws-event-stream"
  | "whole";

/**
 * How edits are written.
 */
export type EditFormat =
  | "search-replace"
  | "udiff"
  | "apply-patch"
  | "whole"
  | "str-replace"
  | "roo-args";

/**
 * What may differ between a search text and the file, strictest first.
 */
export type How =
  | "exact"
  | "line-ends"
  | "trailing-whitespace"
  | "look-alikes"
  | "indentation"
  | "blank-lines"
  | "line-breaks"
  | "context";

/**
 * Why an edit has no place.
 */
export type EditReason =
  | "no-match"
  | "whitespace"
  | "stale"
  | "already-applied"
  | "ambiguous"
  | "mid-line"
  | "taken-away"
  | "overlaps"
  | "identical"
  | "empty-search"
  | "unclear"
  | "placeholder"
  | "heading-not-found"
  | "not-utf8"
  | "moved-away"
  | "no-file"
  | "no-path";

/**
 * Why an edit cannot be read.
 */
export type EditProblemKind =
  | "invalid-transition"
  | "search-without-start"
  | "missing-separator"
  | "missing-replace"
  | "incomplete"
  | "too-many-dividers"
  | "mixed-line-numbers"
  | "empty-patch"
  | "empty-hunk"
  | "invalid-patch-line"
  | "mode-change"
  | "no-text-file"
  | "copied-file"
  | "no-name"
  | "other-format"
  | "invalid-json"
  | "invalid-arguments"
  | "unsupported-command"
  | "no-edits";

/**
 * The address of a block: a number, or two for a block that was found in the text of another one.
 */
export type Slot = number | [number, number];

/**
 * What was unexpected in a stream, a text or a session.
 */
export type Diagnostic = { kind: DiagnosticKind, 
/**
 * The byte of the input, or the one where the frame begins with which it was noticed.
 */
atByte?: number, 
/**
 * The number of the frame, counted from 0.
 */
frame?: number, 
/**
 * The block in whose text it is.
 */
block?: Slot, 
/**
 * The byte of that text.
 */
offsetByte?: number, 
/**
 * The number of the event, counted from 0.
 */
event?: number, message: string, 
/**
 * What to do about it.
 */
hint: string, };

export type Status = "waiting" | "streaming" | "stopped" | "failed" | "cut";

export type StopReason = "end" | "length" | "tool" | "stop_sequence" | "refusal" | "filter" | "pause" | "other";

/**
 * Numbers of tokens, as the provider counts them.
 */
export type Usage = { input?: number, output?: number, cache_read?: number, cache_write?: number, reasoning?: number, };

/**
 * The error of a provider.
 */
export type ProviderFailure = { type?: string, message: string, raw: unknown, };

/**
 * A reply, the same for every provider. What is unknown is absent.
 */
export type Message = { id?: string, model?: string, role?: string, 
/**
 * `stopped`: it is complete. `cut`: the stream ended before. `failed`: the provider reported an error.
 */
status: Status, stop_reason?: StopReason, 
/**
 * The provider's own word for it.
 */
stop_detail?: string, error?: ProviderFailure, usage?: Usage, blocks: Array<Block>, 
/**
 * Only if there are several; each block then has a `choice`.
 */
choices?: Array<Choice>, choice_extra?: Record<string, unknown>, 
/**
 * Fields that are not part of this form, under the provider's names.
 */
extra?: Record<string, unknown>, diagnostics: Array<Diagnostic>, diagnostics_omitted?: number, };

export type Choice = { index: number, status: Status, stop_reason?: StopReason, stop_detail?: string, extra?: Record<string, unknown>, };

/**
 * How a block ended: `closed` is complete, and only then a call may be acted on.
 */
export type End = "closed" | "cut" | "malformed";

/**
 * A part of a message.
 */
export type Block = { "type": "text", choice?: number, text: string, 
/**
 * Whether the model refuses the request with it.
 */
refusal?: boolean, extra?: Record<string, unknown>, } | { "type": "thinking", choice?: number, text: string, signature?: string, redacted?: string, origin: "tagged", extra?: Record<string, unknown>, } | { "type": "tool_call", choice?: number, id: string, name: string, 
/**
 * `provider` if the provider runs the call itself.
 */
runner: "provider", 
/**
 * Absent while its arguments arrive.
 */
end?: End, 
/**
 * The arguments, if they are complete.
 */
input?: unknown, 
/**
 * Their text otherwise.
 */
raw?: string, origin: "tagged", 
/**
 * `true` if there is a list of tools and this one is not in it.
 */
unknown?: boolean, 
/**
 * The id of the call that contains this one.
 */
parent?: string, extra?: Record<string, unknown>, } | { "type": "tool_result", choice?: number, kind: string, call_id?: string, } | { "type": "other", choice?: number, kind: string, raw: Record<string, unknown>, };

/**
 * What one step changed in a message, as a patch: all of them together give the message.
 */
export type Change = { "started": { id?: string, model?: string, role?: string, } } | { "opened": Opened } | { "named": { block: Slot, id: string, invented?: boolean, name: string, } } | { "grew": { block: Slot, at: number, text: string, } } | { "signed": { block: Slot, at: number, signature: string, } } | { "closed": { block: Slot, end?: End, notice?: Diagnostic, raw?: string, } } | { "kept": { owner: Owner, key: string, keep: Keep, } } | { "switched": { model: string, } } | { "usage": Usage } | { "stopped": { choice?: number, reason: StopReason, detail: string, } } | { "ended": { notice?: Diagnostic, } } | { "cut": Record<symbol, never> } | { "failed": ProviderFailure } | { "noticed": Diagnostic } | { "ping": Record<symbol, never> };

/**
 * A block starts.
 */
export type Opened = { block: Slot, choice?: number, } & ({ "type": "text", refusal?: boolean, } | { "type": "thinking", redacted?: string, } | { "type": "tool_call", id: string, invented?: boolean, name: string, runner: "provider", notation: "plain", origin?: Origin, } | { "type": "tool_result", kind: string, call_id?: string, } | { "type": "other", kind: string, });

export type Opening = { "type": "text", refusal?: boolean, } | { "type": "thinking", redacted?: string, } | { "type": "tool_call", id: string, invented?: boolean, name: string, runner: "provider", notation: "plain", origin?: Origin, } | { "type": "tool_result", kind: string, call_id?: string, } | { "type": "other", kind: string, };

export type Origin = { "tagged": { known: boolean, parent?: string, } };

/**
 * What a kept field belongs to.
 */
export type Owner = "message" | { "choice": number } | { "block": Slot };

/**
 * What to do with a kept field.
 */
export type Keep = { "set": unknown } | { "push": unknown } | { "grow": string } | { "merge": unknown };

/**
 * What is found in a stream. The `problem`s of a frame come before it; nothing comes after a `refused`.
 */
export type Found = { "type": "data" } & Frame | { "type": "comment" } & Frame | { "type": "error" } & Frame | { "type": "problem" } & Diagnostic | { "type": "refused", kind: DiagnosticKind, message: string, hint: string, };

/**
 * A server-sent event, a line, an element of an array, or a message of AWS.
 */
export type Frame = { 
/**
 * Counted from 0.
 */
number: number, startByte: number, 
/**
 * The byte after its last one.
 */
endByte: number, data: string, event?: string, id?: string, 
/**
 * In milliseconds.
 */
retry?: number, };

/**
 * What a piece changed in a value; `path` is a JSON pointer.
 */
export type JsonChange = { "opened": { path: string, value: "" | never[] | Record<string, never>, } } | { "grew": { path: string, text: string, } } | { "scalar": { path: string, value: null | boolean | number | bigint, } } | { "closed": { path: string, } };

/**
 * The blocks of a model's text.
 */
export type TextBlocks = { blocks: Array<TextBlock>, diagnostics: Array<Diagnostic>, diagnostics_omitted?: number, };

/**
 * A part of a model's text; `partial` is true if it was not closed.
 */
export type TextBlock = { "type": "text", text: string, partial: boolean, } | { "type": "thinking", text: string, partial: boolean, } | { "type": "tool_call", name: string, params: unknown, partial: boolean, end?: End, 
/**
 * The call as the model wrote it, if its `end` is not `closed`.
 */
raw?: string, 
/**
 * `true` if there is a list of tools and this one is not in it.
 */
unknown?: boolean, 
/**
 * The number of the block that contains this one.
 */
parent?: number, };

/**
 * What became of the edits of an answer.
 */
export type EditReport = { 
/**
 * How the edits are written, if that was found.
 */
format: EditFormat, files: Array<FileReport>, 
/**
 * What looks like an edit but cannot be read as one.
 */
problems: Array<EditProblem>, };

export type FileReport = { 
/**
 * As the answer names it: check it before you write.
 */
path: string, action: "create" | "update" | "delete" | "move" | "missing", 
/**
 * Where it is moved.
 */
to?: string, 
/**
 * The new content, if it is text.
 */
content?: string, 
/**
 * The new content, if it is not text.
 */
bytes: Uint8Array, edits: Array<EditOutcome>, };

export type EditOutcome = { 
/**
 * The number of the edit in the answer, counted from 0.
 */
index: number, 
/**
 * The line of the answer where it begins.
 */
line: number, outcome: "applied" | "unchanged" | "rejected", 
/**
 * What differed between the search text and the file.
 */
how: How, lines?: [number, number], 
/**
 * All places of an edit that has several.
 */
places?: Array<[number, number]>, 
/**
 * The earlier edit in whose replacement it is.
 */
inside?: number, notes: Array<{ kind: string; line?: number; text?: string }>, 
/**
 * Why it was rejected.
 */
reason: EditReason, message?: string, hint?: string, 
/**
 * The lines at which the places of an ambiguous edit begin.
 */
at?: Array<number>, 
/**
 * The earlier edit that is in the way.
 */
edit?: number, fitting?: number, comment?: string, heading?: string, byte?: number, to?: string, 
/**
 * The place that comes closest.
 */
closest?: Closest, 
/**
 * What was put right in how the edit is written.
 */
repairs: Array<{ kind: string; line: number }>, };

export type Closest = { lines: [number, number], 
/**
 * How much of the search text is there, from 0 to 1.
 */
score: number, 
/**
 * The search text (`-`) beside what is there (`+`).
 */
diff: string, };

export type EditProblem = { kind: EditProblemKind, line?: number, snippet?: string, message: string, hint: string, 
/**
 * How such an edit is written.
 */
form?: string, };

/**
 * Something that happened in a session. An event of another type is kept as it is.
 */
export type AgentEvent = { "type": "text-delta", delta: string, } | { "type": "reasoning-delta", delta: string, } | { "type": "reasoning-end", metadata?: unknown, } | { "type": "tool-input-start", toolCallId: string, toolName: string, } | { "type": "tool-input-delta", toolCallId: string, delta: string, } | { "type": "tool-input-error", toolCallId: string, error: string, } | { "type": "tool-call", toolCall: AgentToolCall, } | { "type": "tool-result", toolResult: AgentToolResult, } | { "type": "shell-output", data: string, stream: OutputStream, toolCallId?: string, } | { "type": "approval-request", approvalId: string, toolCallId: string, reason?: string, } | { "type": "approval-response", approvalId: string, decision: Decision, reason?: string, } | { "type": "edit-preview", toolCallId: string, path: string, delta: string, restarted?: boolean, } | { "type": "provider-block", kind: string, block: Record<string, unknown>, } | { "type": "error", error: string, statusCode: number, } | { "type": "notice", message: string, } | { "type": "model-changed", keyId: string, modelId: string, } | { "type": "config-reload", } | { "type": "turn-start", turnId?: string, } | { "type": "turn-sealed", turnId?: string, } | { "type": "turn-paused", } | { "type": "done", } | { "type": "usage", usage?: Tokens, } | { "type": "status", status?: string, } | { "type": "checkpoint", checkpointId: string, } | { "type": "task-list-update", tasks?: unknown, } | { "type": "tab-created", } | { "type": "message-queued", } | { "type": "message-consumed", } | { "type": "message-cancelled", } | { "type": "compaction-started", } | { "type": "compaction-complete", } | { "type": "compaction-error", };

export type AgentToolCall = { id: string, name: string, arguments: unknown, 
/**
 * The call as the model wrote it, if it was found in a text.
 */
raw?: string, providerExecuted?: boolean, metadata?: unknown, };

export type AgentToolResult = { toolCallId: string, toolName?: string, result: unknown, isError?: boolean, };

export type OutputStream = "stdout" | "stderr";

export type Decision = "allow" | "deny";

export type Tokens = { inputTokens?: number, outputTokens?: number, cacheReadTokens?: number, cacheWriteTokens?: number, reasoningTokens?: number, };

/**
 * A line in the log of a session.
 */
export type Entry = { 
/**
 * The version of the form, which is 1.
 */
v: number, 
/**
 * Counted from 1 without gaps.
 */
seq: number, 
/**
 * In milliseconds since the Unix epoch.
 */
at: number, turn?: string, body: Body, };

export type Body = { "type": "user-message", content: Array<Content>, } | { "type": "request", dialect: string, model: string, } | { "type": "decision", toolCallId: string, decision: Decision, hash: string, reason?: string, } | { "type": "tool-started", toolCallId: string, } | { "type": "mode", mode: string, } | { "type": "todos", todos: unknown[], } | { "type": "condensation", upTo: number, summary: string, } | { "type": "child", sessionId: string, toolCallId?: string, } | { "type": "end", reason: "done" | "failed" | "cancelled" | "interrupted", } | AgentEvent;

export type Content = { "type": "text", text: string, } | { "type": "image", mediaType: string, data: string, } | { type: string } & Record<string, unknown>;

/**
 * A displayed part of a message.
 */
export type Chunk = { "type": "text", text: string, } | { "type": "thinking", text: string, metadata?: unknown, } | { "type": "tool-batch", calls: Array<ChunkCall>, } | { "type": "error", message: string, statusCode: number, } | { "type": "system", kind: "notice" | "model-changed" | "config-reload" | "cancelled", text: string, };

/**
 * A call and its outcome.
 */
export type ChunkCall = { id: string, name: string, 
/**
 * The arguments, if they are complete.
 */
arguments?: unknown, 
/**
 * Otherwise the text of the arguments so far.
 */
inputText?: string, 
/**
 * Why they will never be complete.
 */
inputError?: string, result?: unknown, isError?: boolean, shellOutput?: ShellOutput, approval?: Approval, 
/**
 * The new content of a file, while the model writes the edit.
 */
preview?: Preview, };

export type ShellOutput = { stdout: string, stderr: string, };

export type Approval = { id: string, 
/**
 * Absent until there is one.
 */
decision?: Decision, reason?: string, };

export type Preview = { path: string, text: string, };

/**
 * What an event changed in the chunks of a message; `at` is in UTF-16 units.
 */
export type ChunkChange = { "opened": { chunk: number, value: Chunk, } } | { "grew": { chunk: number, at: number, text: string, } } | { "sealed": { chunk: number, metadata: unknown, } } | { "called": { chunk: number, call: number, value: ChunkCall, } } | { "input_grew": { chunk: number, call: number, at: number, text: string, } } | { "input_whole": { chunk: number, call: number, name: string, arguments: unknown, } } | { "input_broken": { chunk: number, call: number, error: string, } } | { "answered": { chunk: number, call: number, result: unknown, is_error?: boolean, } } | { "wrote": { chunk: number, call: number, stream: OutputStream, at: number, text: string, } } | { "approval": { chunk: number, call: number, approval: Approval, } } | { "previewed": { chunk: number, call: number, path: string, at: number, text: string, } } | { "dropped": Diagnostic } | { "nothing": Record<symbol, never> };

/**
 * A message of a session, as a person sees it.
 */
export type TranscriptMessage = { role: "user" | "assistant" | "system", status: TranscriptStatus, turn?: string, model?: string, startedAt: number, endedAt?: number, usage?: Tokens, attachments?: Array<Content>, chunks: Array<Chunk>, events: number, diagnostics?: Array<Diagnostic>, diagnosticsOmitted?: number, };

export type TranscriptStatus = "waiting" | "streaming" | "done" | "failed" | "cancelled" | "interrupted";

/**
 * The messages of a session.
 */
export type TranscriptState = { 
/**
 * The version of the form, which is 1.
 */
v: number, 
/**
 * The number of the last entry.
 */
seq: number, messages: Array<TranscriptMessage>, diagnostics?: Array<Diagnostic>, diagnosticsOmitted?: number, };

/**
 * What an entry changed in a transcript.
 */
export type Step = { seq: number, 
/**
 * The time of the entry.
 */
at: number, 
/**
 * The open message that ends because of this entry.
 */
interrupted?: number, 
/**
 * A message that was added at the end.
 */
opened?: TranscriptMessage, effect: Effect, };

export type Effect = { "chunk": { message: number, change: ChunkChange, status: TranscriptStatus, } } | { "ended": { message: number, status: TranscriptStatus, } } | { "usage": { message: number, usage: Tokens, } } | { "model": { message: number, model: string, } } | { "dropped": Diagnostic } | { "nothing": Record<symbol, never> };

/**
 * What had to be repaired in a log for a request.
 */
export type Repair = { 
/**
 * The entry that it is about.
 */
seq: number, kind: string, message: string, hint: string, };
