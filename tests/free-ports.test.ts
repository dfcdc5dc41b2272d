import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./kit/temporary-folder.ts";
import { verifies } from "./verifies.ts";

const ROOT = join(import.meta.dirname, "..");
/** What `make start` needs before it installs. */
const FILES = [
  "Makefile",
  "package.json",
  "package-lock.json",
  "web/package-lock.json",
  "scripts/check-ports.js",
  "scripts/check-node.js",
  "scripts/install-server.js",
];

/** A clone in which nothing is installed. Its `npm` only writes its arguments into the file `installing`, and fails. */
async function freshClone(): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ["scripts", "bin", "web"]) await mkdir(join(folder, name));
  for (const file of FILES) await copyFile(join(ROOT, file), join(folder, file));
  await writeFile(join(folder, "bin/npm"), `#!/bin/sh\necho "$@" >> ${folder}/installing\nexit 1\n`);
  await chmod(join(folder, "bin/npm"), 0o755);
  return folder;
}

/** Runs `make start` and resolves to what it said. */
function makeStart(cwd: string, args: string): Promise<string> {
  const env = { PATH: [join(cwd, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  return new Promise((resolve) => {
    execFile("make", ["start", `ARGS=${args}`], { cwd, env }, (_error, out, err) => resolve(out + err));
  });
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("make start tells of ports in use before it installs anything", async () => {
  verifies("config.start.ports-before-install");
  const [folder, port, speechPort] = [await freshClone(), await takenPort(), await takenPort()];
  await writeFile(join(folder, ".env"), `STT_PORT=${speechPort} # Ours.\n`);
  const said = await makeStart(folder, `--port=${port}`);
  expect(said).toContain(`Port ${port} of 127.0.0.1 is in use`);
  expect(said).toContain(`PORT chooses another: make start ARGS="--port ${port + 1000}"`);
  expect(said).toContain(`Port ${speechPort} of 127.0.0.1 is in use`);
  expect(existsSync(join(folder, "installing"))).toBe(false);
});

test("make start goes on where ports are free, and where nothing is served", async () => {
  verifies("config.start.ports-before-install");
  for (const args of ["--port 0 --stt-port 0", `--help --port ${await takenPort()}`]) {
    const folder = await freshClone();
    expect(await makeStart(folder, args)).not.toContain("is in use");
    expect(existsSync(join(folder, "installing"))).toBe(true);
  }
});

test("make start tells what it installs, leaves out what tests need, and says why it could not", async () => {
  verifies("config.start.install-is-small-and-told");
  const folder = await freshClone();
  const said = await makeStart(folder, "--port 0 --stt-port 0");
  expect(said).toMatch(/^Installing the packages of the server, \d+ MB, .* It takes about half a minute, once\.$/m);
  expect(said).toContain("npm could not install the packages. It needs its registry");
  const asked = await readFile(join(folder, "installing"), "utf8");
  expect(asked).toMatch(/^ci .*--omit=dev --omit=optional\n$/); // This Node is new enough.
});

test("what is installed is told, without what a server never reads", async () => {
  verifies("config.start.install-is-small-and-told");
  const folder = await freshClone();
  const files = ["zod/index.js", "zod/index.js.map", "zod/index.d.ts", "zod/LICENSE.md", "zod/src/index.ts"];
  const making = files.map((file) => `mkdir -p $(dirname node_modules/${file}); echo x > node_modules/${file}`);
  await writeFile(join(folder, "bin/npm"), ["#!/bin/sh", "mkdir -p web/node_modules", ...making, ""].join("\n"));
  const said = await makeStart(folder, "--port 0 --stt-port 0"); // Ends at the page, which is not in this clone.
  expect(said).toMatch(/Installed \d+ MB in \d+ s\./);
  const left = await readdir(join(folder, "node_modules/zod"));
  expect(left.toSorted()).toEqual(["LICENSE.md", "index.js"]);
  const { stdout } = await promisify(execFile)("make", ["--dry-run", "setup"], { cwd: folder });
  expect(stdout).toContain("npm ci --include=dev"); // Tests need the rest.
});
