import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { readTraceContext, traceHeaders } from "./trace-context.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("a trace context", () => {
  test("is read from its two headers, and made into them again", () => {
    const headers = { traceparent: TRACEPARENT, tracestate: "vendor=1,other=2" };
    expect(traceHeaders(readTraceContext(headers))).toEqual(headers);
  });

  test.each([
    ["a state that is too long", "x=".padEnd(600, "y")],
    ["a state that is no text of a header", "x=\u0000"],
    ["no state", undefined],
  ])("stands without %s", (_what, tracestate) => {
    expect(readTraceContext({ traceparent: TRACEPARENT, tracestate })).toEqual({
      traceparent: TRACEPARENT,
      tracestate: null,
    });
  });

  test.each([
    ["nothing", undefined],
    ["several headers", [TRACEPARENT, TRACEPARENT]],
    ["text", "hello"],
    ["capital letters", TRACEPARENT.toUpperCase()],
    ["no trace id", "00-00000000000000000000000000000000-b7ad6b7169203331-01"],
    ["no span id", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"],
    ["a version that is forbidden", TRACEPARENT.replace(/^00/, "ff")],
    ["more than its version has", `${TRACEPARENT}-more`],
    ["a line break", `${TRACEPARENT}\r\nx: y`],
  ])("is not read from %s", (_what, traceparent) => {
    verifies("operations.traces.bad-context-is-ignored");
    expect(readTraceContext({ traceparent })).toBeNull();
  });

  test("of a later version may say more", () => {
    const traceparent = `${TRACEPARENT.replace(/^00/, "01")}-more`;
    expect(readTraceContext({ traceparent })?.traceparent).toBe(traceparent);
  });
});
