import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { McpConnection } from "../../../src/tools/mcp/mcp-connection.ts";
import { HeldCalls } from "../../../src/tools/mcp/questions/held-calls.ts";
import { CallFloor, PausableCall } from "../../../src/tools/mcp/questions/pausable-call.ts";
import { verifies } from "../../verifies.ts";
import { mcpOptions } from "./opened-tool.ts";

const OURS = { organization: "o", project: "p" };
const OTHERS = { organization: "o", project: "q" };
const TEN_MINUTES_MS = 600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A call that asks at once, and what became of it. */
async function askingCall() {
  const seen = { answers: [] as ElicitResult[], releases: 0, isStopped: false };
  const floor = new CallFloor();
  const begin = async (signal: AbortSignal): Promise<CallToolResult> => {
    signal.addEventListener("abort", () => void (seen.isStopped = true));
    seen.answers.push(await floor.ask({ message: "Which size?" }, signal));
    return { content: [] };
  };
  const open = new PausableCall({ begin, timeoutMs: 1000 }, floor);
  const step = await open.next(new AbortController().signal);
  if (step.type !== "question") throw new Error("nothing was asked");
  const reach = { type: "url", url: "http://127.0.0.1:9", headers: {} } as const;
  const server = {
    label: "shop",
    reach,
    isOperators: false,
    asksUser: true,
    limits: null,
    idempotent: [],
    description: null,
  };
  const connection = new McpConnection(
    { ...server, tokenPlace: { type: "request" } },
    { ...mcpOptions(), tokens: null, caller: "o/p" },
  );
  const release = (): void => {
    seen.releases += 1;
  };
  return { seen, held: { open, answer: step.answer, place: { connection, release, join: () => {} } } };
}

test("a call that nobody answers for ten minutes is cancelled, and its connection given back", async () => {
  verifies("tools.mcp.waiting-calls-have-limits");
  const calls = new HeldCalls();
  const { seen, held } = await askingCall();
  calls.hold(OURS, "mcpr_1", held);
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS - 1);
  expect(seen.answers).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(seen).toEqual({ answers: [{ action: "cancel" }], releases: 1, isStopped: true });
  expect(calls.take(OURS, "mcpr_1")).toBe(null);
});

test("a waiting call is taken once, and only by its owner", async () => {
  const calls = new HeldCalls();
  const { seen, held } = await askingCall();
  calls.hold(OURS, "mcpr_1", held);
  expect(calls.take(OTHERS, "mcpr_1")).toBe(null);
  expect(calls.take(OURS, "mcpr_1")).toMatchObject({ open: held.open });
  expect(calls.take(OURS, "mcpr_1")).toBe(null);
  held.answer({ action: "accept", content: { size: "large" } });
  expect(await held.open.next(new AbortController().signal)).toEqual({ type: "result", result: { content: [] } });
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
  expect(seen.answers).toEqual([{ action: "accept", content: { size: "large" } }]);
});

test("at most 32 calls of an owner wait, and closing stops them all", async () => {
  verifies("tools.mcp.waiting-calls-have-limits");
  const calls = new HeldCalls();
  const all = await Promise.all(Array.from({ length: 32 }, askingCall));
  for (const [number, { held }] of all.entries()) {
    expect(calls.hasRoom(OURS)).toBe(true);
    calls.hold(OURS, `mcpr_${number}`, held);
  }
  expect([calls.hasRoom(OURS), calls.hasRoom(OTHERS)]).toEqual([false, true]);
  calls.close();
  expect(all.every(({ seen }) => seen.isStopped && seen.releases === 1)).toBe(true);
  expect(calls.hasRoom(OTHERS)).toBe(false);
});

test("the time that a user takes does not count as time of the call", async () => {
  const { held } = await askingCall();
  await vi.advanceTimersByTimeAsync(60_000);
  held.answer({ action: "decline" });
  expect(await held.open.next(new AbortController().signal)).toMatchObject({ type: "result" });
});
