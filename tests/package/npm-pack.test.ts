import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { PACK_TIMEOUT_MS } from "./packed.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const Packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));
const Lock = z.object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })) });
const Manifest = z.object({ allowScripts: z.record(z.string(), z.boolean()) });

/** A clone with builds that write one file each; they take half a minute otherwise. */
async function clone(): Promise<string> {
  const folder = temporaryFolder();
  for (const path of ["package.json", ".npmrc", "bin", "scripts/check-installed.js", "scripts/check-node.js"])
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  const write = (path: string): string =>
    `import { mkdirSync, writeFileSync } from "node:fs"; mkdirSync("${path}", { recursive: true }); writeFileSync("${path}/built.js", "");`;
  await writeFile(join(folder, "scripts/build-page.ts"), write("dist/inspector"));
  await writeFile(join(folder, "scripts/build-package.ts"), write("dist/server/src"));
  return folder;
}

async function install(folder: string): Promise<void> {
  for (const name of ["vite", "typescript"]) await mkdir(join(folder, "node_modules", name), { recursive: true });
}

function pack(folder: string): Promise<{ readonly stdout: string }> {
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
  return run("npm", ["pack", "--json"], { cwd: folder, env: { ...process.env, PATH } });
}

test(
  "npm pack alone builds what it packs",
  async () => {
    const folder = await clone();
    await install(folder);
    const [packed] = Packed.parse(JSON.parse((await pack(folder)).stdout));
    expect(packed?.files.map(({ path }) => path)).toContain("dist/server/src/built.js");
    await readFile(join(folder, "dist/inspector/built.js"));
  },
  PACK_TIMEOUT_MS,
);

test(
  "npm pack says what is missing where nothing is installed, and packs nothing",
  async () => {
    const failure: unknown = await pack(await clone()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ stderr: expect.stringContaining("First run: make setup") });
  },
  PACK_TIMEOUT_MS,
);

test("packages with scripts of their own are known, and none of them may run one", async () => {
  const { packages } = Lock.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
  const { allowScripts } = Manifest.parse(JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")));
  const withScripts = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript === true);
  expect(Object.fromEntries(withScripts.map((path) => [path.replace("node_modules/", ""), false]))).toEqual(
    allowScripts,
  );
});
