import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../tests/kit/processes.ts";
import { runGuarded, startGuarded, statusText } from "./guarded-child.ts";

const never = new AbortController().signal;
const NODE = process.execPath;

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(10);
}

/** Starts a program and a child of it, which both sleep. */
async function startFamily(): Promise<{ child: Awaited<ReturnType<typeof startGuarded>>; pids: readonly number[] }> {
  let said = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  const child = await startGuarded({
    program: "/bin/sh",
    args: ["-c", "sleep 60 & echo $$ $!; wait"],
    folder: "/",
    onOutput: (text) => {
      said += text;
      if (said.includes("\n")) resolve();
    },
  });
  await promise;
  return { child, pids: said.trim().split(" ").map(Number) };
}

test("arguments reach the program unchanged, whatever characters they hold", async () => {
  const hostile = ["a b", "$(touch x)", '"; exit 1;', "'", "--"];
  let said = "";
  const call = { program: NODE, args: ["-p", "JSON.stringify(process.argv.slice(1))", ...hostile], folder: "/" };
  await runGuarded({ ...call, onOutput: (text) => (said += text) }, never);
  expect(JSON.parse(said)).toEqual(hostile);
});

test("a program gets only the given environment, no input, and leaves no core file", async () => {
  let said = "";
  const script = 'echo "$SECRET_OF_OURS/$GIVEN/$(ulimit -c)/$(cat)"';
  const call = {
    program: "/bin/sh",
    args: ["-c", script],
    folder: "/",
    environment: { GIVEN: "yes", PATH: "/bin:/usr/bin" },
  };
  await runGuarded({ ...call, onOutput: (text) => (said += text) }, never);
  expect(said).toBe("/yes/0/\n");
});

test("a program without a given environment inherits none of our settings", async () => {
  process.env["MODEL_API_KEY"] = "sk-secret";
  onTestFinished(() => {
    delete process.env["MODEL_API_KEY"];
  });
  let said = "";
  const call = { program: NODE, args: ["-p", "Object.keys(process.env).join()"], folder: "/" };
  await runGuarded({ ...call, onOutput: (text) => (said += text) }, never);
  expect(said).toContain("PATH");
  expect(said).not.toContain("MODEL_API_KEY");
});

test("the end of a program is reported with the end of its output", async () => {
  const child = await startGuarded({
    program: "/bin/sh",
    args: ["-c", "echo first; echo last >&2; exit 3"],
    folder: "/",
  });
  expect(await child.exit).toEqual({ status: 3, outputTail: expect.stringContaining("last") });
  const failing = runGuarded({ program: "/bin/sh", args: ["-c", "echo why >&2; exit 3"], folder: "/" }, never);
  await expect(failing).rejects.toMatchObject({
    name: "ProgramFailed",
    message: expect.stringMatching(/exit status 3: why$/),
  });
  const crashing = await startGuarded({ program: "/bin/sh", args: ["-c", "kill -ILL $$"], folder: "/" });
  expect(statusText((await crashing.exit).status)).toBe("signal 4");
});

test("a missing program has its own error", async () => {
  const call = { program: "no-such-program-anywhere", args: [], folder: "/" };
  await expect(runGuarded(call, never)).rejects.toMatchObject({ name: "ProgramMissing" });
});

test("killing ends the program and its children", async () => {
  const { child, pids } = await startFamily();
  child.kill();
  await child.exit;
  await Promise.all(pids.map(gone));
  child.kill(); // A second kill does nothing.
});

test("aborting kills the program and rejects with the signal's reason", async () => {
  const leaving = new AbortController();
  const running = runGuarded({ program: "sleep", args: ["60"], folder: "/" }, leaving.signal);
  setTimeout(() => leaving.abort(new Error("enough")), 50);
  await expect(running).rejects.toThrow("enough");
});

test("a program does not outlive the process that started it, even if that is killed", async () => {
  const script = `
    import { startGuarded } from ${JSON.stringify(new URL("guarded-child.ts", import.meta.url).href)};
    const call = { program: "/bin/sh", args: ["-c", "sleep 60 & echo $$ $!; wait"], folder: "/" };
    await startGuarded({ ...call, onOutput: (text) => process.stdout.write(text) });`;
  const parent = spawn(NODE, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [text] = await once(parent.stdout, "data");
  const pids = String(text).trim().split(" ").map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  parent.kill("SIGKILL");
  await Promise.all(pids.map(gone));
});
