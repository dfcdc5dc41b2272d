import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readProcessTree } from "../../src/containers/engines/process-tree.ts";
import { HARNESS_STARTER, harnessOpening } from "../../src/containers/harness/harness-opening.ts";
import { SandboxLink } from "../../src/containers/harness/sandbox-link.ts";
import type { Sandbox, SandboxRun } from "../../src/containers/ports.ts";
import { startPiped } from "../../src/programs/piped-child.ts";
import { type EscapeAttempt, PRELUDE } from "./attempts/escape-attempt.ts";
import { ESCAPE_ATTEMPTS } from "./escape-attempts.ts";
import { type Host, openHost } from "./host-facts.ts";
import { sandboxEngines } from "./sandbox-engines.ts";

const LIMITS = { memoryBytes: 512 * 1024 * 1024, diskBytes: 64 * 1024 * 1024, processesMax: 32 };
const TIMEOUT_MS = 20_000;
const FILES_MAX = 1000;
const SIGNAL = new AbortController().signal;

let host: Host;

beforeAll(async () => {
  host = await openHost();
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

for (const { name, engine, why } of await sandboxEngines()) {
  describe.skipIf(engine === null)(`code in ${name} does no harm${why === "" ? "" : ` (${why})`} if it`, () => {
    let other: Sandbox | null = null;
    let processes: readonly number[] = [];

    beforeAll(async () => {
      other = (await engine?.start(LIMITS, SIGNAL)) ?? null;
      await other?.writeFile("other.txt", bytesOf(host.facts.secret), SIGNAL);
      processes = await ownProcesses();
    });

    afterAll(async () => {
      await other?.kill();
    });

    test.for(ESCAPE_ATTEMPTS.map((attempt) => [attempt.title, attempt] as const))(
      "%s",
      async ([, attempt], { skip }) => {
        skip(attempt.isOpenIn?.includes(name) === true, `${name} does not stop this`);
        if (engine === null || other === null) throw new Error("no engine");
        const sandbox = await engine.start(LIMITS, SIGNAL);
        let run: SandboxRun;
        try {
          run = await runAttempt(sandbox, attempt);
          await sandbox.listFiles(FILES_MAX, SIGNAL).catch(() => []);
        } finally {
          await sandbox.kill();
        }
        expect(logsOf(run)).not.toMatch(/ESCAPED|BROKEN/);
        expect(attempt.ends ?? [null]).toContain(run.end);
        if (run.end === null && attempt.isSilent !== true) expect(logsOf(run)).toContain("REFUSED");
        expect(await host.harm()).toEqual([]);
        expect(await ownProcesses()).toEqual(processes);
        await expectUntouched(other);
      },
    );
  });
}

describe.skipIf(process.platform !== "linux")("without a sandbox, code would get through when it", () => {
  const controlled = ESCAPE_ATTEMPTS.filter(({ isControlled }) => isControlled === true);

  test.for(controlled.map((attempt) => [attempt.title, attempt] as const))("%s", async ([, attempt]) => {
    const sandbox = await startUnguarded();
    const run = await runAttempt(sandbox, attempt);
    expect(logsOf(run)).toContain("ESCAPED");
    await sandbox.kill();
    await host.harm();
  });
});

function runAttempt(sandbox: Sandbox, { code, timeoutMs = TIMEOUT_MS }: EscapeAttempt): Promise<SandboxRun> {
  const limits = { timeoutMs, logCharactersMax: 20_000, imagesMax: 2, imageBytesMax: 100_000 };
  return sandbox.runCode(PRELUDE + code(host.facts), limits, SIGNAL);
}

/** Python with the user's own rights. Only what does no harm may be tried in it. */
async function startUnguarded(): Promise<SandboxLink> {
  const gone = Promise.withResolvers<void>();
  const opening = await harnessOpening({ addressBytesMax: null, processesMax: null, openFilesMax: null, niceness: 0 });
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
        return { write: (bytes) => child.write(bytes), kill: () => child.kill(), gone: gone.promise };
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
