import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { processIsGone, readProcess, readProcessTree } from "@antiphon/sandbox/engines/process-tree.ts";
import {
  FileRefused,
  type Sandbox,
  type SandboxEngine,
  type SandboxRun,
} from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PYODIDE_CONFINEMENTS, probePyodideHere } from "./pyodide-here.ts";

const MEBIBYTE = 1024 * 1024;
const LIMITS = { memoryBytes: 512 * MEBIBYTE, diskBytes: 8 * MEBIBYTE, processesMax: 8 };
const CALL = { timeoutMs: 60_000, logCharactersMax: 10_000, imagesMax: 2, imageBytesMax: 1_000_000 };
const SIGNAL = new AbortController().signal;
const GONE_MS_MAX = 10_000;

const folder = await mkdtemp(join(tmpdir(), "pyodide-"));
const cacheFolder = join(folder, "cache");

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

for (const confinement of PYODIDE_CONFINEMENTS) {
  const probe = await probePyodideHere(cacheFolder, confinement);
  const why = probe.type === "works" ? "" : ` (${probe.why})`;
  describe.skipIf(probe.type === "fails")(`Pyodide with ${confinement} around it${why}`, () => {
    let engine: SandboxEngine;
    let sandbox: Sandbox;
    const run = (code: string): Promise<SandboxRun> => sandbox.runCode(code, CALL, SIGNAL);

    beforeAll(async () => {
      if (probe.type === "fails") throw new Error(probe.why);
      ({ engine } = probe);
      sandbox = await engine.start(LIMITS, SIGNAL);
    });

    afterAll(async () => {
      await engine?.close();
    });

    test("keeps variables, and shows what is printed and the last value", async () => {
      expect(engine.abilities).toEqual({ engine: "pyodide", python: "3.14", packages: [], hasShell: false });
      await run("kept = 40");
      expect(await run("print('printed')\nkept + 2")).toEqual({
        outputs: [{ type: "logs", logs: "printed\n42" }],
        traceback: null,
        end: null,
      });
    });

    test("tells an exception by its traceback, and goes on", async () => {
      const failed = await run("print('before')\n1 / 0");
      expect(failed.outputs).toEqual([{ type: "logs", logs: "before\n" }]);
      expect(failed.traceback).toMatch(
        /^Traceback .*\n {2}File "<call \d+>", line 2[^]*\nZeroDivisionError: [a-z ]+\n$/,
      );
      const awaited = await run("import asyncio\nasync def fail():\n  await asyncio.sleep(0)\n  1 / 0\nawait fail()");
      expect(awaited.outputs).toEqual([]);
      expect(awaited.traceback).toMatch(/ZeroDivisionError/);
      expect((await run("asyncio.run(asyncio.sleep(0, 7))")).outputs).toEqual([{ type: "logs", logs: "7" }]);
    });

    test("takes and gives files, and keeps symbolic links to itself", async () => {
      await sandbox.writeFile("in/a.bin", pieces(300_000, 5), SIGNAL);
      const made = await run(
        "import os\ndata = open('/mnt/data/in/a.bin', 'rb').read()\nopen('b.txt', 'w').write('made')\nos.symlink('/lib', 'link')\nlen(data), set(data)",
      );
      expect(made.outputs).toEqual([{ type: "logs", logs: "(300005, {7})" }]);
      const files = await sandbox.listFiles(10, SIGNAL);
      const bytes = Object.fromEntries(files.map((file) => [file.path, file.bytes]));
      expect(bytes).toEqual({ "b.txt": 4, "in/a.bin": 300_005 });
      expect((await bytesOf(sandbox, "in/a.bin")).length).toBe(300_005);
      await expect(bytesOf(sandbox, "link")).rejects.toThrow(FileRefused);
      await sandbox.removeFile("in/a.bin", SIGNAL);
      expect((await sandbox.listFiles(10, SIGNAL)).map(({ path }) => path)).toEqual(["b.txt"]);
    });

    test("refuses what does not fit on its disk, and goes on", async () => {
      const full = await run("with open('big', 'wb') as file:\n  while True: file.write(bytes(100_000))");
      expect(full.traceback).toMatch(/OSError: \[Errno \d+\] No space left on device/);
      await expect(sandbox.writeFile("more", pieces(4 * MEBIBYTE, 0), SIGNAL)).rejects.toThrow(/No space left/);
      await run("os.remove('big')");
      await sandbox.writeFile("more", pieces(4 * MEBIBYTE, 0), SIGNAL);
    });

    test("answers with a MemoryError when its memory is full, and goes on", async () => {
      const full = await run("taken = []\nwhile True: taken.append(bytearray(10_000_000))");
      expect(full.traceback).toMatch(/MemoryError\n$/);
      expect((await run("del taken\n'on'")).outputs).toEqual([{ type: "logs", logs: "'on'" }]);
    });

    test.for(["/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/tty1"])(
      "keeps no output of a program that ends no line, as at %s",
      async (device) => {
        const written = await run(`import os
try:
    number = os.open("${device}", os.O_WRONLY)
    for _ in range(200):
        os.write(number, b"x" * 200_000)
    os.close(number)
except OSError:
    pass
"on"`);
        expect(written).toEqual({ outputs: [{ type: "logs", logs: "'on'" }], traceback: null, end: null });
      },
    );

    test("ends when it takes memory from JavaScript", async () => {
      const own = await engine.start(LIMITS, SIGNAL);
      const code =
        "import pyodide_js\nkind = pyodide_js._module.HEAP8.constructor\nkept = []\nwhile True:\n  kept.append(kind.new(20_000_000).fill(1))";
      const { end } = await own.runCode(code, CALL, SIGNAL);
      expect(["out_of_memory", "crashed"]).toContain(end);
      await own.exit;
    });

    test("is killed when a call takes too long, or is cancelled", async () => {
      const own = await engine.start(LIMITS, SIGNAL);
      expect((await own.runCode("while True: pass", { ...CALL, timeoutMs: 300 }, SIGNAL)).end).toBe("timed_out");
      expect(await own.exit).toBe("timed_out");
      const other = await engine.start(LIMITS, SIGNAL);
      const cancelled = other.runCode("while True: pass", CALL, AbortSignal.timeout(100));
      await expect(cancelled).rejects.toThrow("timeout");
      expect(await other.exit).toBe("killed");
    });

    test("has other random numbers in each session", async () => {
      const other = await engine.start(LIMITS, SIGNAL);
      const code = "import random\nrandom.random()";
      expect((await other.runCode(code, CALL, SIGNAL)).outputs).not.toEqual((await run(code)).outputs);
      await other.kill();
    });

    test("leaves nothing behind when the server is killed", async () => {
      const program = fileURLToPath(new URL("./pyodide-server.ts", import.meta.url));
      const server = spawn(process.execPath, [program, cacheFolder, confinement], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(server.stdout, "data");
      const tree = await readProcessTree(server.pid ?? 0);
      expect(tree.length).toBeGreaterThan(3);
      server.kill("SIGKILL");
      for (const { id } of tree) await processIsGone(id, GONE_MS_MAX);
      const left = await Promise.all(tree.map(({ id }) => readProcess(id)));
      expect(left.filter((entry) => entry !== null && !entry.isDead)).toEqual([]);
    });
  });
}

describe("the snapshot of Pyodide", () => {
  test("is made anew when it is broken, and left out when it cannot be stored", async () => {
    const [name = ""] = await readdir(cacheFolder);
    expect(name).toMatch(/^pyodide-\d+\.\d+\.\d+-[0-9a-f]{32}\.snapshot$/);
    const before = await readFile(join(cacheFolder, name));
    await truncate(join(cacheFolder, name), 1_000_000);
    const probe = await probePyodideHere(cacheFolder, "none");
    expect(probe.type).toBe("works");
    expect(await readdir(cacheFolder)).toEqual([name]);
    expect((await readFile(join(cacheFolder, name))).length).toBe(before.length);
    await writeFile(join(folder, "file"), "");
    expect((await probePyodideHere(join(folder, "file"), "none")).type).toBe("works");
  });
});

async function* pieces(first: number, second: number): AsyncGenerator<Uint8Array> {
  for (const bytes of [first, second]) yield new Uint8Array(bytes).fill(7);
}

async function bytesOf(sandbox: Sandbox, path: string): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of sandbox.readFile(path, SIGNAL)) read.push(piece);
  return Buffer.concat(read);
}
