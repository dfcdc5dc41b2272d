import type { ServerResponse } from "node:http";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { delta, toolDelta, usageChunk } from "../responses/behind-upstream.ts";

/** What the model says in its last turn, and in what pieces. */
export const LAST_WORDS = ["All is done, ", "and it is ", "well."] as const;
export const LAST_TEXT = LAST_WORDS.join("");

/** The turns of the model: it looks, pays, and tells that all is done. */
export const TURNS = [0, 1, 2] as const;
export type Turn = (typeof TURNS)[number];

/** How a turn fails. `chunks` are what it says when it does not. */
export interface Fault {
  readonly name: string;
  readonly fail: (response: ServerResponse, chunks: readonly unknown[]) => unknown;
  /** Turns at which it can happen. */
  readonly turns: readonly Turn[];
}

/** Faults that may pass, before anything of the turn was shown. */
export const UNSEEN_FAULTS: readonly Fault[] = [
  { name: "429 with retry-after", turns: TURNS, fail: refuseWith(429, { "retry-after": "1" }) },
  { name: "500", turns: TURNS, fail: refuseWith(500) },
  { name: "502", turns: TURNS, fail: refuseWith(502) },
  { name: "503 with retry-after", turns: TURNS, fail: refuseWith(503, { "retry-after": "1" }) },
  { name: "504", turns: TURNS, fail: refuseWith(504) },
  // A call that meets a closed connection without a byte of an answer would be sent again at once.
  { name: "a connection that closes at once", turns: TURNS, fail: (response) => response.socket?.end("HTTP/1.1 2") },
  { name: "silence", turns: TURNS, fail: () => {} },
  { name: "a cut before the first chunk", turns: TURNS, fail: (response) => say(response, [], "cut") },
  { name: "an end without a finish", turns: TURNS, fail: (response) => say(response, [], "end") },
  { name: "chunks that are not JSON", turns: TURNS, fail: (response) => say(response, ['{"choices": ['], "end") },
  { name: "an error in the stream", turns: TURNS, fail: (response) => say(response, [OVERLOADED], "end") },
];

/** Faults that may pass, when a part of the turn was shown. */
export const SEEN_FAULTS: readonly Fault[] = [
  {
    name: "a cut in the reasoning",
    turns: TURNS,
    fail: (response, chunks) => say(response, chunks.slice(0, 1), "cut"),
  },
  {
    name: "a cut after the reasoning",
    turns: TURNS,
    fail: (response, chunks) => say(response, chunks.slice(0, 2), "cut"),
  },
  { name: "a cut in a call", turns: [0, 1], fail: (response, chunks) => say(response, chunks.slice(0, 4), "cut") },
  { name: "a cut behind a call", turns: [0, 1], fail: (response, chunks) => say(response, chunks.slice(0, 5), "cut") },
];

/** Faults that stop a text. */
export const TEXT_FAULTS: readonly Fault[] = [
  { name: "a cut in the text", turns: [2], fail: (response, chunks) => say(response, chunks.slice(0, 4), "cut") },
  { name: "an end in the text", turns: [2], fail: (response, chunks) => say(response, chunks.slice(0, 4), "end") },
  { name: "a cut behind the text", turns: [2], fail: (response, chunks) => say(response, chunks.slice(0, 5), "cut") },
];

/** Faults that do not pass. */
export const LASTING_FAULTS: readonly Fault[] = [400, 401, 403, 404, 413, 422].map((status) => ({
  name: String(status),
  turns: TURNS,
  fail: refuseWith(status),
}));

/** So long that a response in the background does not wait in its place. */
export const LONG_PAUSE: Fault = {
  name: "500 with retry-after",
  turns: TURNS,
  fail: refuseWith(500, { "retry-after": "4" }),
};

const OVERLOADED = { error: { message: "The model is overloaded.", type: "server_error", code: null } };

function refuseWith(status: number, headers: Readonly<Record<string, string>> = {}): Fault["fail"] {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: `The model server says ${status}.`, type: "x", code: null } }));
  };
}

/** Sends chunks, and then breaks the connection off or ends the stream. */
export function say(response: ServerResponse, chunks: readonly unknown[], then: "cut" | "end"): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (then === "end") response.end(sse(...chunks));
  // The chunks arrive before the end of the connection does.
  else response.write(sse(...chunks, ""), () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
}

/** All chunks of a turn: reasoning in two pieces, then a call in three, or a text in three. */
export function chunksOf(turn: Turn, number: number): readonly unknown[] {
  const thinks = [delta({ reasoning_content: "So " }), delta({ reasoning_content: `at ${turn}. ` })];
  const usage = usageChunk({ prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 });
  if (turn === 2) return [...thinks, ...LAST_WORDS.map(textChunk), lastChunk("stop"), usage, "[DONE]"];
  const called = {
    id: `call_${turn}`,
    type: "function",
    function: { name: `bank__${turn === 0 ? "look" : "pay"}`, arguments: "" },
  };
  return [
    ...thinks,
    toolDelta(0, called),
    toolDelta(0, { function: { arguments: '{"number":' } }),
    toolDelta(0, { function: { arguments: `${number}}` } }),
    lastChunk("tool_calls"),
    usage,
    "[DONE]",
  ];
}
