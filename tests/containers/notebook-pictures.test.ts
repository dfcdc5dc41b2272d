import type { Sandbox } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { pyodideEngines, sandboxEngines } from "./sandbox-engines.ts";

const LIMITS = { memoryBytes: 1024 * 1024 * 1024, diskBytes: 16 * 1024 * 1024, processesMax: 32 };
const CALL = { timeoutMs: 60_000, logCharactersMax: 20_000, imagesMax: 4, imageBytesMax: 1024 * 1024 };
const SIGNAL = new AbortController().signal;
const START_MS_MAX = 120_000;
const PICTURE = "a picture";
const DRAWS = `
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
PNG = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\\0\\0")) + chunk(b"IEND", b"")
class Dot:
    def __init__(self, png): self.png = png
    def __repr__(self): return "a dot"
    def _repr_png_(self):
        if self.png is None: raise ValueError("not drawn")
        return self.png`;

const cacheFolder = temporaryFolder(afterAll);

for (const { name, engine, why } of [...(await sandboxEngines()), ...(await pyodideEngines(cacheFolder))]) {
  describe.skipIf(engine === null)(`pictures in ${name}${why === "" ? "" : ` (${why})`}`, () => {
    let sandbox: Sandbox;
    const has = (packageName: string): boolean =>
      engine?.abilities.packages.some((there) => there.toLowerCase() === packageName) === true;
    const shown = async (code: string): Promise<readonly string[]> => {
      const { outputs, traceback } = await sandbox.runCode(code, CALL, SIGNAL);
      expect(traceback).toBeNull();
      return outputs.map((output) => (output.type === "logs" ? output.logs : PICTURE));
    };

    beforeAll(async () => {
      if (engine === null) return;
      sandbox = await engine.start(LIMITS, SIGNAL);
      await sandbox.runCode(DRAWS, CALL, SIGNAL);
    }, START_MS_MAX);

    afterAll(async () => {
      await engine?.close();
    });

    test("a last value with _repr_png_ is one, also with facts beside its bytes", async () => {
      verifies("tools.code-interpreter.shows-pictures");
      expect(await shown("print('before')\nDot(PNG)")).toEqual(["before\n", PICTURE]);
      expect(await shown("Dot((PNG, {'width': 1}))")).toEqual([PICTURE]);
      expect(await shown("Dot(PNG);")).toEqual([]);
    });

    test("what cannot be drawn, or draws no PNG, is shown as text", async () => {
      for (const png of ["None", "b'GIF89a'", "''", "()"]) expect(await shown(`Dot(${png})`)).toEqual(["a dot"]);
      expect(await shown("Dot")).toEqual(["<class '__main__.Dot'>"]);
    });

    test("display() shows pictures and values where it is called", async () => {
      expect(await shown("display(Dot(PNG), 6 * 7, 'a')\nprint('after')")).toEqual([PICTURE, "42\n'a'\nafter\n"]);
    });

    test.skipIf(!has("pillow"))("images of PIL are pictures, also by show()", async () => {
      const image = "from PIL import Image\nimage = Image.new('RGB', (4, 4), 'red')\n";
      expect(await shown(`${image}image`)).toEqual([PICTURE]);
      expect(await shown("print('before')\nimage.show()\nprint('after')")).toEqual(["before\n", PICTURE, "after\n"]);
    });

    test.skipIf(!has("matplotlib"))("a figure is shown once, open or not", async () => {
      const open = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n_ = axes.plot([1, 2])\n";
      expect(await shown(`${open}figure`)).toEqual([PICTURE]);
      expect(await shown("print('closed')\nfigure")).toEqual(["closed\n", PICTURE]);
      expect(await shown(`${open}display(figure)\nprint('after')`)).toEqual([PICTURE, "after\n"]);
      expect(await shown("_ = plt.hist([1, 2])\nprint('open')")).toEqual(["open\n", PICTURE]);
    });
  });
}
