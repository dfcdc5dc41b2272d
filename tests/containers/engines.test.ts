import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { CommandRun } from "@antiphon/domain/containers.ts";
import { FileRefused, type Sandbox, type SandboxRun } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAlive } from "../kit/processes.ts";
import { sandboxEngines } from "./sandbox-engines.ts";

const LIMITS = { memoryBytes: 1024 * 1024 * 1024, diskBytes: 16 * 1024 * 1024, processesMax: 32 };
const CALL = { timeoutMs: 30_000, logCharactersMax: 2000, imagesMax: 2, imageBytesMax: 1024 * 1024 };
const SIGNAL = new AbortController().signal;
const PNG_START = "89504e470d0a1a0a";

for (const { name, engine, why } of await sandboxEngines()) {
  const hasShell = engine?.abilities.hasShell === true;
  const has = (packageName: string): boolean => engine?.abilities.packages.includes(packageName) === true;

  describe.skipIf(engine === null)(`a session in ${name}${why === "" ? "" : ` (${why})`}`, () => {
    let sandbox: Sandbox;
    const run = (code: string): Promise<SandboxRun> => sandbox.runCode(code, CALL, SIGNAL);
    const command = async (text: string, timeoutMs = CALL.timeoutMs): Promise<CommandRun> =>
      (await sandbox.runCommand(text, { ...CALL, timeoutMs }, SIGNAL)).run;

    beforeAll(async () => {
      if (engine !== null) sandbox = await engine.start(LIMITS, SIGNAL);
    });

    afterAll(async () => {
      await sandbox.kill();
    });

    test("keeps variables and shows the value of the last line", async () => {
      expect(logsOf(await run("x = 20\nx + 1"))).toBe("21");
      expect(logsOf(await run("print('a')\nx * 2"))).toBe("a\n40");
      expect(logsOf(await run("print('a', end='')\nx * 2"))).toBe("a\n40");
      expect(logsOf(await run("import sys\n_ = sys.stderr.write('a')\n'grüße', '\\udc80'"))).toBe(
        "a\n('grüße', '\\udc80')",
      );
      expect(logsOf(await run("print(x)"))).toBe("20\n");
      expect(logsOf(await run("x;"))).toBe("");
      expect(logsOf(await run("None"))).toBe("");
    });

    test("shows both outputs in their order", async () => {
      expect(logsOf(await run("import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')"))).toBe("a\nb\nc\n");
    });

    test("tells an exception without frames of its own program", async () => {
      const { traceback } = await run("def f():\n    raise ValueError('wrong')\nf()");
      expect(traceback).toContain("ValueError: wrong");
      expect(traceback).toContain("raise ValueError('wrong')");
      expect(traceback).not.toMatch(/harness|notebook/);
      expect((await run("1 +"))?.traceback).toContain("SyntaxError");
      expect((await run("1 / 0")).traceback).toContain("ZeroDivisionError");
    });

    test("refuses input in a sentence and takes an exit for an end of the call", async () => {
      const { traceback } = await run("input('name?')");
      expect(traceback).toContain("nobody can answer");
      expect(traceback).not.toMatch(/harness|notebook|_refuse/);
      expect(await run("import sys; print('x'); sys.exit(0); print('y')")).toMatchObject({
        traceback: null,
        end: null,
      });
    });

    test("leaves long output out from the middle", async () => {
      const logs = logsOf(await run("print('a' * 5000 + 'z' * 5000)"));
      expect(logs).toMatch(/^a+\n\[8001 characters are left out here\]\nz+\n$/);
    });

    test("takes and gives files", async () => {
      const big = Buffer.alloc(700_000, "7");
      await sandbox.writeFile("deep/er/in.bin", pieces(Buffer.from("start"), big), SIGNAL);
      expect(logsOf(await run("import os\nos.path.getsize('/mnt/data/deep/er/in.bin')"))).toBe("700005");
      await run("open('/mnt/data/out.txt', 'w').write('grüße')");
      const files = await sandbox.listFiles(10, SIGNAL);
      expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
        ["out.txt", 7],
        ["deep/er/in.bin", 700_005],
      ]);
      expect((await read(sandbox, "out.txt")).toString("utf8")).toBe("grüße");
      expect(await read(sandbox, "deep/er/in.bin")).toHaveLength(700_005);
      await run("open('/mnt/data/out.txt', 'w').write('other')");
      const [changed] = await sandbox.listFiles(10, SIGNAL);
      expect(changed?.version).not.toBe(files[0]?.version);
      await sandbox.removeFile("out.txt", SIGNAL);
      await sandbox.removeFile("out.txt", SIGNAL);
      expect(await sandbox.listFiles(1, SIGNAL)).toHaveLength(1);
      await expect(read(sandbox, "out.txt")).rejects.toThrow(FileRefused);
    });

    test("refuses a file that does not fit, and lives", async () => {
      await expect(sandbox.writeFile("big", pieces(Buffer.alloc(20 * 1024 * 1024)), SIGNAL)).rejects.toThrow(
        FileRefused,
      );
      await sandbox.removeFile("big", SIGNAL);
      expect(logsOf(await run("1"))).toBe("1");
    });

    test("lists no links and no special files, and follows none", async () => {
      await run(
        "import os\nos.makedirs('/mnt/data/odd')\nos.chdir('/mnt/data/odd')\nos.symlink('/usr/bin/env', 'link')\nos.symlink('/', 'root')\nopen(b'bad\\xff', 'w').close()\nopen('new\\nline', 'w').close()\ngetattr(os, 'mkfifo', print)('pipe')",
      );
      const paths = (await sandbox.listFiles(100, SIGNAL)).map(({ path }) => path);
      expect(paths.filter((path) => path.startsWith("odd"))).toEqual([]);
      await expect(read(sandbox, "odd/link")).rejects.toThrow(FileRefused);
      await sandbox.writeFile("odd/link", pieces(Buffer.from("mine")), SIGNAL);
      expect((await read(sandbox, "odd/link")).toString("utf8")).toBe("mine");
    });

    test.skipIf(!hasShell)("runs commands with both outputs apart", async () => {
      expect(await command("echo out; echo err >&2; pwd; exit 3")).toEqual({
        stdout: "out\n/mnt/data\n",
        stderr: "err\n",
        outcome: { type: "exit", exitCode: 3 },
      });
      expect((await command("kill -9 $$")).outcome).toEqual({ type: "exit", exitCode: 137 });
    });

    test.skipIf(!hasShell)("ends a command that takes too long, and all that it has started", async () => {
      const slow = await command("echo early; sleep 300 & setsid sleep 301 & sleep 302", 300);
      expect(slow).toEqual({ stdout: "early\n", stderr: "", outcome: { type: "timeout" } });
      await command("setsid nohup sleep 303 >/dev/null 2>&1 & echo started");
      // A killed process is listed until the system has removed it.
      const sleeping = async () => (await command("grep -l sleep /proc/[0-9]*/comm | wc -l")).stdout.trim();
      await expect.poll(sleeping).toBe("0");
      expect(logsOf(await run("x"))).toBe("20");
    });

    test.skipIf(!hasShell)("leaves long output of commands out from the middle", async () => {
      const { stdout, stderr } = await command("yes out | head -n 100000; yes err | head -n 100000 >&2");
      expect(stdout.length + stderr.length).toBeLessThan(CALL.logCharactersMax + 200);
      expect(stdout).toContain("left out here");
      expect(stderr).toMatch(/^err\n[^]*left out here[^]*err\n$/);
    });

    test.skipIf(!hasShell)("shows what programs of the code print, in order", async () => {
      const logs = logsOf(await run("import os\nprint('1')\n_ = os.system('echo 2; echo 3 >&2')\nprint('4')"));
      expect(logs).toBe("1\n2\n3\n4\n");
    });

    test("shows nothing that a thread prints between calls", async () => {
      await run(`import os, threading, time
def talk():
    while not os.path.exists("/mnt/data/go"):
        time.sleep(0.01)
    print("unheard")
    open("/mnt/data/gone", "w").close()
threading.Thread(target=talk, daemon=True).start()`);
      await sandbox.writeFile("go", pieces(Buffer.from("go")), SIGNAL);
      const names = async () => (await sandbox.listFiles(100, SIGNAL)).map(({ path }) => path);
      await expect.poll(names, { timeout: CALL.timeoutMs }).toContain("gone");
      expect(logsOf(await run("print('heard')"))).toBe("heard\n");
    });

    test.skipIf(!hasShell)(
      "shows the text of processes of earlier calls, and that of forked ones, in order",
      async () => {
        const logs = logsOf(
          await run(
            "import os, sys\nprint('1')\nif os.fork() == 0:\n    print('2')\n    os._exit(0)\n_ = os.wait()\nprint('3')\nsys.stdout.buffer.write(b'4\\n')\nprint('5')\nsys.stderr.write('6\\n');",
          ),
        );
        expect(logs).toBe("1\n2\n3\n4\n5\n6\n");
        await run("import subprocess\nslow = subprocess.Popen(['cat'], stdin=subprocess.PIPE)");
        const later = "print('1')\nslow.stdin.write(b'2\\n')\nslow.stdin.close()\n_ = slow.wait()\nprint('3')";
        expect(logsOf(await run(later))).toBe("1\n2\n3\n");
      },
    );

    test.skipIf(!has("pandas"))("has pandas", async () => {
      const code = "import pandas\npandas.DataFrame({'a': [1, 2, 4]}).a.sum()";
      expect(logsOf(await run(code))).toBe("7");
    });

    test.skipIf(!has("matplotlib"))("shows pictures of matplotlib between the logs", async () => {
      const code =
        "import matplotlib.pyplot as plt\nprint('before')\n_ = plt.plot([1, 2])\nplt.show()\nprint('after')\n_ = plt.bar([1], [2])";
      const { outputs, traceback } = await run(code);
      expect(traceback).toBeNull();
      expect(outputs.map((output) => (output.type === "logs" ? output.logs : hexStart(output.png)))).toEqual([
        "before\n",
        PNG_START,
        "after\n",
        PNG_START,
      ]);
      expect((await run("1")).outputs).toHaveLength(1);
    });

    test.skipIf(!has("matplotlib"))("shows as many pictures as allowed, and says so", async () => {
      const { outputs } = await run("for _ in range(4):\n    plt.figure()\n    plt.plot([1])\n    plt.show()");
      expect(outputs.filter(({ type }) => type === "image")).toHaveLength(CALL.imagesMax);
      expect(JSON.stringify(outputs.at(-1))).toContain("Only the first 2 pictures");
    });
  });
}

describe.skipIf(!existsSync("/usr/bin/bwrap") || !existsSync("/usr/bin/python3"))("bubblewrap", () => {
  test("leaves no process when the server is killed", async () => {
    const program = new URL("start-sandbox.fixture.ts", import.meta.url).pathname;
    const script = `"${process.execPath}" "${program}" & wait $!; echo`;
    const printed = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", timeout: 30_000 });
    const ids = printed.trim().split(/\s+/).map(Number);
    if (ids.length < 3) return; // It said why it does not run here.
    await expect.poll(() => ids.some(isAlive)).toBe(false);
  });
});

function logsOf({ outputs }: SandboxRun): string {
  return outputs.map((output) => (output.type === "logs" ? output.logs : "")).join("");
}

function hexStart(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, PNG_START.length / 2)).toString("hex");
}

async function read(sandbox: Sandbox, path: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of sandbox.readFile(path, SIGNAL)) parts.push(piece);
  return Buffer.concat(parts);
}

async function* pieces(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
