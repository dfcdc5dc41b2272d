import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { UnfinishedCall, UnfinishedMessage } from "../../../runs/index.ts";
import { type AskedFor, continueItem } from "./continue-item.ts";

const CUT: ModelEvent = { type: "turn_cut" };
const STOP: ModelEvent = { type: "finished", reason: "stop" };
const CALL: UnfinishedCall = { type: "call", kind: "function", name: "f", namespace: null, text: '{"a":' };

function said(...texts: readonly string[]): readonly ModelEvent[] {
  return texts.map((text) => ({ type: "text_delta", text }));
}

function shown(text: string): UnfinishedMessage {
  return { type: "message", text, isPlain: true };
}

function called(name: string, ...pieces: readonly string[]): readonly ModelEvent[] {
  return [
    { type: "call_started", kind: "function", callId: "call_2", name },
    ...pieces.map((text) => ({ type: "call_delta", text }) as const),
    { type: "call_finished" },
  ];
}

async function passed(open: UnfinishedMessage | UnfinishedCall, asked: AskedFor, events: readonly ModelEvent[]) {
  const turn = (async function* () {
    for (const event of events) yield [event];
  })();
  const outcomes: string[] = [];
  const out: ModelEvent[] = [];
  for await (const batch of continueItem(open, { scope: asked, turn, onDecided: (how) => void outcomes.push(how) }))
    out.push(...batch);
  return { out, outcomes };
}

verifies("state.crash.open-items-go-on");

describe("a model that is asked again", () => {
  test.each<[string, UnfinishedMessage | UnfinishedCall, readonly ModelEvent[], readonly ModelEvent[]]>([
    ["says the same: only the rest is passed on", shown("All is"), said("All ", "is we", "ll"), said(" we", "ll")],
    ["says no more than was shown", shown("All"), [...said("All"), STOP], [STOP]],
    [
      "says the same after it has thought",
      shown("All"),
      [{ type: "reasoning_delta", text: "Hm" }, ...said("All", "!")],
      said("!"),
    ],
    [
      "says the same after it has ended its thoughts",
      shown("All"),
      [
        { type: "reasoning_sealed", sealedText: "gAAA" },
        { type: "message_finished" },
        { type: "message_started" },
        ...said("All", "!"),
      ],
      said("!"),
    ],
    ["begins its message by name", shown("All"), [{ type: "message_started" }, ...said("All", "!")], said("!")],
    ["says something else", shown("All is"), said("All ", "was", " lost"), [CUT, ...said("All ", "was", " lost")]],
    ["stops sooner", shown("All is well"), [...said("All"), STOP], [CUT, ...said("All"), STOP]],
    ["calls instead", shown("All"), called("f", "{}"), [CUT, ...called("f", "{}")]],
    ["says something where nothing was shown", shown(""), [{ type: "message_started" }, ...said("All")], said("All")],
    ["says nothing where nothing was shown", shown(""), [STOP], [STOP]],
    ["calls where nothing was shown", shown(""), called("f"), [CUT, ...called("f")]],
    [
      "makes the same call",
      CALL,
      called("f", '{"a"', ":1}"),
      [{ type: "call_delta", text: "1}" }, { type: "call_finished" }],
    ],
    ["makes another call", CALL, called("g", '{"a":1}'), [CUT, ...called("g", '{"a":1}')]],
    ["makes the call with other arguments", CALL, called("f", '{"b":1}'), [CUT, ...called("f", '{"b":1}')]],
  ])("%s", async (_name, open, events, expected) => {
    const { out, outcomes } = await passed(open, "again", events);
    expect(out).toEqual(expected);
    expect(outcomes).toEqual([expected[0] === CUT ? "new_item" : "same_item"]);
  });

  test("is passed on from where it was, however its text is cut into pieces", async () => {
    const text = fc.string({ maxLength: 20, unit: fc.constantFrom("a", "b") });
    await fc.assert(
      fc.asyncProperty(text, text, fc.array(fc.integer({ min: 1, max: 5 })), async (before, whole, cuts) => {
        const pieces: string[] = [];
        let rest = whole;
        for (const cut of [...cuts, 99]) {
          if (rest !== "") pieces.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        const { out } = await passed(shown(before), "again", [...said(...pieces), STOP]);
        const isCut = out[0]?.type === "turn_cut";
        const added = out.map((event) => ("text" in event ? event.text : "")).join("");
        expect(isCut ? added : before + added).toBe(whole);
        expect(isCut).toBe(!whole.startsWith(before));
      }),
    );
  });
});

describe("a model that is asked for the rest", () => {
  test.each<[string, readonly ModelEvent[], readonly ModelEvent[]]>([
    ["says it", said(" is", " well"), said(" is", " well")],
    ["begins with what was shown, word for word, because the text does", said("All"), said("All")],
    ["has nothing to add", [STOP], [STOP]],
    ["calls next", called("f", "{}"), called("f", "{}")],
    [
      "thinks first, so it begins anew",
      [{ type: "reasoning_delta", text: "Hm" }],
      [CUT, { type: "reasoning_delta", text: "Hm" }],
    ],
  ])("%s", async (_name, events, expected) => {
    expect((await passed(shown("All"), "rest", events)).out).toEqual(expected);
  });
});
