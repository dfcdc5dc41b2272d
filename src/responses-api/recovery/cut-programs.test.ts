import { newIdStem } from "@antiphon/base/ids.ts";
import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { lintEvents } from "@antiphon/stream-grammar/stream-linter.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { QuickJsPrograms } from "../../tools/programs/program-runtime.ts";
import { programTool } from "../../tools/programs/program-tool.ts";
import type { RunTask } from "../task/run-task.ts";
import type { MortalProcess } from "./mortal-process.fixture.ts";
import { liveThrough, mortalEngine } from "./mortal-run.fixture.ts";

const PROGRAMS = programTool(new QuickJsPrograms());
const LAB: ToolInput = {
  type: "mcp",
  server_label: "lab",
  server_url: "https://lab.test/mcp",
  allowed_callers: ["programmatic"],
};
const KEYS = ["a", "b", "c"];
/** One call, then two at once. */
const CODE = `
  const outcomes = [];
  const pay = (key) => tools.pay({ key }).catch((error) => error.message.includes("interrupted") ? "?" + key : "broken");
  outcomes.push(await pay("a"), ...(await Promise.all([pay("b"), pay("c")])));
  text(outcomes.join(" "));`;
const TIMEOUT_MS = 120_000;

function taskOf(): RunTask {
  return {
    ids: newIdStem(1_800_000_000),
    reasoning: { rawAs: "text", isSealed: false },
    inputTokensEstimate: 1,
    request: { ...aRequest({ parallelToolCalls: true }), trace: null },
    speech: null,
    compaction: null,
    tools: {
      hosted: [
        { kind: "mcp", tool: LAB },
        { kind: "programmatic_tool_calling", tool: { type: "programmatic_tool_calling" } },
      ],
      include: [],
      callsMax: null,
      context: [],
      fitsWindow: false,
    },
    interruption: null,
  };
}

/** A tool that acts at once, and remembers what it did over all lives. */
function payingTool(life: MortalProcess, paid: string[]): HostedTool {
  return {
    kind: "mcp",
    types: ["mcp"],
    refusal: () => null,
    open: async () => ({
      functions: [
        { type: "hosted_function", name: "pay", server: "lab", description: "", parameters: { type: "object" } },
      ],
      note: null,
      opening: [],
      pending: [],
      call: (name, { newItemId }) => {
        const item = {
          id: newItemId("mcp"),
          type: "mcp_call" as const,
          status: "in_progress" as const,
          approval_request_id: null,
          arguments: "",
          error: null,
          name,
          output: null,
          server_label: "lab",
        };
        return {
          item,
          streams: "arguments",
          effect: "may_have",
          async *run(args) {
            yield* [];
            await life.alive();
            const key = /"key":"(\w)"/.exec(args)?.[1] ?? "";
            paid.push(key);
            await life.alive();
            const last = { ...item, status: "completed" as const, arguments: args, output: key };
            return { type: "ran", item: last, output: key, parts: [], sources: [] };
          },
        };
      },
      close: async () => {},
    }),
  };
}

/** Writes the program, and says what it saw of it. */
async function* say({ items }: ModelRequest, life: MortalProcess): AsyncGenerator<readonly ModelEvent[]> {
  expect(items.filter(({ type }) => type === "hosted_call")).toEqual([]);
  const output = items.flatMap((item) => (item.type === "program_output" ? [item.result] : []))[0];
  const events: readonly ModelEvent[] =
    output === undefined
      ? [
          { type: "call_started", kind: "hosted", callId: "call_p", name: "program" },
          { type: "call_delta", text: JSON.stringify({ code: CODE }) },
          { type: "call_finished" },
        ]
      : [{ type: "text_delta", text: output }];
  for (const event of [...events, { type: "finished", reason: "stop" } as const]) {
    await life.alive();
    yield [event];
  }
}

test(
  "a program goes on after a death at any moment, and pays at most once",
  async () => {
    verifies("tools.programs.goes-on-after-a-crash");
    const outcomes = new Set<string>();
    for (let death = 1; ; death += 1) {
      const paid: string[] = [];
      const partsOf = (life: MortalProcess) => ({
        engine: mortalEngine(life, (request) => say(request, life)),
        tools: [payingTool(life, paid), PROGRAMS],
      });
      const lives = await liveThrough(partsOf, taskOf(), [death]);
      const last = lives.at(-1);
      const { status, output } = last?.body ?? { status: "failed", output: [] };
      expect(status, `died after ${death} changes`).toBe("completed");
      const events = (last?.events ?? []).map(({ event }) => event);
      expect(lintEvents(structuredClone([...events])).faults, `died after ${death} changes`).toEqual([]);
      expect(paid.toSorted()).toEqual([...new Set(paid)].toSorted());
      const ended = output.flatMap((item) => (item.type === "program_output" ? [item] : []));
      expect(ended, `died after ${death} changes`).toMatchObject([{ status: "completed" }]);
      for (const [index, key] of (ended[0]?.result.split(" ") ?? []).entries()) {
        expect([KEYS[index], `?${KEYS[index]}`]).toContain(key);
        if (key === KEYS[index]) expect(paid).toContain(key);
      }
      outcomes.add(ended[0]?.result ?? "");
      if (lives.length === 1) break; // It had ended before.
    }
    expect(outcomes).toContain("a b c");
    expect([...outcomes].some((result) => result.includes("?"))).toBe(true);
  },
  TIMEOUT_MS,
);
