import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../tests/kit/processes.ts";
import { type ProgramCall, ProgramFailed, ProgramMissing, runProgram } from "./child-program.ts";

/** Runs a one-line script with this Node. */
function callOf(script: string, changes: Partial<ProgramCall> = {}): ProgramCall {
  return {
    program: process.execPath,
    args: ["-e", script],
    input: [],
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    outputBytesMax: 1024 * 1024,
    ...changes,
  };
}

async function outputOf(call: ProgramCall): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of runProgram(call)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

const PASSED_ON =
  /^(PATH|HOME|TMPDIR|TEMP|TMP|LANG|LANGUAGE|TZ|LC_.*|LD_LIBRARY_PATH|CC|CXX|C(XX)?FLAGS|LDFLAGS|MAKEFLAGS)$/;
const SAYS_PID_AND_STAYS = "console.log(process.pid); setInterval(() => {}, 1000)";

describe("a program", () => {
  test("gets its input, and gives its output, piece by piece", async () => {
    const sent: number[] = [];
    const heard: string[] = [];
    const input = (async function* () {
      for (const number of [1, 2, 3]) {
        sent.push(number);
        yield Buffer.from(`${number}\n`);
        while (heard.length < number) await sleep(2); // Output arrives before the input ends.
      }
    })();
    for await (const piece of runProgram(callOf("process.stdin.pipe(process.stdout)", { input })))
      heard.push(Buffer.from(piece).toString());
    expect([sent, heard]).toEqual([
      [1, 2, 3],
      ["1\n", "2\n", "3\n"],
    ]);
  });

  test("streams megabytes without buffering them", async () => {
    const input = Array.from({ length: 40 }, () => Buffer.alloc(64 * 1024, "x"));
    const script = "let n = 0; process.stdin.on('data', (d) => n += d.length).on('end', () => console.log(n))";
    expect(await outputOf(callOf(script, { input }))).toBe(`${40 * 64 * 1024}\n`);
  });

  test("gets PATH and the language in its environment, but none of our settings", async () => {
    process.env["MODEL_API_KEY"] = "sk-secret";
    process.env["API_KEYS"] = "sk-secret";
    onTestFinished(() => {
      delete process.env["MODEL_API_KEY"];
      delete process.env["API_KEYS"];
    });
    const environment = await outputOf(callOf("console.log(JSON.stringify(process.env))"));
    expect(environment).toContain('"PATH":');
    expect(environment).not.toMatch(/sk-secret|API_KEY/);
    for (const name of Object.keys(JSON.parse(environment))) expect(name).toMatch(PASSED_ON);
  });

  test("that does not exist is named in the error", async () => {
    await expect(outputOf(callOf("", { program: "/no/such/program" }))).rejects.toThrow(ProgramMissing);
    await expect(outputOf(callOf("", { program: import.meta.filename }))).rejects.toThrow(ProgramMissing);
  });

  test("that fails is quoted in the error", async () => {
    const failing = outputOf(callOf("console.error('no voice'); process.exit(3)"));
    await expect(failing).rejects.toThrow(ProgramFailed);
    await expect(failing).rejects.toThrow(/no voice$/);
    await expect(outputOf(callOf("process.exit(3)"))).rejects.toThrow(/exit status 3$/);
  });

  test("that stops reading early is not waited for", async () => {
    const input = (async function* () {
      yield Buffer.from("x");
      await new Promise(() => {}); // More input never arrives.
    })();
    await expect(outputOf(callOf("setTimeout(() => process.exit(4), 50)", { input }))).rejects.toThrow(/exit status 4/);
    expect(
      await outputOf(
        callOf("process.stdin.destroy(); console.log('done'); process.exit(0)", { input: [Buffer.alloc(1024 * 1024)] }),
      ),
    ).toBe("done\n");
  });

  test("fails with the error of its input", async () => {
    const input = (async function* () {
      yield Buffer.from("x");
      throw new Error("the input broke");
    })();
    await expect(outputOf(callOf("process.stdin.resume()", { input }))).rejects.toThrow("the input broke");
  });

  test("that takes too long, or writes too much, is killed", async () => {
    await expect(outputOf(callOf("setInterval(() => {}, 1000)", { timeoutMs: 200 }))).rejects.toThrow(
      /longer than 0.2 s/,
    );
    const endless = callOf("setInterval(() => console.log('x'.repeat(1000)), 1)", { outputBytesMax: 5000 });
    await expect(outputOf(endless)).rejects.toThrow(/more than 5000 bytes/);
  });

  test("is killed at once when its signal aborts, and ends without an error", async () => {
    const controller = new AbortController();
    let pid = 0;
    for await (const piece of runProgram(callOf(SAYS_PID_AND_STAYS, { signal: controller.signal }))) {
      pid = Number(Buffer.from(piece).toString());
      expect(isAlive(pid)).toBe(true);
      controller.abort();
    }
    expect(pid).toBeGreaterThan(0);
    expect(isAlive(pid)).toBe(false);
  });

  test("is killed when its output is no longer read", async () => {
    let pid = 0;
    for await (const piece of runProgram(callOf(SAYS_PID_AND_STAYS))) {
      pid = Number(Buffer.from(piece).toString());
      break;
    }
    expect(isAlive(pid)).toBe(false);
  });

  test("is not started if its signal has aborted", async () => {
    expect(await outputOf(callOf("console.log(1)", { signal: AbortSignal.abort() }))).toBe("");
  });
});
