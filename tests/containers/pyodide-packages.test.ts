import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { afterAll, expect, test } from "vitest";
import { fetchCodePackages, readPyodideLock } from "../../scripts/fetch-code-packages.ts";
import { probePyodideHere } from "./pyodide-here.ts";

const LIMITS = { memoryBytes: 512 * 1024 * 1024, diskBytes: 8 * 1024 * 1024, processesMax: 8 };
const CALL = { timeoutMs: 60_000, logCharactersMax: 10_000, imagesMax: 2, imageBytesMax: 1_000_000 };
const SIGNAL = new AbortController().signal;

const folder = await mkdtemp(join(tmpdir(), "pyodide-packages-"));

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("packages are fetched with all that they need, and only if their checksums are right", async () => {
  const files: Readonly<Record<string, Uint8Array>> = {
    "a.whl": strToU8("a"),
    "b.whl": strToU8("b"),
    "c.whl": strToU8("other"),
  };
  const server = createServer((request, response) => response.end(files[request.url?.slice("/full/".length) ?? ""]));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const from = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/full/`;
  const entry = (name: string, depends: readonly string[]) => ({
    file_name: `${name}.whl`,
    sha256: createHash("sha256").update(name).digest("hex"),
    depends,
  });
  const lock = { packages: { a: entry("a", ["b"]), b: entry("b", ["a"]), c: entry("c", []) } };
  const target = join(folder, "fetched");
  expect(await fetchCodePackages({ lock, names: ["A"], from, folder: target })).toEqual(["a", "b"]);
  await expect(fetchCodePackages({ lock, names: ["c"], from, folder: target })).rejects.toThrow("is not the file");
  await expect(fetchCodePackages({ lock, names: ["d"], from, folder: target })).rejects.toThrow("no package d");
  expect(await readdir(target)).toEqual(["a.whl", "b.whl"]);
  server.close();
});

test("Pyodide names the packages that the documentation promises", async () => {
  expect(Object.keys((await readPyodideLock()).packages)).toEqual(
    expect.arrayContaining(["numpy", "pandas", "matplotlib"]),
  );
});

test("code imports the packages of a folder of wheels, except those for another Python", async () => {
  const wheels = join(folder, "wheels");
  await fetchCodePackages({ lock: { packages: {} }, names: [], from: "http://127.0.0.1:9/", folder: wheels });
  await writeFile(join(wheels, "greetings_of_us-1.0-py3-none-any.whl"), wheelOf("greetings", "hello = 'hello'"));
  await writeFile(join(wheels, "older-1.0-cp312-cp312-pyemscripten_2024_0_wasm32.whl"), wheelOf("older", ""));
  await writeFile(join(wheels, "native-1.0-cp314-cp314-manylinux_2_28_x86_64.whl"), wheelOf("native", ""));
  const probe = await probePyodideHere(join(folder, "cache"), "none", wheels);
  if (probe.type === "fails") throw new Error(probe.why);
  expect(probe.engine.abilities.packages).toEqual(["greetings-of-us"]);
  const sandbox = await probe.engine.start(LIMITS, SIGNAL);
  const run = await sandbox.runCode("from greetings import hello\nhello", CALL, SIGNAL);
  expect(run.outputs).toEqual([{ type: "logs", logs: "'hello'" }]);
  expect((await sandbox.runCode("import older", CALL, SIGNAL)).traceback).toMatch(/ModuleNotFoundError/);
  await probe.engine.close();
});

function wheelOf(name: string, source: string): Uint8Array {
  return zipSync({
    [`${name}/__init__.py`]: strToU8(source),
    [`${name}-1.0.dist-info/METADATA`]: strToU8(`Name: ${name}\n`),
  });
}
