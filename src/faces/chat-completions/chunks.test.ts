import type {
  ChatAnswer,
  ChatCompletionChunk,
  ChatDelta,
  ChatLogprobs,
} from "@antiphon/contracts/chat-completions/types.ts";
import {
  validateChatCompletion,
  validateChatCompletionChunk,
} from "@antiphon/contracts/chat-completions/validators.js";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Numbering } from "../../runs/numbering.ts";
import { type RecordedEvent, RecordedWhole } from "../../runs/recorded-event.ts";
import { aPlan } from "../../runs/run.fixture.ts";
import type { RunSignal, RunState } from "../../runs/run-state.ts";
import { anySignals, END_OF_RUN } from "../../runs/signals.fixture.ts";
import { initialState, transition } from "../../runs/transition.ts";
import { hasBothReasonings } from "../both-reasonings.fixture.ts";
import { type ChunkOptions, ChunkWriter, DONE_FRAME } from "./chunks.ts";
import { chatCompletion } from "./completion.ts";

/** The events of a run until it has ended. */
const anyRun = anySignals(40).map((signals) => {
  const numbering = new Numbering(0);
  let state: RunState = initialState(aPlan());
  return [{ type: "accepted" } as const, ...signals, ...END_OF_RUN].flatMap((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return numbering.number(next.events);
  });
});

const seal = { seal: (kind: string, text: string) => `${kind} of ${text.length}` };
const anyOptions = fc
  .record({ usesFunctions: fc.boolean(), speaks: fc.boolean(), includeUsage: fc.boolean() })
  .map((options) => ({ ...options, seal }));

interface Written {
  readonly chunks: readonly ChatCompletionChunk[];
  readonly text: string;
  readonly ended: Response | null;
}

function write(events: readonly RecordedEvent[], options: ChunkOptions): Written {
  const writer = new ChunkWriter(0, options);
  const text = events.map((event) => writer.framesOf(event)).join("");
  const frames = text.split("\n\n").slice(0, -1);
  return { text, chunks: frames.map((frame) => JSON.parse(frame.slice("data: ".length))), ended: writer.ended };
}

/** The message that a client puts together from the chunks. */
function foldChunks(chunks: readonly ChatCompletionChunk[]) {
  const message: ChatAnswer = { role: "assistant", content: null, refusal: null, annotations: [] };
  const tokens: NonNullable<ChatLogprobs["content"]> = [];
  const audio = { id: "", data: "", transcript: "", expires_at: 0 };
  let finishReason: string | null = null;
  for (const { choices } of chunks) {
    for (const { delta, logprobs, finish_reason } of choices) {
      addTexts(message, delta);
      message.annotations.push(...(delta.annotations ?? []));
      if (delta.hosted_items !== undefined) message.hosted_items = delta.hosted_items;
      addSound(audio, delta.audio ?? {});
      tokens.push(...(logprobs?.content ?? []));
      for (const piece of delta.tool_calls ?? []) addPiece((message.tool_calls ??= []), piece);
      if (delta.function_call?.name !== undefined)
        message.function_call = { name: delta.function_call.name, arguments: "" };
      if (message.function_call !== undefined) message.function_call.arguments += delta.function_call?.arguments ?? "";
      finishReason ??= finish_reason;
    }
  }
  if (audio.id !== "") message.audio = audio;
  return {
    message,
    logprobs: tokens.length === 0 ? null : { content: tokens, refusal: null },
    finish_reason: finishReason,
  };
}

const TEXTS = ["content", "refusal", "reasoning", "reasoning_content"] as const;

function addTexts(message: ChatAnswer, delta: ChatDelta): void {
  for (const name of TEXTS) if (delta[name]) message[name] = (message[name] ?? "") + delta[name];
}

function addSound(audio: NonNullable<ChatAnswer["audio"]>, piece: NonNullable<ChatDelta["audio"]>): void {
  for (const name of ["id", "data", "transcript"] as const) audio[name] += piece[name] ?? "";
  audio.expires_at += piece.expires_at ?? 0;
}

type Calls = NonNullable<ChatAnswer["tool_calls"]>;
type Piece = NonNullable<ChatCompletionChunk["choices"][number]["delta"]["tool_calls"]>[number];

function addPiece(calls: Calls, { index, id, type, function: called, custom }: Piece): void {
  if (id !== undefined) {
    expect(index).toBe(calls.length);
    if (type === "custom") calls.push({ id, type: "custom", custom: { name: custom?.name ?? "", input: "" } });
    else calls.push({ id, type: "function", function: { name: called?.name ?? "", arguments: "" } });
  }
  const call = calls[index];
  if (call?.type === "function") call.function.arguments += called?.arguments ?? "";
  if (call?.type === "custom") call.custom.input += custom?.input ?? "";
}

test("the chunks of any run give the plain body of its completion", () => {
  fc.assert(
    fc.property(anyRun, anyOptions, (events, options) => {
      const { chunks, ended, text } = write(events, options);
      for (const chunk of chunks)
        expect(validateChatCompletionChunk(chunk), JSON.stringify(validateChatCompletionChunk.errors)).toBe(true);
      if (ended === null || hasFailed(ended) || hasBothReasonings(ended)) return;
      const usage = options.includeUsage ? new ChunkWriter(0, options) : null;
      usage?.begin(ended);
      expect(lintText(`${text}${usage?.usageFrame([ended]) ?? ""}${DONE_FRAME}`)).toMatchObject([{ faults: [] }]);
      const body = chatCompletion([ended], options, soundOf(events));
      expect(validateChatCompletion(body), JSON.stringify(validateChatCompletion.errors)).toBe(true);
      const [choice] = body.choices;
      expect({ ...foldChunks(chunks), index: 0 }).toEqual({ ...choice, message: withoutEmptyText(choice?.message) });
    }),
    { numRuns: 500 },
  );
});

/** Each delta of a generated run is a whole text in base64. */
function soundOf(events: readonly RecordedEvent[]): string {
  return events.flatMap(({ event }) => (event.type === "response.audio.delta" ? [event.delta] : [])).join("");
}

/** Both end with response.failed. */
function hasFailed({ status }: Response): boolean {
  return status === "failed" || status === "cancelled";
}

/** A client cannot tell an empty text from none. */
function withoutEmptyText(message: ChatAnswer | undefined) {
  return { ...message, content: message?.content === "" ? null : message?.content, refusal: message?.refusal || null };
}

test("events read from the log give the same bytes as those that were just made", () => {
  fc.assert(
    fc.property(anyRun, anyOptions, (events, options) => {
      const stored = events.map(({ number, json }) => RecordedWhole.fromJson(number, json));
      expect(write(stored, options).text).toBe(write(events, options).text);
    }),
    { numRuns: 300 },
  );
});

test("only the last chunk has a reason, and none follows it", () => {
  fc.assert(
    fc.property(anyRun, anyOptions, (events, options) => {
      const { chunks, ended } = write(events, options);
      const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason));
      const hasEnd = ended !== null && !hasFailed(ended);
      expect(reasons.filter((reason) => reason !== null)).toHaveLength(hasEnd ? 1 : 0);
      if (hasEnd) expect(reasons.at(-1)).not.toBeNull();
      expect(chunks[0]?.choices[0]?.delta).toEqual({
        role: "assistant",
        content: options.speaks ? null : "",
        refusal: null,
      });
      expect(chunks.every((chunk) => "usage" in chunk === options.includeUsage)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("the deprecated form shows no call of a custom tool", () => {
  const numbering = new Numbering(0);
  let state: RunState = initialState(aPlan());
  const signals: readonly RunSignal[] = [
    { type: "accepted" },
    { type: "model", event: { type: "call_started", kind: "custom", callId: "call_1", name: "sql" } },
    { type: "model", event: { type: "call_delta", text: "select 1" } },
    { type: "model", event: { type: "call_finished" } },
    { type: "model", event: { type: "finished", reason: "stop" } },
    { type: "model_ended", at: 1 },
  ];
  const events = signals.flatMap((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return numbering.number(next.events);
  });
  const { chunks } = write(events, { usesFunctions: true, speaks: false, includeUsage: false, seal });
  expect(JSON.stringify(chunks)).not.toContain("function_call");
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
});
