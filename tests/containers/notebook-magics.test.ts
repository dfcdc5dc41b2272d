import type { Sandbox, SandboxRun } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { pyodideEngines, sandboxEngines } from "./sandbox-engines.ts";

const LIMITS = { memoryBytes: 1024 * 1024 * 1024, diskBytes: 16 * 1024 * 1024, processesMax: 32 };
const CALL = { timeoutMs: 60_000, logCharactersMax: 20_000, imagesMax: 2, imageBytesMax: 1024 * 1024 };
const SIGNAL = new AbortController().signal;
const START_MS_MAX = 120_000;

const cacheFolder = temporaryFolder(afterAll);

for (const { name, engine, why } of [...(await sandboxEngines()), ...(await pyodideEngines(cacheFolder))]) {
  describe.skipIf(engine === null)(`lines of notebooks in ${name}${why === "" ? "" : ` (${why})`}`, () => {
    let sandbox: Sandbox;
    const run = (code: string): Promise<SandboxRun> => sandbox.runCode(code, CALL, SIGNAL);
    const say = async (code: string): Promise<string> => {
      const { outputs, traceback } = await run(code);
      expect(traceback).toBeNull();
      return outputs.map((output) => (output.type === "logs" ? output.logs : "")).join("");
    };

    beforeAll(async () => {
      if (engine !== null) sandbox = await engine.start(LIMITS, SIGNAL);
    }, START_MS_MAX);

    afterAll(async () => {
      await engine?.close();
    });

    test.for([
      "!pip install nothing-of-this-name",
      "! pip3 -q install nothing-of-this-name==1.0",
      "%pip install nothing-of-this-name",
      "pip install nothing-of-this-name",
      "!python -m pip install --upgrade nothing-of-this-name[extra]",
      "!{sys.executable} -m pip install \\\n    nothing-of-this-name",
      "!conda install -y nothing-of-this-name",
    ])("%s is answered by what is there, and the rest runs", async (line) => {
      verifies("tools.code-interpreter.answers-magics");
      const said = await say(`a = 6\n${line}\nprint(a * 7)`);
      const asked = line.replace(" \\\n    ", " ");
      expect(said).toContain(`[\`${asked}\` was not run, because nothing can be installed here. Use `);
      for (const there of engine?.abilities.packages.slice(0, 5) ?? []) expect(said).toContain(there);
      expect(said).toMatch(/Python's standard library\.\]\n42\n$/);
    });

    test("a package that is there can be imported at once", async () => {
      const [there] = engine?.abilities.packages ?? [];
      if (there === undefined) return;
      expect(await say(`!pip install "${there}>=0.1"`)).toContain(`${there} is there already: import it.]`);
    });

    test.for(["!ls -la /mnt/data", "%cd /tmp", "%%bash\nls | grep 'it\nif then", "%%writefile a.py\nprint(1)"])(
      "%s is answered by a sentence",
      async (code) => {
        const [line] = code.split("\n");
        expect(await say(`# A comment.\n${code}`)).toBe(
          `[\`${line}\` was not run, because only Python runs here, without the commands and magics of notebooks. Use Python instead, such as os, pathlib and shutil.]\n`,
        );
      },
    );

    test("a line whose value is used, and a question, are answered too", async () => {
      expect(await say("files = !ls")).toContain("[`files = !ls` was not run, and its variable not set, because");
      expect(await say("len?")).toBe("[`len?` was not run. Use help(…) instead.]\n");
    });

    test("magics without an effect here are passed over", async () => {
      expect(await say("%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n6 * 7")).toBe("42");
      expect(await say("%%time\n\n6 * 7")).toBe("42");
      expect(await say("%time print(6 * 7)")).toBe("42\n");
      expect(await say("for a in range(2):\n    %matplotlib inline\n    print(a)")).toBe("0\n1\n");
    });

    test("text and expressions that look alike stay as they are", async () => {
      expect(await say("text = '''\n!pip install a\n%cd b\n'''\n!ls\nprint(text)")).toMatch(
        /\n!pip install a\n%cd b\n\n$/,
      );
      expect(await say("(17\n% 5)")).toBe("2");
    });

    test("a line of a branch is answered if it is reached", async () => {
      const code = (isReached: string): string => `if ${isReached}:\n    !ls\nelse:\n    print('other')`;
      expect(await say(code("True"))).toContain("[`!ls` was not run");
      expect(await say(code("False"))).toBe("other\n");
    });

    test("a fault of the Python beside is told with its line", async () => {
      const { traceback } = await run("!ls\nx = = 1");
      expect(traceback).toContain("line 2");
      expect(traceback).toContain("SyntaxError");
      expect((await run("!ls\n1 / 0")).traceback).toMatch(/line 2[^]*ZeroDivisionError/);
    });
  });
}
