import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { linkInstalled } from "../../scripts/link-installed.ts";
import { programVersion } from "../../src/version/program-version.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { childrenOf } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { activated } from "./activated-server.ts";
import { ROOT } from "./manifests.ts";
import { whySkipped } from "./programs.ts";
import { type NotifySocket, openNotifySocket } from "./service-manager.ts";
import { idIn, serveUntilReleased } from "./waiting-model.ts";

const TEST_TIMEOUT_MS = 180_000;
const WAIT = { timeout: 60_000 };
const missing = whySkipped("systemd-socket-activate", "systemd-notify", "python3");
const NEXT_VERSION = "9.9.9";
const ALONE = { connection: "close" };

test.skipIf(missing !== "")(
  `a reload after an upgrade replaces the primary, too, and cuts no stream; a release that does not start changes nothing${missing}`,
  async () => {
    verifies("operations.deploy.upgrade");
    const [model, manager, folder] = [await serveUntilReleased(), await openNotifySocket(), temporaryFolder()];
    onTestFinished(() => endAllIn(folder));
    await leadTo(folder, ROOT);
    const env = { PROCESSES: "2", DRAIN_MS: "500", NOTIFY_SOCKET: manager.path, MODEL_BASE_URL: model.url };
    const { server, ports } = await activated(env, { root: join(folder, "current"), passesKey: true });
    const open = [{ stream: true }, {}].map((way) => create(server, way));
    const watched = idIn(JSON.parse(await create(server, { background: true })));
    await expect.poll(() => model.waiting(), WAIT).toBe(3);

    await leadTo(folder, await brokenRelease(folder));
    process.kill(server.pid, "SIGHUP");
    const serving = `STATUS=Serving ${programVersion()} with 2 processes`;
    await expect.poll(() => manager.heard().at(-1), WAIT).toBe(`${serving}; the new release did not start`);
    expect((await server.fetch("/readyz", { headers: ALONE })).status).toBe(200);

    await leadTo(folder, await nextRelease(folder));
    process.kill(server.pid, "SIGHUP");
    const statuses: number[] = [];
    while (mainPidIn(manager) === null) statuses.push((await server.fetch("/readyz", { headers: ALONE })).status);
    const next = mainPidIn(manager) ?? 0;
    expect(new Set(statuses)).toEqual(new Set([200]));
    await expect.poll(() => manager.heard().at(-1), WAIT).toBe(`STATUS=Serving ${NEXT_VERSION} with 2 processes`);
    await expect.poll(() => childrenOf(next).length, WAIT).toBe(2); // For a moment there is one that tells systemd.
    expect((await fetch(`http://127.0.0.1:${ports.speech}/healthz`, { headers: ALONE })).status).toBe(200);
    expect(childrenOf(server.pid).length).toBeGreaterThan(0); // They finish their work.

    model.release();
    for (const text of await Promise.all(open)) expect(text).toMatch(/"status": ?"completed"[^]*One two/);
    const status = async () => JSON.parse(await (await server.fetch(`/v1/responses/${watched}`)).text()).status;
    await expect.poll(status, WAIT).toBe("completed");
    await expect.poll(() => existsSync(`/proc/${server.pid}/exe`), WAIT).toBe(false);
    expect((await server.fetch("/readyz", { headers: ALONE })).status).toBe(200);
    process.kill(next, "SIGTERM");
    await expect.poll(() => existsSync(`/proc/${next}/exe`), WAIT).toBe(false);
    expect(manager.heard().slice(-2)).toEqual(["STOPPING=1", "STATUS=Finishing what is open"]);
  },
  TEST_TIMEOUT_MS,
);

async function create(server: ChildServer, more: object): Promise<string> {
  const reply = await server.post("/v1/responses", { model: "m", input: "Tell", ...more }, ALONE);
  return await reply.text();
}

function mainPidIn(manager: NotifySocket): number | null {
  const told = manager.heard().find((assignment) => assignment.startsWith("MAINPID="));
  return told === undefined ? null : Number(told.slice("MAINPID=".length));
}

/** Ends what runs a release in this folder. A successor is no child of this process. */
function endAllIn(folder: string): void {
  for (const path of globSync("/proc/[0-9]*/cmdline")) {
    const isOurs = existsSync(path) && readFileSync(path, "utf8").includes(`${folder}/`);
    if (isOurs) process.kill(Number(path.split("/")[2]), "SIGKILL");
  }
}

/** Points the link at a release in one step, as the install script does. */
async function leadTo(folder: string, release: string): Promise<void> {
  await symlink(release, join(folder, "current.new"));
  await rename(join(folder, "current.new"), join(folder, "current"));
}

async function brokenRelease(folder: string): Promise<string> {
  const release = join(folder, "broken");
  await mkdir(join(release, "src"), { recursive: true });
  await writeFile(join(release, "src/main.ts"), "process.exit(1);\n");
  return release;
}

/** This tree with another version. */
async function nextRelease(folder: string): Promise<string> {
  const release = join(folder, "next");
  await mkdir(release);
  execFileSync("cp", ["-R", ...["src", "packages", "generated"].map((part) => join(ROOT, part)), release]);
  linkInstalled(release);
  const manifest: unknown = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  await writeFile(
    join(release, "package.json"),
    JSON.stringify(Object.assign({}, manifest, { version: NEXT_VERSION })),
  );
  return release;
}
