import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./kit/temporary-folder.ts";
import { verifies } from "./verifies.ts";

const ROOT = join(import.meta.dirname, "..");
/** What `make start` needs before it installs. */
const FILES = ["Makefile", "package.json", "package-lock.json", "scripts/check-ports.js", "scripts/check-node.js"];

/** A clone in which nothing is installed. Its `npm` only leaves a file, and fails. */
async function freshClone(): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ["scripts", "bin"]) await mkdir(join(folder, name));
  for (const file of FILES) await copyFile(join(ROOT, file), join(folder, file));
  await writeFile(join(folder, "bin/npm"), `#!/bin/sh\ntouch ${folder}/installing\nexit 1\n`);
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
