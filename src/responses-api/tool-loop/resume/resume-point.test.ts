import { idFromStem, newIdStem } from "@antiphon/base/ids.ts";
import type { McpCall, OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { DecidedPart, KnownExchange, TurnInLedger } from "@antiphon/domain/tool-ledger.ts";
import { describe, expect, test } from "vitest";
import type { ShownAnswer } from "../../../runs/index.ts";
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
    attempts: [],
    result:
      output === null
        ? null
        : {
            itemId: item.id,
            item,
            output: `shown ${output}`,
            parts: [],
            usage: { webSearches: number },
            outcome: "finished",
          },
  };
}

function shownWith(output: readonly OutputItem[], open: HostedItem | null = null): ShownAnswer {
  return { output, open: open === null ? null : { type: "hosted", item: open }, sound: "not begun" };
}

const MESSAGE = { type: "message", text: "Let me", isPlain: true } as const;
const CALL = { type: "call", kind: "function", name: "f", namespace: null, text: '{"a":1}' } as const;
const REASONING: OutputItem = { type: "reasoning", id: "rs_1", summary: [] };
const TEXT: OutputItem = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Let me pay.", annotations: [], logprobs: [] }],
};
const COMPACTION: OutputItem = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
const APPROVAL: HostedItem = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  arguments: "{}",
  name: "pay",
  server_label: "bank",
};

describe("a call whose item is open", () => {
  const open = call(0);
  const stepsOf = (...exchanges: KnownExchange[]) => resumePoint(shownWith([], open), exchanges, []).steps;

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
  const { steps, idsUsed, calls } = resumePoint(shownWith([]), exchanges, []);
  expect(steps).toMatchObject([
    { first: { id: exchanges[2]?.itemId, status: "in_progress", arguments: "" }, isNew: false },
    { first: { id: exchanges[0]?.itemId, status: "in_progress", arguments: "" }, isNew: true },
  ]);
  expect([idsUsed, calls]).toEqual([4, 3]);
});

test("an approved call without effects runs again although its item was not shown, for its approval is spent", () => {
  const begun = { ...exchange(1, "none"), approvalRequestId: "mcpr_1" };
  const ended = { ...exchange(2, "none", "seen"), approvalRequestId: "mcpr_2" };
  const { steps } = resumePoint(shownWith([]), [begun, ended], []);
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
  const point = resumePoint(shownWith(output, call(5)), [exchange(1, "none", "seen"), approved], []);
  expect(point.items).toEqual([
    REASONING,
    { type: "hosted_call", callId: "call_1", name: "pay", server: "bank", arguments: '{"n":1}' },
    { type: "hosted_output", callId: "call_1", output: "shown seen", parts: [] },
    { type: "hosted_call", callId: "call_2", name: "pay", server: "bank", arguments: '{"n":1}' },
    { type: "hosted_output", callId: "call_2", output: "shown paid", parts: [] },
    TEXT,
  ]);
  const { idsUsed, calls, turns, spentIds, lists } = point;
  expect({ idsUsed, calls, turns, spentIds, lists }).toEqual({
    idsUsed: 6,
    calls: 2,
    turns: 2,
    spentIds: new Set(["mcpr_1"]),
    lists: [list],
  });
});

describe("what was used before a crash", () => {
  const usage = { inputTokens: 9, cachedTokens: 1, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 2 };
  const approved = { ...exchange(0, "none", "seen"), turn: 0 };
  const output = [call(0), TEXT, call(1), call(2)];
  const used = (...ended: readonly number[]) =>
    resumePoint(
      shownWith(output),
      [approved, exchange(1, "none", "seen"), exchange(2, "may_have")],
      ended.map((number) => ({ number, usage, decision: null })),
    ).usage;

  test("is what the model servers told of each turn, and what the calls told", () => {
    expect(used(1, 2)).toEqual({
      turns: [usage, usage],
      cutCharacters: [],
      tools: [{ webSearches: 0 }, { webSearches: 1 }],
    });
  });

  test("is not estimated for a turn that had ended before its call was shown whole", () => {
    const ended = [{ number: 1, usage, decision: null }];
    const point = resumePoint(shownWith([TEXT], call(1)), [exchange(1, "may_have")], ended);
    expect(point.usage.cutCharacters).toEqual([]);
  });

  test("is estimated for a turn that was cut, from what it said and called", () => {
    const characters = 'pay{"n":1}'.length;
    expect(used(1).cutCharacters).toEqual([characters]);
    expect(used(2).cutCharacters).toEqual([characters + "Let me pay.".length]);
  });
});

test("what may be cited is numbered on", () => {
  const exchanges = [exchange(1, "none", "[web:2] A\n[web:7] B")];
  expect(resumePoint(shownWith([call(1)]), exchanges, []).citedBefore).toBe(7);
});

const SHELL: HostedItem = {
  type: "shell_call",
  id: idFromStem("sh", STEM, FIRST),
  call_id: "call_1",
  status: "in_progress",
  environment: null,
  action: { commands: [], max_output_length: null, timeout_ms: null },
};

test("a call of the client that is not whole ends as incomplete, and asked for nothing", () => {
  const { steps, end } = resumePoint(shownWith([], SHELL), [], []);
  expect(steps).toMatchObject([{ type: "cut", last: { status: "incomplete", action: { commands: [] } } }]);
  expect(end).toBeNull();
  expect(resumePoint(shownWith([{ ...SHELL, status: "incomplete" }]), [], []).end).toBeNull();
});

describe("a turn that was not recorded", () => {
  const functionCall = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" } as const;

  test.each<[string, ShownAnswer, object]>([
    ["goes on after calls of this server's tools", shownWith([REASONING, call(0)]), { end: null, open: null }],
    ["goes on within a text", { ...shownWith([]), open: MESSAGE }, { end: null, open: MESSAGE, endsOpen: false }],
    [
      "goes on within a call of the client",
      { ...shownWith([]), open: { ...CALL, text: '{"a":' } },
      { end: null, open: { text: '{"a":' }, endsOpen: false },
    ],
    ["is over after a whole call of the client", { ...shownWith([]), open: CALL }, { end: "stop", endsOpen: false }],
    [
      "is over once it has asked the client, and the text behind that breaks off",
      { ...shownWith([{ ...functionCall, status: "completed" }]), open: MESSAGE },
      { end: "stop", open: null, endsOpen: true },
    ],
    ["goes on after a call that broke off", shownWith([{ ...functionCall, status: "incomplete" }]), { end: null }],
    ["is over after a question to the client", shownWith([APPROVAL]), { end: "stop" }],
    ["is over with a question to the client", shownWith([], APPROVAL), { end: "stop" }],
    ["is over after its compaction", shownWith([call(0), COMPACTION]), { end: "stop" }],
    [
      "ends its reasoning",
      { ...shownWith([]), open: { type: "reasoning", item: REASONING } },
      { end: null, endsOpen: true, items: [REASONING] },
    ],
  ])("%s", (_name, shown, expected) => {
    expect(resumePoint(shown, [], [])).toMatchObject(expected);
  });
});

describe("a recorded turn", () => {
  const usage = { inputTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 0 };
  const said = (text: string): DecidedPart => ({
    type: "said",
    item: "message",
    events: [{ type: "text_delta", text }],
  });
  const calls = (number: number, members: object = {}): DecidedPart => ({
    type: "call",
    itemId: call(number).id,
    callId: `call_${number}`,
    name: "pay",
    server: "bank",
    arguments: '{"n":1}',
    refusal: null,
    ...members,
  });
  const recorded = (
    number: number,
    parts: readonly DecidedPart[],
    finish: "length" | "stop" = "stop",
  ): TurnInLedger => ({
    number,
    usage,
    decision: { finish, parts },
  });
  const message = (text: string, status: "completed" | "incomplete" = "completed"): OutputItem => ({
    ...TEXT,
    status,
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  });
  const done = (number: number) => call(number, { status: "completed" });
  const delta = (text: string): ModelEvent => ({ type: "text_delta", text });
  const END: ModelEvent = { type: "message_finished" };

  test("that called nothing ends the response, with what was not shown of its text", () => {
    const whole = resumePoint(shownWith([message("All done.")]), [], [recorded(1, [said("All done.")])]);
    expect(whole).toMatchObject({ steps: [], end: "stop" });
    const open = { type: "message", text: "All ", isPlain: true } as const;
    const point = resumePoint({ ...shownWith([]), open }, [], [recorded(1, [said("All done.")], "length")]);
    expect(point).toMatchObject({ end: "length", open: null, endsOpen: false });
    expect(point.steps).toMatchObject([{ type: "said", events: [delta("done."), END] }]);
  });

  test("whose text was shown with citations, and not whole, says it again in another item", () => {
    const open = { type: "message", text: "See [1", isPlain: false } as const;
    const { steps } = resumePoint({ ...shownWith([]), open }, [], [recorded(1, [said("See 【web:1】.")])]);
    expect(steps).toMatchObject([{ events: [{ type: "turn_cut" }, delta("See 【web:1】."), END] }]);
  });

  test("whose labels were removed from its text is found there", () => {
    const point = resumePoint(shownWith([message("I pay.")]), [], [recorded(1, [said("I pay [file:9]."), calls(1)])]);
    expect(point.steps).toMatchObject([{ type: "planned", call: { callId: "call_1" } }]);
  });

  test("begins the calls that had not begun, under their ids, and only those", () => {
    const parts = [said("I pay."), calls(0), calls(1), calls(2)];
    const exchanges = [{ ...exchange(0, "may_have", "paid"), turn: 1 }];
    const point = resumePoint(shownWith([message("I pay."), done(0)], call(1)), exchanges, [recorded(1, parts)]);
    expect(point.steps).toMatchObject([
      { type: "planned", call: { callId: "call_1" }, isOpen: true, exchange: null },
      { type: "planned", call: { callId: "call_2" }, isOpen: false, exchange: null },
    ]);
    expect(point).toMatchObject({ end: null, open: null, isBetweenTurns: true, idsUsed: 3 });
  });

  test("is over once its calls are, and the next turn is gone on with", () => {
    const exchanges = [{ ...exchange(0, "may_have", "paid"), turn: 1 }];
    const ended = [recorded(1, [calls(0)])];
    expect(resumePoint(shownWith([done(0)]), exchanges, ended)).toMatchObject({ steps: [], isBetweenTurns: true });
    const next = resumePoint({ ...shownWith([done(0)]), open: MESSAGE }, exchanges, ended);
    expect(next).toMatchObject({ steps: [], open: MESSAGE, isBetweenTurns: false, end: null });
  });

  test("is found behind what is left of attempts at it that broke off", () => {
    const left = [REASONING, message("Let me", "incomplete"), call(0, { status: "incomplete" })];
    const point = resumePoint(shownWith([...left, message("I pay.")]), [], [recorded(1, [said("I pay."), calls(1)])]);
    expect(point.steps).toMatchObject([{ type: "planned", call: { callId: "call_1" } }]);
  });

  test("with a call that was refused tells the model so again, and in later turns", () => {
    const refused = calls(0, { itemId: null, refusal: "There is no tool 'pay'." });
    const first = recorded(1, [refused]);
    expect(resumePoint(shownWith([]), [], [first]).steps).toMatchObject([{ type: "planned", call: refused }]);
    const exchanges = [{ ...exchange(1, "may_have", "paid"), turn: 2 }];
    const { items, steps } = resumePoint(shownWith([done(1)]), exchanges, [first, recorded(2, [calls(1)])]);
    expect(steps).toEqual([]);
    expect(items.slice(-2)).toMatchObject([
      { type: "hosted_call", callId: "call_0" },
      { type: "hosted_output", callId: "call_0", output: "There is no tool 'pay'." },
    ]);
  });

  test("that asks for approvals is over once all of them were asked for", () => {
    const asks = (number: number) => calls(number, { itemId: null, arguments: `{"n":${number}}` });
    const ended = [recorded(1, [asks(1), asks(2)])];
    const asked = (number: number): OutputItem => ({ ...APPROVAL, id: `mcpr_${number}`, arguments: `{"n":${number}}` });
    const half = resumePoint(shownWith([asked(1)]), [], ended);
    expect(half).toMatchObject({ steps: [{ type: "planned", call: { callId: "call_2" } }], end: "stop" });
    expect(resumePoint(shownWith([asked(1), asked(2)]), [], ended)).toMatchObject({ steps: [], end: "stop" });
  });
});

test("a text that broke off is gone on with unless its client wants the response to fail", () => {
  const shown = { ...shownWith([]), open: MESSAGE };
  expect(canResume({ interruption: null }, shown)).toBe(true);
  expect(canResume({ interruption: "restart" }, shown)).toBe(true);
  expect(canResume({ interruption: "fail" }, shown)).toBe(false);
  expect(canResume({ interruption: "fail" }, shownWith([TEXT]))).toBe(true);
});
