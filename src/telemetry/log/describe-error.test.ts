import { ApiError } from "@antiphon/base/api-error.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { describeError } from "./describe-error.ts";

const KEY = "operators-key-1";
const check = (error: unknown): unknown => describeError(error, [KEY]);

describe("an error in the log", () => {
  test("is told with its class, its message, its code and where it came from", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
      code: "ECONNREFUSED",
      syscall: "connect",
    });
    const error = new Error("Cannot reach the model server at http://127.0.0.1:1: nothing listens there.", { cause });
    expect(check(error)).toMatchObject({
      type: "Error",
      message: "Cannot reach the model server at http://127.0.0.1:1: nothing listens there.",
      stack: expect.stringMatching(/^\s+at .*describe-error\.test\.ts/),
      cause: { code: "ECONNREFUSED", syscall: "connect" },
    });
  });

  test("has no stack where another server or a caller is at fault, but has that of our own cause", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const failure = new ModelError("Cannot reach it.", { status: 502, type: "server_error", cause });
    expect(JSON.stringify(check(failure))).not.toContain("stack");
    const own = new ApiError({ status: 500, type: "server_error", code: null, message: "No.", cause: new Error("x") });
    expect(check(own)).toMatchObject({ message: "No.", cause: { stack: expect.stringContaining("at ") } });
    expect(check(own)).not.toHaveProperty("stack");
  });

  test("leaves out what another server said", () => {
    verifies("operations.log.no-content");
    const quoted = "cannot parse 'my diary'";
    const message = `The model server failed with status 500: ${quoted}`;
    const shown = JSON.stringify(
      check(new ApiError({ status: 500, type: "server_error", code: null, message, quoted })),
    );
    expect(shown).toContain("The model server failed with status 500: […]");
    expect(shown).not.toContain("diary");
  });

  test.each([
    ["a key that is configured", `refused ${KEY} today`, "refused […] today"],
    ["a key by its look", "refused sk-abcdef0123 today", "refused […] today"],
    ["a header", "sent Authorization: Bearer abc.def today", "sent Authorization: […] today"],
    ["an inlined file", "bad image data:image/png;base64,iVBORw0KGgo= here", "bad image […] here"],
    ["anything long without a blank", `bad ${"Ab1+/".repeat(20)} here`, "bad […] here"],
  ])("hides %s", (_what, message, shown) => {
    verifies("operations.log.no-secrets");
    expect(check(new Error(message))).toMatchObject({ message: shown });
  });

  test("hides what a parser repeats of what it read, and members that nobody vouches for", () => {
    verifies("operations.log.no-content");
    const parsing = (): unknown => JSON.parse('my "diary"');
    let error: unknown = null;
    try {
      parsing();
    } catch (caught) {
      error = caught;
    }
    const shown = JSON.stringify([
      check(error),
      check(Object.assign(new Error("x"), { rawPacket: Buffer.from("my diary"), body: "my diary" })),
      check("my diary"),
    ]);
    expect(shown).toContain("SyntaxError");
    expect(shown).not.toContain("diary");
  });

  test("ends, however long its chain of causes is", () => {
    const circular = new Error("a");
    circular.cause = circular;
    expect(JSON.stringify(check(circular)).length).toBeLessThan(20_000);
  });
});
