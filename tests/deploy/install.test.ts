import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../verifies.ts";
import { ROOT, readRoot } from "./manifests.ts";
import { whySkipped } from "./programs.ts";

const SCRIPTS = ["deploy/install.sh", "deploy/systemd/launcher", "deploy/systemd/antiphon-command"];
const TEST_TIMEOUT_MS = 120_000;

const noCheck = whySkipped("shellcheck");

test.skipIf(noCheck !== "")(`the install script and what it installs are sound shell${noCheck}`, () => {
  verifies("operations.deploy.installs");
  const paths = SCRIPTS.map((path) => join(ROOT, path));
  expect(execFileSync("shellcheck", paths, { encoding: "utf8" })).toBe("");
});

test.skipIf(process.platform !== "linux")(
  "the install script makes a release that serves, changes nothing when run again, and keeps settings on upgrades and when it removes all else",
  async () => {
    verifies("operations.deploy.installs");
    // In the repository, so that the packages can be links to files instead of copies.
    await mkdir(join(ROOT, "build"), { recursive: true });
    const folder = await mkdtemp(join(ROOT, "build/install-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [source, root, bin] = [join(folder, "source"), join(folder, "root"), join(folder, "bin")];
    await copyCheckout(source);
    await mkdir(bin);
    await writeFile(join(bin, "npm"), `#!/bin/sh\ncp -al '${ROOT}/node_modules' node_modules\n`, { mode: 0o755 });
    const install = (...more: readonly string[]): string =>
      execFileSync(join(source, "deploy/install.sh"), ["--root", root, ...more], {
        encoding: "utf8",
        env: { PATH: `${bin}:${process.env["PATH"]}` },
      });
    expect(install()).toContain("installed release");
    const [settings, current] = [join(root, "etc/antiphon/.env"), join(root, "opt/antiphon/current")];
    const release = await readlink(current);
    expect(install()).toMatch(/^install\.sh: release \S+ is installed\ninstall\.sh: done\n$/);
    expect(await serves(join(current, "bin/antiphon"), join(folder, "data"))).toBe(200);

    await appendFile(settings, "LOG_LEVEL=warn\n");
    await appendFile(join(source, "src/main.ts"), "// The next version.\n");
    expect(install()).toContain("the current release is");
    expect(await readlink(current)).not.toBe(release);
    expect(await readFile(settings, "utf8")).toContain("LOG_LEVEL=warn");
    expect(await readdir(join(root, "opt/antiphon/releases"))).toHaveLength(2);
    expect(await readFile(join(root, "etc/systemd/system/antiphon.service"), "utf8")).toBe(
      readRoot("deploy/systemd/antiphon.service"),
    );

    expect(install("--uninstall")).toContain("removed the service and the program");
    expect(await readdir(join(root, "etc/systemd/system"))).toEqual([]);
    expect(await readdir(join(root, "opt"))).toEqual([]);
    expect(await readFile(settings, "utf8")).toContain("LOG_LEVEL=warn");
  },
  TEST_TIMEOUT_MS,
);

/** What the script reads. */
async function copyCheckout(folder: string): Promise<void> {
  await mkdir(folder);
  const parts = ["package.json", "package-lock.json", ".npmrc", "LICENSE", "generated", "packages", "src", "deploy"];
  execFileSync("cp", ["-R", ...parts.map((part) => join(ROOT, part)), folder]);
}

/** The status of a request to a server that this program starts. */
async function serves(program: string, dataDir: string): Promise<number> {
  const env = {
    PATH: process.env["PATH"],
    DATA_DIR: dataDir,
    PORT: "0",
    STT_PORT: "0",
    SPEECH_ENGINE: "none",
    API_KEYS: "sk-installed-0123456789",
  };
  const child = spawn(program, [], { env, cwd: join(program, "../.."), stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await expect.poll(() => said, { timeout: 60_000 }).toMatch(/http:\S+\/v1/);
  const headers = { authorization: "Bearer sk-installed-0123456789" };
  const { status } = await fetch(`${/http:\S+\/v1/.exec(said)?.[0]}/models`, { headers });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  return status;
}
