import { describe, expect, test } from "vitest";
import type { McpCall, OutputItem } from "../../../generated/responses-api/types.ts";
import { idFromStem, newIdStem } from "../../base/ids.ts";
import type { KnownExchange } from "../ports.ts";
import { canResume, resumePoint } from "./resume-point.ts";

const STEM = newIdStem(1_700_000_000);
const FIRST = 0x2000_0000;

function call(number: number, members: Partial<McpCall> = {}): McpCall & { readonly id: string } {
  return {
    type: "mcp_call",
    status: "in_progress",
    approval_request_id: null,
    arguments: "",
    error: null,
    name: "pay",
    output: null,
    server_label: "bank",
    ...members,
    id: idFromStem("mcp", STEM, FIRST + number),
  };
}

function exchange(number: number, effect: KnownExchange["effect"], output: string | null = null): KnownExchange {
  const item = call(number, { status: "completed", arguments: '{"n":1}', output });
  return {
    itemId: item.id,
    callId: `call_${number}`,
    name: "pay",
    server: "bank",
    arguments: '{"n":1}',
    effect,
    approvalRequestId: null,
    turn: number,
    result:
      output === null
        ? null
        : { itemId: item.id, item, output: `shown ${output}`, parts: [], usage: { webSearches: number } },
  };
}

const REASONING: OutputItem = { type: "reasoning", id: "rs_1", summary: [] };
const TEXT: OutputItem = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Let me pay.", annotations: [], logprobs: [] }],
};
const COMPACTION: OutputItem = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
const APPROVAL: OutputItem = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  arguments: "{}",
  name: "pay",
  server_label: "bank",
};

describe("a call whose item is open", () => {
  const open = call(0);
  const stepsOf = (...exchanges: KnownExchange[]) =>
    resumePoint({ output: [], open, sound: "not begun" }, exchanges, []).steps;

  test("ends as incomplete if it had not begun", () => {
    expect(stepsOf()).toEqual([{ type: "cut", last: { ...open, status: "incomplete" } }]);
  });

  test("ends as the ledger says if it had ended", () => {
    const ended = exchange(0, "may_have", "paid");
    expect(stepsOf(ended)).toEqual([
      { type: "settled", exchange: ended, result: ended.result, first: null, isNew: false },
    ]);
  });

  test("runs again if it has no effects", () => {
    const begun = exchange(0, "none");
    expect(stepsOf(begun)).toEqual([{ type: "again", exchange: begun, item: open, first: null }]);
  });

  test("fails, and the model is told, if it may have had effects", () => {
    expect(stepsOf(exchange(0, "may_have"))).toMatchObject([
      {
        type: "settled",
        first: null,
        isNew: true,
        result: {
          item: {
            status: "failed",
            arguments: '{"n":1}',
            error: { type: "mcp_protocol_error", message: "interrupted; whether it took effect is unknown" },
          },
          output: expect.stringContaining("whether it took effect is unknown"),
        },
      },
    ]);
  });

  test("ends as incomplete if it worked in a session", () => {
    expect(stepsOf(exchange(0, "sandboxed"))).toMatchObject([
      { type: "settled", isNew: true, result: { item: { status: "incomplete" } } },
    ]);
  });
});

test("calls whose items were not shown are shown in their order, but for those without effects", () => {
  const exchanges = [exchange(3, "may_have"), exchange(2, "none"), exchange(1, "may_have", "paid")];
  const { steps, idsUsed, calls } = resumePoint({ output: [], open: null, sound: "not begun" }, exchanges, []);
  expect(steps).toMatchObject([
    { first: { id: exchanges[2]?.itemId, status: "in_progress", arguments: "" }, isNew: false },
    { first: { id: exchanges[0]?.itemId, status: "in_progress", arguments: "" }, isNew: true },
  ]);
  expect([idsUsed, calls]).toEqual([4, 3]);
});

test("an approved call without effects runs again although its item was not shown, for its approval is spent", () => {
  const begun = { ...exchange(1, "none"), approvalRequestId: "mcpr_1" };
  const ended = { ...exchange(2, "none", "seen"), approvalRequestId: "mcpr_2" };
  const { steps } = resumePoint({ output: [], open: null, sound: "not begun" }, [begun, ended], []);
  const first = call(1, { approval_request_id: "mcpr_1" });
  expect(steps).toEqual([
    { type: "again", exchange: begun, item: first, first },
    {
      type: "settled",
      exchange: ended,
      result: ended.result,
      first: call(2, { approval_request_id: "mcpr_2" }),
      isNew: false,
    },
  ]);
});

test("the model is shown what had ended, and all counts go on", () => {
  const list: OutputItem = {
    type: "mcp_list_tools",
    id: idFromStem("mcpl", STEM, FIRST),
    server_label: "bank",
    tools: [],
  };
  const approved = { ...exchange(2, "may_have", "paid"), approvalRequestId: "mcpr_1" };
  const output = [list, REASONING, call(1, { status: "completed" }), call(2, { status: "completed" }), TEXT];
  const point = resumePoint({ output, open: call(5), sound: "not begun" }, [exchange(1, "none", "seen"), approved], []);
  expect(point.items).toEqual([
    REASONING,
    { type: "hosted_call", callId: "call_1", name: "pay", server: "bank", arguments: '{"n":1}' },
    { type: "hosted_output", callId: "call_1", output: "shown seen", parts: [] },
    { type: "hosted_call", callId: "call_2", name: "pay", server: "bank", arguments: '{"n":1}' },
    { type: "hosted_output", callId: "call_2", output: "shown paid", parts: [] },
    TEXT,
  ]);
  const { idsUsed, calls, turns, spent, lists } = point;
  expect({ idsUsed, calls, turns, spent, lists }).toEqual({
    idsUsed: 6,
    calls: 2,
    turns: 2,
    spent: new Set(["mcpr_1"]),
    lists: [list],
  });
});

describe("what was used before a crash", () => {
  const usage = { inputTokens: 9, cachedTokens: 1, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 2 };
  const approved = { ...exchange(0, "none", "seen"), turn: 0 };
  const output = [call(0), TEXT, call(1), call(2)];
  const used = (...ended: readonly number[]) =>
    resumePoint(
      { output, open: null, sound: "not begun" },
      [approved, exchange(1, "none", "seen"), exchange(2, "may_have")],
      ended.map((number) => ({ number, usage })),
    ).used;

  test("is what the model servers told of each turn, and what the calls told", () => {
    expect(used(1, 2)).toEqual({
      turns: [usage, usage],
      cutCharacters: [],
      tools: [{ webSearches: 0 }, { webSearches: 1 }],
    });
  });

  test("is not estimated for a turn that had ended before its call was shown whole", () => {
    const shown = { output: [TEXT], open: call(1), sound: "not begun" } as const;
    expect(resumePoint(shown, [exchange(1, "may_have")], [{ number: 1, usage }]).used.cutCharacters).toEqual([]);
  });

  test("is estimated for a turn that was cut, from what it said and called", () => {
    const characters = 'pay{"n":1}'.length;
    expect(used(1).cutCharacters).toEqual([characters]);
    expect(used(2).cutCharacters).toEqual([characters + "Let me pay.".length]);
  });
});

test("what may be cited is numbered on", () => {
  const exchanges = [exchange(1, "none", "[web:2] A\n[web:7] B")];
  expect(resumePoint({ output: [call(1)], open: null, sound: "not begun" }, exchanges, []).citedBefore).toBe(7);
});

describe("a run goes on", () => {
  const tools = { hosted: [], include: [], callsMax: null, context: [], fitsWindow: false };

  test.each<[string, boolean, readonly OutputItem[]]>([
    ["after calls of this server's tools", true, [REASONING, call(0)]],
    ["before anything was shown", true, []],
    ["not after a question to the client", false, [APPROVAL]],
    ["not after its compaction", false, [call(0), COMPACTION]],
  ])("%s", (_name, expected, output) => {
    expect(canResume({ tools }, { output, open: null, sound: "not begun" })).toBe(expected);
  });

  const shell: OutputItem = {
    type: "shell_call",
    id: idFromStem("sh", STEM, FIRST),
    call_id: "call_1",
    status: "in_progress",
    environment: null,
    action: { commands: [], max_output_length: null, timeout_ms: null },
  };

  test("after a call that the client was not asked for, since it was not whole", () => {
    expect(canResume({ tools }, { output: [{ ...shell, status: "incomplete" }], open: null, sound: "not begun" })).toBe(
      true,
    );
    expect(canResume({ tools }, { output: [], open: shell, sound: "not begun" })).toBe(true);
    expect(resumePoint({ output: [], open: shell, sound: "not begun" }, [], []).steps).toMatchObject([
      { type: "cut", last: { status: "incomplete", action: { commands: [] } } },
    ]);
    expect(canResume({ tools }, { output: [{ ...shell, status: "completed" }], open: null, sound: "not begun" })).toBe(
      false,
    );
    expect(canResume({ tools }, { output: [], open: APPROVAL, sound: "not begun" })).toBe(false);
  });

  test("not without tools", () => {
    expect(canResume({ tools: null }, { output: [REASONING], open: null, sound: "not begun" })).toBe(false);
  });
});
