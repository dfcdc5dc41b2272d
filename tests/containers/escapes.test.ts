import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPiped } from "@antiphon/programs/piped-child.ts";
import { readProcessTree } from "@antiphon/sandbox/engines/process-tree.ts";
import { HARNESS_STARTER, harnessOpening } from "@antiphon/sandbox/harness/harness-opening.ts";
import { SandboxLink } from "@antiphon/sandbox/harness/sandbox-link.ts";
import type { Sandbox, SandboxRun } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { someCases } from "../trials.ts";
import { type EscapeAttempt, PRELUDE, PYODIDE_PRELUDE } from "./attempts/escape-attempt.ts";
import { ESCAPE_ATTEMPTS } from "./escape-attempts.ts";
import { type Host, openHost } from "./host-facts.ts";
import { pyodideEngines, sandboxEngines, type TestedEngine } from "./sandbox-engines.ts";

const LIMITS = { memoryBytes: 512 * 1024 * 1024, diskBytes: 64 * 1024 * 1024, processesMax: 32 };
const TIMEOUT_MS = 20_000;
const FILES_MAX = 1000;
const SIGNAL = new AbortController().signal;
const USABLE = `import os, pyodide_js
for _ in range(64):
    last = os.open("/dev/null", os.O_RDONLY)
os.closerange(last - 63, last + 1)
42 if last < 128 and pyodide_js._module.HEAP8.length < 1 << 27 else 0`;

const cacheFolder = await mkdtemp(join(tmpdir(), "escapes-"));
let host: Host;

beforeAll(async () => {
  host = await openHost();
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(cacheFolder, { recursive: true, force: true });
});

/** Each attempt starts a sandbox, which takes a second in docker. In short trials each is made in one engine. */
function attemptsIn({ name, isPyodide }: TestedEngine): typeof ESCAPE_ATTEMPTS {
  if (name === "docker") return someCases(ESCAPE_ATTEMPTS, 4);
  return someCases(ESCAPE_ATTEMPTS, 2, isPyodide ? 1 : 0);
}

test("many attempts are made", () => {
  expect(ESCAPE_ATTEMPTS.length).toBeGreaterThanOrEqual(60);
});

for (const tested of [...(await sandboxEngines()), ...(await pyodideEngines(cacheFolder))]) {
  const { name, engine, why, isPyodide } = tested;
  describe.skipIf(engine === null)(`code in ${name} does no harm${why === "" ? "" : ` (${why})`} if it`, () => {
    let other: Sandbox | null = null;
    let kept: Sandbox | null = null;
    /** Without those of the sandbox that is kept. */
    let processes: readonly number[] = [];

    beforeAll(async () => {
      other = (await engine?.start(LIMITS, SIGNAL)) ?? null;
      await other?.writeFile("other.txt", bytesOf(host.facts.secret), SIGNAL);
      processes = await ownProcesses();
    });

    afterAll(async () => {
      await kept?.kill();
      await other?.kill();
    });

    test.for(attemptsIn(tested).map((attempt) => [attempt.title, attempt] as const))(
      "%s",
      async ([, attempt], { skip }) => {
        skip(attempt.isOpenIn?.includes(name) === true, `${name} does not stop this`);
        if (engine === null || other === null) throw new Error("no engine");
        const sandbox = kept ?? (await engine.start(LIMITS, SIGNAL));
        kept = null;
        let isKept = false;
        const before = await ownProcesses();
        let run: SandboxRun;
        try {
          run = await runAttempt(sandbox, attempt, tested);
          await sandbox.listFiles(FILES_MAX, SIGNAL).catch(() => []);
          isKept = isPyodide && run.end === null && (await isUsable(sandbox));
        } finally {
          if (isKept) kept = sandbox;
          else await sandbox.kill();
        }
        expectRefused(run, attempt, tested);
        expect(await host.harm()).toEqual([]);
        expect(await ownProcesses()).toEqual(isKept ? before : processes);
        await expectUntouched(other);
      },
    );
  });
}

describe.skipIf(process.platform !== "linux")("without a sandbox, code would get through when it", () => {
  const controlled = ESCAPE_ATTEMPTS.filter(({ isControlled }) => isControlled === true);

  test.for(controlled.map((attempt) => [attempt.title, attempt] as const))("%s", async ([, attempt]) => {
    const sandbox = await startUnguarded();
    const run = await runAttempt(sandbox, attempt, { isPyodide: false });
    expect(logsOf(run)).toContain("ESCAPED");
    await sandbox.kill();
    await host.harm();
  });
});

function runAttempt(
  sandbox: Sandbox,
  { code, timeoutMs = TIMEOUT_MS, inPyodide }: EscapeAttempt,
  { isPyodide }: Pick<TestedEngine, "isPyodide">,
): Promise<SandboxRun> {
  const limits = {
    timeoutMs: (isPyodide ? inPyodide?.timeoutMs : undefined) ?? timeoutMs,
    logCharactersMax: 20_000,
    imagesMax: 2,
    imageBytesMax: 100_000,
  };
  return sandbox.runCode(`${PRELUDE}${isPyodide ? PYODIDE_PRELUDE : ""}${code(host.facts)}`, limits, SIGNAL);
}

function expectRefused(run: SandboxRun, attempt: EscapeAttempt, { isPyodide }: TestedEngine): void {
  const own = isPyodide ? attempt.inPyodide : undefined;
  const logs = logsOf(run);
  expect(logs).not.toMatch(/BROKEN/);
  const escaped = [...logs.matchAll(/ESCAPED ?(.*)/g)].map(([, what]) => what);
  expect(escaped, own?.why).toEqual((own?.harmless ?? []).map((harmless) => expect.stringMatching(harmless)));
  expect(own?.ends ?? attempt.ends ?? [null], own?.why).toContain(run.end);
  if (own?.traceback !== undefined) expect(run.traceback, own.why).toMatch(own.traceback);
  else if (run.end === null && attempt.isSilent !== true && escaped.length === 0) expect(logs).toContain("REFUSED");
}

/** Whether a session of Pyodide answers, and has descriptors and memory left for other attempts. */
async function isUsable(sandbox: Sandbox): Promise<boolean> {
  const limits = { timeoutMs: TIMEOUT_MS, logCharactersMax: 100, imagesMax: 0, imageBytesMax: 0 };
  const run = await sandbox.runCode(USABLE, limits, SIGNAL);
  return run.end === null && logsOf(run) === "42";
}

/** Python with the user's own rights. Only what does no harm may be tried in it. */
async function startUnguarded(): Promise<SandboxLink> {
  const gone = Promise.withResolvers<void>();
  const opening = await harnessOpening({
    dataBytesMax: null,
    addressBytesMax: null,
    processesMax: null,
    openFilesMax: null,
    niceness: 0,
  });
  return SandboxLink.open(
    {
      opening: { ...opening, head: { ...opening.head, folder: "/tmp" } },
      timeoutMs: TIMEOUT_MS,
      start: async ({ onOutput, onEnd }) => {
        const child = await startPiped({
          program: "python3",
          args: ["-I", "-c", HARNESS_STARTER],
          folder: "/",
          environment: {},
          onOutput,
          onEnd: () => {
            gone.resolve();
            onEnd();
          },
        });
        return { write: (bytes) => child.write(bytes), kill: () => child.kill(), exit: gone.promise };
      },
    },
    SIGNAL,
  );
}

function logsOf({ outputs }: SandboxRun): string {
  return outputs.map((output) => (output.type === "logs" ? output.logs : "")).join("");
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The other session works on, with its file as it was. */
async function expectUntouched(other: Sandbox): Promise<void> {
  const pieces: Uint8Array[] = [];
  for await (const piece of other.readFile("other.txt", SIGNAL)) pieces.push(piece);
  expect(Buffer.concat(pieces).toString("utf8")).toBe(host.facts.secret);
}

/** Those that live and descend from this process. */
async function ownProcesses(): Promise<readonly number[]> {
  const tree = await readProcessTree(process.pid);
  return tree.flatMap(({ id, isDead }) => (isDead ? [] : [id])).toSorted((one, other) => one - other);
}
