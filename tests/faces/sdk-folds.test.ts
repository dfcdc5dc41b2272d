import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import type { Response as ApiResponse, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { hasBothReasonings } from "../../src/faces/both-reasonings.fixture.ts";
import { ChunkWriter, DONE_FRAME } from "../../src/faces/chat-completions/chunks.ts";
import { chatCompletion } from "../../src/faces/chat-completions/completion.ts";
import { messageOf } from "../../src/faces/messages/message.ts";
import { MessageWriter, STOP_FRAME } from "../../src/faces/messages/message-events.ts";
import { Numbering } from "../../src/runs/numbering.ts";
import { type RecordedEvent, RecordedWhole } from "../../src/runs/recorded-event.ts";
import { aPlan } from "../../src/runs/run.fixture.ts";
import type { RunState } from "../../src/runs/run-state.ts";
import { anySignals, END_OF_RUN } from "../../src/runs/signals.fixture.ts";
import { initialState, transition } from "../../src/runs/transition.ts";
import { verifies } from "../verifies.ts";

/** Streams recorded from the reference: `NAME.chunks.txt` with one event a line. */
const folder = process.env["REFERENCE_RECORDINGS"];
/** The publisher of this recording left out items and members. */
const ABRIDGED = "openai-phase.1.chunks.txt";
const streams = folder === undefined ? [] : readdirSync(folder).flatMap((file) => streamsOf(folder, file));

const MESSAGE_OPTIONS = { model: "m", omitsThinking: false, inputTokens: 1 };
const CHAT_OPTIONS = {
  usesFunctions: false,
  speaks: false,
  includeUsage: false,
  seal: { seal: (kind: string, text: string) => `${kind} of ${text.length}` },
};

/** The events of a run until it has ended. */
const anyRun = anySignals(30).map((signals) => {
  const numbering = new Numbering(0);
  let state: RunState = initialState({ ...aPlan(), sealReasoning: (text) => `sealed ${text.length}` });
  return [{ type: "accepted" } as const, ...signals, ...END_OF_RUN].flatMap((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return numbering.number(next.events);
  });
});

/** What a client puts together from a stream of messages; null if the run failed. */
async function foldedMessage(events: readonly RecordedEvent[]) {
  const writer = new MessageWriter(MESSAGE_OPTIONS);
  const text = events.map((event) => writer.framesOf(event)).join("") + STOP_FRAME;
  const { ended } = writer;
  if (ended === null || hasFailed(ended) || hasBothReasonings(ended)) return null;
  const client = new Anthropic({ apiKey: "sk", maxRetries: 0, fetch: () => Promise.resolve(eventReply(text)) });
  const message = await client.messages
    .stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] })
    .finalMessage();
  return { message, body: messageOf(ended, MESSAGE_OPTIONS), text };
}

/** What a client puts together from a stream of chat completions; null if the run failed. */
async function foldedCompletion(events: readonly RecordedEvent[]) {
  const writer = new ChunkWriter(0, CHAT_OPTIONS);
  const text = events.map((event) => writer.framesOf(event)).join("") + DONE_FRAME;
  const { ended } = writer;
  if (ended === null || hasFailed(ended)) return null;
  const client = new OpenAI({ apiKey: "sk", maxRetries: 0, fetch: () => Promise.resolve(eventReply(text)) });
  const completion = await client.chat.completions
    .stream({ model: "m", messages: [{ role: "user", content: "Hi" }] })
    .finalChatCompletion();
  return { choice: completion.choices[0], body: chatCompletion([ended], CHAT_OPTIONS).choices[0], text };
}

function eventReply(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

function hasFailed({ status }: ApiResponse): boolean {
  return status === "failed" || status === "cancelled";
}

/** The reference seals the same reasoning anew in its last snapshot. */
function withoutSeals(content: readonly object[]): object[] {
  return content.map((block) => ("signature" in block ? { ...block, signature: "" } : block));
}

function shownChoice(choice: unknown): unknown {
  const { message, finish_reason: reason } = recordOf(choice);
  const { content, refusal, tool_calls: calls, hosted_items: hostedItems } = recordOf(message);
  return { content: content || null, refusal: refusal || null, calls: callsIn(calls), hostedItems, reason };
}

function callsIn(calls: unknown): unknown[] {
  const list: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return list.map((call) => {
    const { id, function: called } = recordOf(call);
    const { name, arguments: json } = recordOf(called);
    return { id, name, json };
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

describe("Anthropic's client", () => {
  test("puts any run together as its plain message", async () => {
    verifies("messages.stream.folds-to-body");
    const inputs = ({ event }: RecordedEvent) =>
      event.type === "response.function_call_arguments.done" ? [event.arguments] : [];
    const run = anyRun.filter((events) =>
      events.flatMap(inputs).every((json) => json === "" || isRecord(jsonOrText(json))),
    );
    await fc.assert(
      fc.asyncProperty(run, async (events) => {
        const folded = await foldedMessage(events);
        if (folded !== null) expect(folded.message).toMatchObject({ ...folded.body });
      }),
      { numRuns: 100 },
    );
  });
});

describe("the official client", () => {
  test("puts any run together as its plain completion", async () => {
    verifies("chat.stream.folds-to-body");
    const run = anyRun.filter((events) => events.every(({ type }) => type !== "response.custom_tool_call_input.done"));
    await fc.assert(
      fc.asyncProperty(run, async (events) => {
        const folded = await foldedCompletion(events);
        if (folded !== null) expect(shownChoice(folded.choice)).toEqual(shownChoice(folded.body));
      }),
      { numRuns: 100 },
    );
  });
});

describe.skipIf(folder === undefined)("of streams recorded from the reference (REFERENCE_RECORDINGS)", () => {
  test("there are some", () => expect(streams.length).toBeGreaterThan(5));

  test.each(streams)("Anthropic's client puts $name together as its plain message", async ({ events }) => {
    verifies("messages.stream.folds-to-body");
    const folded = await foldedMessage(events);
    if (folded === null) return;
    expect(lintText(folded.text).flatMap(({ faults }) => faults)).toEqual([]);
    expect(withoutSeals(folded.message.content)).toEqual(withoutSeals(folded.body.content));
    expect(folded.message.stop_reason).toBe(folded.body.stop_reason);
  });

  test.each(streams)("the official client puts $name together as its plain completion", async ({ events }) => {
    verifies("chat.stream.folds-to-body");
    const folded = await foldedCompletion(events);
    if (folded === null) return;
    expect(lintText(folded.text).flatMap(({ faults }) => faults)).toEqual([]);
    expect(shownChoice(folded.choice)).toEqual(shownChoice(folded.body));
  });
});

function streamsOf(at: string, file: string): { name: string; events: RecordedEvent[] }[] {
  if (!file.endsWith(".chunks.txt") || file === ABRIDGED) return [];
  const found: ResponseStreamEvent[][] = [];
  for (const line of readFileSync(join(at, file), "utf8").split("\n")) {
    const event = line.trim() === "" ? null : jsonOrText(line);
    if (!readResponseStreamEvent(event)) continue;
    if (event.type === "response.created") found.push([]);
    found.at(-1)?.push(event);
  }
  return found.map((events, index) => ({
    name: `${file} #${index}`,
    events: events.map((event) => RecordedWhole.fromJson(event.sequence_number, JSON.stringify(event))),
  }));
}
