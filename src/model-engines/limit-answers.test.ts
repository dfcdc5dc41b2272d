import { createBuiltInEngine } from "@antiphon/built-in-model/index.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import type { AnswerLimits } from "./answer-meter.ts";
import { DELTA_CHARACTERS_MAX, limitAnswers } from "./limit-answers.ts";

const WIDE: AnswerLimits = {
  textCharactersMax: 1e9,
  reasoningCharactersMax: 1e9,
  argumentsCharactersMax: 1e9,
  callsMax: 1e9,
  itemsMax: 1e9,
  annotationsMax: 1e9,
  logprobsMax: 1e9,
};

interface LimitedAnswer {
  readonly batches: readonly (readonly ModelEvent[])[];
  readonly events: readonly ModelEvent[];
  /** How often `onReached` was called. */
  readonly reached: number;
  /** Whether the turn was stopped before its end. */
  readonly wasStopped: boolean;
}

/** Reads a turn of one batch through the limits. */
async function readLimited(said: readonly ModelEvent[], limits: Partial<AnswerLimits> = {}): Promise<LimitedAnswer> {
  let reached = 0;
  let wasStopped = true;
  async function* turn(): AsyncGenerator<readonly ModelEvent[]> {
    yield said;
    wasStopped = false;
  }
  const engine: ModelEngine = { ...createBuiltInEngine(), sample: async () => turn() };
  const limited = limitAnswers(engine, { ...WIDE, ...limits }, () => (reached += 1));
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of await limited.sample(aRequest(), new AbortController().signal)) batches.push(batch);
  return { batches, events: batches.flat(), reached, wasStopped };
}

const text = (said: string): ModelEvent => ({ type: "text_delta", text: said });
const think = (said: string): ModelEvent => ({ type: "reasoning_delta", text: said });
const sum = (said: string): ModelEvent => ({ type: "reasoning_summary_delta", text: said });
const call: ModelEvent = { type: "call_started", kind: "function", callId: null, name: "f" };
const args = (said: string): ModelEvent => ({ type: "call_delta", text: said });
const cite: ModelEvent = {
  type: "annotation",
  annotation: { type: "url_citation", start_index: 0, end_index: 1, title: "", url: "https://a.test" },
};
const likely: ModelEvent = {
  type: "text_delta",
  text: "a",
  logprobs: [{ token: "a", bytes: [97], logprob: 0, top_logprobs: [{ token: "a", bytes: [97], logprob: 0 }] }],
};
const refuse: ModelEvent = { type: "refusal_delta", text: "no" };
const cut: ModelEvent = { type: "finished", reason: "length" };
const end: ModelEvent = { type: "finished", reason: "stop" };

/** The events of the turn, the limits, and the events that are passed on before the answer is cut. */
const REACHED: Readonly<Record<string, readonly [ModelEvent[], Partial<AnswerLimits>, ModelEvent[]]>> = {
  "text is cut within a delta": [[text("abc"), text("def")], { textCharactersMax: 4 }, [text("abc"), text("d")]],
  "text is cut between deltas": [[text("abc"), text("def")], { textCharactersMax: 3 }, [text("abc")]],
  "no character is cut in two": [[text("a\u{1F600}")], { textCharactersMax: 2 }, [text("a")]],
  "refusals count as text": [[text("abc"), refuse], { textCharactersMax: 4 }, [text("abc"), { ...refuse, text: "n" }]],
  "reasoning and its summary": [[think("abc"), sum("def")], { reasoningCharactersMax: 4 }, [think("abc"), sum("d")]],
  "reasoning and its sealed form": [
    [think("abc"), { type: "reasoning_sealed", sealedText: "de" }],
    { reasoningCharactersMax: 4 },
    [think("abc")],
  ],
  "arguments of all calls": [
    [call, args("abc"), { type: "call_finished" }, call, args("def")],
    { argumentsCharactersMax: 4 },
    [call, args("abc"), { type: "call_finished" }, call, args("d")],
  ],
  calls: [[call, call, call], { callsMax: 2 }, [call, call]],
  items: [[text("a"), think("b"), text("c")], { itemsMax: 2 }, [text("a"), think("b")]],
  "parts of items": [[text("a"), refuse, text("c")], { itemsMax: 2 }, [text("a"), refuse]],
  annotations: [[text("a"), cite, cite], { annotationsMax: 1 }, [text("a"), cite]],
  "log probabilities and their alternatives": [[likely, likely], { logprobsMax: 3 }, [likely]],
};

describe("an answer that reaches a limit ends there", () => {
  test.each(Object.entries(REACHED))("%s", async (_title, [said, limits, expected]) => {
    verifies("runs.answer.limits");
    const limited = await readLimited([...said, end], limits);
    expect(limited.events).toEqual([...expected, cut]);
    expect(limited).toMatchObject({ reached: 1, wasStopped: true });
  });
});

describe("an answer within its limits", () => {
  test("is passed on unchanged, even if it reaches every limit exactly", async () => {
    const said = [text("abc"), think("def"), sum("g"), think("h"), call, args("ijk"), likely, cite, end];
    const limits = { textCharactersMax: 4, reasoningCharactersMax: 5, argumentsCharactersMax: 3, callsMax: 1 };
    const limited = await readLimited(said, { ...limits, itemsMax: 4, annotationsMax: 1, logprobsMax: 2 });
    expect(limited).toEqual({ batches: [said], events: said, reached: 0, wasStopped: false });
  });

  test("has its long text split into pieces, one batch each, without splitting a character", async () => {
    verifies("runs.answer.long-deltas-in-pieces");
    const long = "a".repeat(DELTA_CHARACTERS_MAX - 1) + "\u{1F600}".repeat(DELTA_CHARACTERS_MAX);
    const { batches } = await readLimited([text("Hi"), text(long), think("m"), end]);
    const pieces = batches.slice(1, -1).flat();
    expect(batches.slice(1, -1).every((batch) => batch.length === 1)).toBe(true);
    expect(pieces.map((piece) => ("text" in piece ? piece.text : "")).join("")).toBe(long);
    for (const piece of pieces)
      expect("text" in piece && piece.text.length <= DELTA_CHARACTERS_MAX && piece.text.isWellFormed()).toBe(true);
    expect([batches[0], batches.at(-1)]).toEqual([[text("Hi")], [think("m"), end]]);
  });
});
