import type {
  MessagesBlock,
  MessagesDelta,
  MessagesMessage,
  MessagesStreamEvent,
} from "@antiphon/contracts/messages/types.ts";
import { validateMessagesMessage, validateMessagesStreamEvent } from "@antiphon/contracts/messages/validators.js";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { Numbering } from "../../runs/numbering.ts";
import { type RecordedEvent, RecordedWhole } from "../../runs/recorded-event.ts";
import { aPlan } from "../../runs/run.fixture.ts";
import type { RunState } from "../../runs/run-state.ts";
import { anySignals, END_OF_RUN } from "../../runs/signals.fixture.ts";
import { initialState, transition } from "../../runs/transition.ts";
import { hasBothReasonings } from "../both-reasonings.fixture.ts";
import { messageOf } from "./message.ts";
import { type MessageEventOptions, MessageWriter, STOP_FRAME } from "./message-events.ts";
import { objectIn } from "./server-blocks.ts";

/** The events of a run until it has ended, at a stop sequence or not. */
const anyRun = fc.tuple(anySignals(40), fc.boolean()).map(([signals, stops]) => {
  const numbering = new Numbering(0);
  const plan = { ...aPlan(), sealReasoning: (text: string) => `sealed ${text.length}` };
  let state: RunState = initialState(plan);
  const stop = stops ? [{ type: "model", event: { type: "stop_sequence", sequence: "END" } } as const] : [];
  return [{ type: "accepted" } as const, ...stop, ...signals, ...END_OF_RUN].flatMap((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return numbering.number(next.events);
  });
});

const anyOptions = fc.record({
  model: fc.constant("claude-test"),
  omitsThinking: fc.boolean(),
  inputTokens: fc.constant(7),
});

interface Written {
  readonly events: readonly MessagesStreamEvent[];
  readonly text: string;
  readonly ended: Response | null;
}

function write(events: readonly RecordedEvent[], options: MessageEventOptions): Written {
  const writer = new MessageWriter(options);
  const text = events.map((event) => writer.framesOf(event)).join("");
  const frames = text.split("\n\n").slice(0, -1);
  return {
    text,
    events: frames.map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + "data: ".length))),
    ended: writer.ended,
  };
}

/** The message that a client puts together from the events. */
function foldEvents(events: readonly MessagesStreamEvent[]): MessagesMessage {
  const [start] = events;
  if (start?.type !== "message_start") throw new TypeError("a stream begins with message_start");
  let message = start.message;
  const inputs: string[] = [];
  const content: MessagesBlock[] = [];
  for (const event of events) {
    if (event.type === "content_block_start") {
      content.push(event.content_block);
      inputs.push("");
    }
    if (event.type === "content_block_delta") {
      const block = content[event.index];
      if (block !== undefined) content[event.index] = grown(block, event.delta);
      if (event.delta.type === "input_json_delta") inputs[event.index] += event.delta.partial_json;
    }
    if (event.type === "message_delta")
      message = { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } };
  }
  return {
    ...message,
    content: content.map((block, index) =>
      block.type === "tool_use" || block.type === "server_tool_use"
        ? { ...block, input: objectIn(inputs[index] ?? "") }
        : block,
    ),
  };
}

function grown(block: MessagesBlock, delta: MessagesDelta): MessagesBlock {
  if (block.type === "text" && delta.type === "text_delta") return { ...block, text: block.text + delta.text };
  if (block.type === "text" && delta.type === "citations_delta")
    return { ...block, citations: [...(block.citations ?? []), delta.citation] };
  if (block.type === "thinking" && delta.type === "thinking_delta")
    return { ...block, thinking: block.thinking + delta.thinking };
  if (block.type === "thinking" && delta.type === "signature_delta") return { ...block, signature: delta.signature };
  return block;
}

/** Both end with response.failed. */
function hasFailed({ status }: Response): boolean {
  return status === "failed" || status === "cancelled";
}

test("the events of any run give the plain body of its message", () => {
  verifies("messages.stream.folds-to-body");
  fc.assert(
    fc.property(anyRun, anyOptions, (run, options) => {
      const { events, ended, text } = write(run, options);
      for (const event of events)
        expect(validateMessagesStreamEvent(event), JSON.stringify(validateMessagesStreamEvent.errors)).toBe(true);
      if (ended === null || hasFailed(ended) || hasBothReasonings(ended)) return;
      const body = messageOf(ended, options);
      expect(validateMessagesMessage(body), JSON.stringify(validateMessagesMessage.errors)).toBe(true);
      expect(foldEvents(events)).toEqual(body);
      const faults = lintText(text + STOP_FRAME).flatMap((report) => report.faults);
      // The calls of these runs have any text as their arguments.
      expect(faults.filter(({ rule }) => rule !== "messages-input")).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("events read from the log give the same bytes as those that were just made", () => {
  fc.assert(
    fc.property(anyRun, anyOptions, (run, options) => {
      const stored = run.map(({ number, json }) => RecordedWhole.fromJson(number, json));
      expect(write(stored, options).text).toBe(write(run, options).text);
    }),
    { numRuns: 300 },
  );
});
