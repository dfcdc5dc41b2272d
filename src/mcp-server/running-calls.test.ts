import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import type { Caller } from "../responses-api/access/caller.ts";
import { RunningCalls } from "./running-calls.ts";

interface Client {
  readonly keyId?: string;
  readonly project?: string;
  readonly session?: string;
  readonly signal?: AbortSignal;
}

function caller({ keyId = "k", project = "p", session, signal = new AbortController().signal }: Client = {}): Caller {
  return {
    principal: { keyId, owner: { organization: "o", project }, limits: { requests: null, tokens: null } },
    signal,
    requestId: "req",
    trace: null,
    log: silentLogger,
    peer: { remoteAddress: "127.0.0.1", headers: session === undefined ? {} : { "mcp-session-id": session } },
  };
}

function cancelled(requestId: unknown) {
  return { method: "notifications/cancelled", params: { requestId } };
}

test("a call is cancelled only by its own key, session and id", () => {
  const calls = new RunningCalls();
  const call = calls.begin(caller({ session: "s" }), 1);
  for (const other of [{ session: "t" }, { keyId: "l", session: "s" }, {}]) calls.cancel(caller(other), cancelled(1));
  for (const id of [2, "1", null, {}, "x".repeat(101)]) calls.cancel(caller({ session: "s" }), cancelled(id));
  calls.cancel(caller({ session: "s" }), { params: null });
  expect(call?.signal.aborted).toBe(false);
  calls.cancel(caller({ session: "s" }), cancelled(1));
  expect(call?.signal.aborted).toBe(true);
});

test("an ended call, and one whose client has left, gives its place back once", () => {
  const calls = new RunningCalls();
  const leaving = new AbortController();
  const first = calls.begin(caller(), 0);
  calls.begin(caller({ signal: leaving.signal }), 1);
  for (let id = 2; id < 32; id += 1) expect(calls.begin(caller(), id)).not.toBeNull();
  expect(calls.begin(caller(), 32)).toBeNull();
  expect(calls.begin(caller({ project: "q" }), 32)).not.toBeNull();
  first?.end();
  first?.end();
  expect([calls.begin(caller(), 33) === null, calls.begin(caller(), 34)]).toEqual([false, null]);
  leaving.abort();
  expect([calls.begin(caller(), 35) === null, calls.begin(caller(), 36)]).toEqual([false, null]);
});
