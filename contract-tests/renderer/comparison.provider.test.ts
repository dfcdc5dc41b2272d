import { lintText } from "@antiphon/stream-grammar/index.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { describeTree } from "./accessibility-tree.fixture.ts";
import { WRITTEN_CASES } from "./cases.fixture.ts";
import { differencesOfSteps } from "./compare.fixture.ts";
import { Masking } from "./masks.fixture.ts";
import type { Step } from "./show.fixture.ts";
import { differenceOfTexts } from "./snapshot-differences.fixture.ts";
import type { Snapshot } from "./viewer.fixture.ts";

test.each(WRITTEN_CASES)("the hand-written stream of $name follows the stream grammar", ({ streams }) => {
  verifies("contract.parity.stream-grammar");
  for (const { events } of streams) {
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    expect(lintText(text)).toMatchObject([{ events: events.length, faults: [] }]);
  }
});

describe("two steps", () => {
  const snapshot: Snapshot = {
    isSettled: true,
    dom: "<p>\n  Hi",
    accessibility: 'paragraph ""\n  StaticText "Hi"',
    screenshot: Buffer.from("pixels"),
  };
  const step: Step = { name: "response.created", request: { input: "Hi" }, snapshot };
  const seen = (changed: Partial<Snapshot>): Step => ({ ...step, snapshot: { ...snapshot, ...changed } });

  test.each<[string, Step | null, string[]]>([
    ["that are the same", seen({ screenshot: Buffer.from("pixels") }), []],
    ["of which ours is missing", null, ["Our stream ended before the reference's."]],
    [
      "of another event",
      { ...step, name: "error" },
      ["event, from line 1 (- reference, + ours):", "- response.created", "+ error"],
    ],
    [
      "with another request",
      { ...step, request: { input: "Ho" } },
      ["request, from line 2 (- reference, + ours):", '-  "input": "Hi"', '+  "input": "Ho"'],
    ],
    [
      "with another element",
      seen({ dom: "<p>\n  Hi\n  there" }),
      ["DOM, from line 3 (- reference, + ours):", "+   there"],
    ],
    [
      "that sound different",
      seen({ accessibility: 'alert ""\n  StaticText "Hi"' }),
      ["accessibility tree, from line 1 (- reference, + ours):", '- paragraph ""', '+ alert ""'],
    ],
    ["that look different", seen({ screenshot: Buffer.from("pixel") }), ["Screenshot: other pixels."]],
    ["of which ours goes on", seen({ isSettled: false }), ["The page of our stream did not come to rest."]],
  ])("%s", (_, ours, expected) => expect(differencesOfSteps(step, ours)).toEqual(expected));

  test("differ if the reference's is missing", () => {
    expect(differencesOfSteps(null, step)).toEqual(["Our stream continues after the end of the reference's."]);
  });
});

describe("a difference", () => {
  test("of long lines is shown around the first difference", () => {
    const [, left, right] = differenceOfTexts("DOM", `${"a".repeat(500)}b${"c".repeat(500)}`, "a".repeat(600));
    expect(left).toBe(`- …${"a".repeat(60)}b${"c".repeat(99)}…`);
    expect(right).toBe(`+ …${"a".repeat(160)}`);
  });

  test("of many lines is shown in part, with the number of lines", () => {
    const shown = differenceOfTexts("DOM", "same\nsame", `same\n${"other\n".repeat(40)}same`);
    expect(shown).toHaveLength(1 + 12 + 1);
    expect(shown.at(-1)).toBe("+ … 40 lines");
  });
});

describe("masks", () => {
  const masked = (...events: object[]): unknown[] => {
    const masking = new Masking([
      { what: "response.top_p", reason: "any" },
      { what: "b:name", reason: "any" },
    ]);
    return events.map((event) => masking.mask(event));
  };

  test.each<[string, object[], object[]]>([
    [
      "number ids, each kind by itself, and keep what belongs together",
      [{ item: { id: "msg_9f" } }, { item_id: "rs_77" }, { item_id: "msg_9f" }, { item_id: "msg_a1" }],
      [{ item: { id: "msg_1" } }, { item_id: "rs_1" }, { item_id: "msg_1" }, { item_id: "msg_2" }],
    ],
    [
      "hide times, and keep that there is none",
      [{ created_at: 5, completed_at: null }],
      [{ created_at: 0, completed_at: null }],
    ],
    [
      "number ciphertexts, also one that comes again",
      [{ encrypted_content: "x" }, { encrypted_content: "x" }, { encrypted_content: null }],
      [{ encrypted_content: "sealed_1" }, { encrypted_content: "sealed_2" }, { encrypted_content: null }],
    ],
    ["keep the length of obfuscation", [{ obfuscation: "k3J" }], [{ obfuscation: "xxx" }]],
    [
      "leave a member out of any event",
      [{ type: "a", response: { top_p: 1, model: "m" } }],
      [{ type: "a", response: { model: "m" } }],
    ],
    [
      "leave a member out of one event alone",
      [
        { type: "b", name: "n", item: { name: "n" } },
        { type: "c", name: "n" },
      ],
      [
        { type: "b", item: { name: "n" } },
        { type: "c", name: "n" },
      ],
    ],
    [
      "keep everything else",
      [{ type: "a", delta: "msg_9f", call_id: "call_1" }],
      [{ type: "a", delta: "msg_9f", call_id: "call_1" }],
    ],
  ])("%s", (_, events, expected) => expect(masked(...events)).toEqual(expected));

  test("are removed from the page's requests", () => {
    const masking = new Masking([]);
    masking.mask({ item: { id: "rs_9f", encrypted_content: "secret" } });
    const sent = { input: [{ type: "reasoning", id: "rs_1", encrypted_content: "sealed_1" }, "say rs_1"] };
    expect(masking.unmask(sent)).toEqual({
      input: [{ type: "reasoning", id: "rs_9f", encrypted_content: "secret" }, "say rs_1"],
    });
  });
});

test("an accessibility tree omits ignored nodes and keeps their children", () => {
  const node = (nodeId: string, role: string, name: string, more: object) => ({
    nodeId,
    ignored: false,
    role: { value: role },
    name: { value: name },
    ...more,
  });
  const tree = describeTree([
    node("1", "main", "Chat", { childIds: ["2", "4"] }),
    node("2", "generic", "", { childIds: ["3"], ignored: true }),
    node("3", "StaticText", "Hi", { childIds: ["5"] }),
    node("4", "textbox", "Message", {
      childIds: [],
      value: { value: "Ho" },
      properties: [
        { name: "focused", value: { value: true } },
        { name: "labelledby", value: {} },
      ],
    }),
    node("5", "InlineTextBox", "Hi", { childIds: [] }),
  ]);
  expect(tree).toBe(['main "Chat"', '  StaticText "Hi"', '  textbox "Message" "Ho" focused=true'].join("\n"));
});
