import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import {
  lastChunk,
  sse,
  textChunk,
  toolDelta,
  usageChunk,
} from "../../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { sendJson } from "../../../tests/kit/http-answers.ts";
import { listen } from "./listen.ts";
import { type AskedTurn, MODEL, OFFERED_TOOL, RUN_NAME, STEPS, WORDS } from "./script.ts";
import { randomWords, wordsOf } from "./words.ts";

/**
 * A chat-completions server that follows the script and notes each question. The first part of a path names the node
 * that asks, as in `/left/v1/chat/completions`. With `SAME_WORDS=1` it answers the same question with the same words.
 */
type Writable<Type> = { -readonly [Member in keyof Type]: Type[Member] };

/** Before the first byte of an answer, between the pieces of a call, and between words. */
const THINKING_MS_MAX = 200;
const PIECE_MS_MAX = 10;
const WORD_MS_MAX = 50;

const hasSameWords = process.env["SAME_WORDS"] === "1";
const asked: Writable<AskedTurn>[] = [];

listen((request, response) => void answer(request, response).catch(() => response.destroy()));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "";
  if (path === "/turns") return sendJson(response, asked);
  if (request.method !== "POST") return sendJson(response, { object: "list", data: [{ id: MODEL, object: "model" }] });
  const body = await text(request);
  const turn = { run: RUN_NAME.exec(body)?.[0] ?? "", turn: resultsIn(body), node: path.split("/")[1] ?? "" };
  const question: Writable<AskedTurn> = { ...turn, askedAt: Date.now(), endedAt: null };
  if (turn.run !== "") asked.push(question);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  await pause(THINKING_MS_MAX);
  const isStep = turn.run !== "" && turn.turn < STEPS; // Others than runs ask, too, such as probes.
  const end = isStep ? await sayCall(response, turn) : await sayText(response, turn);
  if (response.destroyed) return;
  response.end(end, () => (question.endedAt = Date.now()));
}

type Turn = Pick<AskedTurn, "run" | "turn">;

/** The results of calls that the model is shown. */
function resultsIn(body: string): number {
  const request = jsonOrUndefined(body);
  const messages = isRecord(request) && Array.isArray(request["messages"]) ? request["messages"] : [];
  return messages.filter((message) => isRecord(message) && message["role"] === "tool").length;
}

/** Says all but the end of the turn, which it returns. */
async function sayCall(response: ServerResponse, { run, turn }: Turn): Promise<string> {
  const call = { id: `call_${turn}`, type: "function", function: { name: OFFERED_TOOL, arguments: "" } };
  response.write(sse(toolDelta(0, call)));
  for (const piece of ['{"run":', `"${run}"`, ',"step":', `${turn}}`]) {
    await pause(PIECE_MS_MAX);
    response.write(sse(toolDelta(0, { function: { arguments: piece } })));
  }
  return endWith("tool_calls", 20);
}

async function sayText(response: ServerResponse, { run, turn }: Turn): Promise<string> {
  const words = hasSameWords ? wordsOf(`${run} ${turn}`, WORDS) : randomWords(WORDS);
  for (const word of words) {
    if (response.destroyed) return "";
    response.write(sse(textChunk(`${word} `)));
    await pause(WORD_MS_MAX);
  }
  return endWith("stop", words.length);
}

function endWith(reason: string, tokens: number): string {
  const usage = { prompt_tokens: 100, completion_tokens: tokens, total_tokens: 100 + tokens };
  return sse(lastChunk(reason), usageChunk(usage), "[DONE]");
}

async function pause(msMax: number): Promise<void> {
  await sleep(Math.random() * msMax);
}
