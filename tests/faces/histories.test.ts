import { jsonOrText, readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ChatAssistantMessage } from "@antiphon/contracts/chat-completions/types.ts";
import type { MessagesBlockInput } from "@antiphon/contracts/messages/types.ts";
import type { InputItem, OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasBothReasonings } from "../../src/faces/both-reasonings.fixture.ts";
import { chatCompletion } from "../../src/faces/chat-completions/completion.ts";
import { inputItems } from "../../src/faces/chat-completions/request-messages.ts";
import { messageOf } from "../../src/faces/messages/message.ts";
import { itemsOfTurns } from "../../src/faces/messages/request-items.ts";
import { aPlan } from "../../src/runs/run.fixture.ts";
import type { RunState } from "../../src/runs/run-state.ts";
import { anySignals, END_OF_RUN } from "../../src/runs/signals.fixture.ts";
import { initialState, transition } from "../../src/runs/transition.ts";
import { verifies } from "../verifies.ts";

/** The same runs each time. */
const RUNS = { seed: 20_261_128, numRuns: 1_000 };

/** The final snapshot of a run; null if it has not come to a good end. */
const anyEnd = anySignals(30).map((signals): Response | null => {
  let state: RunState = initialState({ ...aPlan(), sealReasoning: (text) => `sealed ${text}` });
  let ended: Response | null = null;
  for (const signal of [{ type: "accepted" } as const, ...signals, ...END_OF_RUN]) {
    const next = transition(state, signal);
    state = next.state;
    for (const event of next.events)
      if (event.type === "response.completed" || event.type === "response.incomplete") ended = event.response;
  }
  return ended;
});

/** What the model reads of items: texts of one kind in a row are one. */
function seen(items: readonly (InputItem | OutputItem)[]): unknown[] {
  const parts: { kind: string; text: string }[] = [];
  for (const item of items) {
    for (const part of partsOf(item)) {
      const last = parts.at(-1);
      if (part.kind === "text" && last?.kind === "text") last.text += part.text;
      else if (part.text !== "") parts.push({ ...part });
    }
  }
  return parts;
}

function partsOf(item: InputItem | OutputItem): readonly { kind: string; text: string }[] {
  if (item.type === "reasoning") return [{ kind: "reasoning", text: item.encrypted_content ?? "" }];
  if (item.type === "function_call")
    return [{ kind: `call ${item.call_id} ${item.name}`, text: JSON.stringify(jsonOrText(item.arguments)) }];
  if (item.type !== "message" || typeof item.content === "string") return [];
  return item.content.map((part) => ({
    kind: "text",
    text: part.type === "output_text" ? part.text : part.type === "refusal" ? part.refusal : "",
  }));
}

const SHOWN = new Set(["reasoning", "message", "function_call"]);

/** Whether a message shows all items of the run: hosted ones and refusals have forms of their own. */
function isPlainRun({ output }: Response): boolean {
  return output.every(
    (item) =>
      SHOWN.has(item.type) &&
      (item.type !== "function_call" || item.arguments === "" || isRecord(jsonOrText(item.arguments))) &&
      (item.type !== "message" || item.content.every(({ type }) => type === "output_text")),
  );
}

test("the message of any run, sent back, shows the model the items of the run", () => {
  verifies("messages.history.same-items");
  let compared = 0;
  fc.assert(
    fc.property(anyEnd, (ended) => {
      if (ended === null || hasBothReasonings(ended) || !isPlainRun(ended)) return;
      const { content } = messageOf(ended, { model: "m", omitsThinking: false });
      const blocks = readOwnJson<MessagesBlockInput[]>(JSON.stringify(content));
      const items = itemsOfTurns([{ role: "assistant", content: blocks }], (text) => text.startsWith("sealed "));
      expect(seen(items)).toEqual(seen(ended.output).map(withObject));
      compared += 1;
    }),
    RUNS,
  );
  expect(compared).toBeGreaterThan(50);
});

/** Arguments without any text are an empty object. */
function withObject(part: unknown): unknown {
  return isRecord(part) && part["text"] === '""' ? { ...part, text: "{}" } : part;
}

test("the chat message of any run with hosted items, sent back, is the items of the run", () => {
  verifies("chat.tools.hosted-come-back");
  const seal = {
    seal: (kind: string, text: string) => `${kind}:${text}`,
    open: (kind: string, text: string) => (text.startsWith(`${kind}:`) ? text.slice(kind.length + 1) : null),
  };
  let compared = 0;
  fc.assert(
    fc.property(anyEnd, fc.boolean(), (ended, speaks) => {
      if (ended === null) return;
      const [choice] = chatCompletion([ended], { usesFunctions: false, speaks, seal }).choices;
      const message = readOwnJson<ChatAssistantMessage>(JSON.stringify(choice?.message));
      if (message.hosted_items == null) return;
      expect(inputItems([message], seal)).toEqual(ended.output);
      compared += 1;
    }),
    RUNS,
  );
  expect(compared).toBeGreaterThan(50);
});
