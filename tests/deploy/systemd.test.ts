import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { programVersion } from "../../src/version/program-version.ts";
import { childrenOf } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { activated } from "./activated-server.ts";
import { ROOT, readRoot } from "./manifests.ts";
import { whySkipped } from "./programs.ts";
import { openNotifySocket } from "./service-manager.ts";

const UNITS = globSync("deploy/systemd/antiphon*.{service,socket,timer}", { cwd: ROOT });
const SERVICES = UNITS.filter((path) => path.endsWith(".service"));
/** Of ten, where a service without any protection has 9.6. */
const EXPOSURE_MAX = 1.5;

/** Each process takes a second of processor time to start. */
const TEST_TIMEOUT_MS = 120_000;

const noAnalyze = whySkipped("systemd-analyze");

describe.skipIf(noAnalyze !== "")(`the systemd units${noAnalyze}`, () => {
  test("are well formed", async () => {
    verifies("operations.deploy.units");
    const root = temporaryFolder();
    await standIn(root, "/etc/antiphon/credentials/empty", "/opt/antiphon/current/bin/antiphon", "/bin/kill");
    for (const unit of UNITS) await place(root, `/etc/systemd/system/${basename(unit)}`, readRoot(unit), 0o644);
    for (const target of TARGETS) await place(root, `/usr/lib/systemd/system/${target}`, "[Unit]\n", 0o644);
    const names = UNITS.map((unit) => basename(unit));
    const { stdout, stderr, status } = spawnSync(
      "systemd-analyze",
      [`--root=${root}`, "--man=no", "verify", ...names],
      {
        encoding: "utf8",
      },
    );
    expect({ said: stdout + stderr, status }).toEqual({ said: "", status: 0 });
  });

  test.each(SERVICES)("leave %s little that it could harm", (path) => {
    verifies("operations.deploy.units");
    const args = ["security", "--offline=true", "--json=short", "--no-pager", join(ROOT, path)];
    const threshold = `--threshold=${EXPOSURE_MAX * 10}`;
    expect(spawnSync("systemd-analyze", [...args, threshold], { encoding: "utf8" })).toMatchObject({ status: 0 });
  });
});

/** Units of systemd that ours name. */
const TARGETS = [
  "basic.target",
  "multi-user.target",
  "network-online.target",
  "shutdown.target",
  "sockets.target",
  "sysinit.target",
  "timers.target",
  "time-set.target",
  "time-sync.target",
  "-.mount",
];

async function standIn(root: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await place(root, path, "#!/bin/sh\n", 0o755);
}

async function place(root: string, path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text, { mode });
}

const missing = whySkipped("systemd-socket-activate", "systemd-notify", "python3");

describe.skipIf(missing !== "")(`started by systemd${missing}`, { timeout: TEST_TIMEOUT_MS }, () => {
  test("one process serves the given sockets, has keys from its credentials, and tells how it stands", async () => {
    verifies("operations.deploy.service-manager");
    const credentials = temporaryFolder();
    await writeFile(join(credentials, "antiphon_API_KEYS"), "sk-credential-0123456789=acme/web\n");
    const manager = await openNotifySocket();
    const env = { CREDENTIALS_DIRECTORY: credentials, NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: "200000" };
    const { server, ports } = await activated(env);
    expect(server.url).toBe(`http://127.0.0.1:${ports.api}`);
    const asked = { headers: { authorization: "Bearer sk-credential-0123456789" } };
    expect((await fetch(`${server.url}/v1/models`, asked)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${ports.speech}/healthz`)).status).toBe(200);
    await expect.poll(() => manager.heard().filter((told) => told === "WATCHDOG=1").length, WAIT).toBeGreaterThan(1);
    expect(manager.heard().slice(0, 3)).toEqual(["READY=1", `STATUS=Serving ${programVersion()}`, "WATCHDOG=1"]);
    expect(await server.stop()).toBe(0);
    expect(manager.heard()).toContain("STOPPING=1");
  });

  test("several processes serve them, also after one has died, and tell once that they are ready", async () => {
    verifies("operations.deploy.service-manager");
    const manager = await openNotifySocket();
    const env = { PROCESSES: "2", NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: "200000", WATCHDOG_PID: "1" };
    const { server, ports } = await activated(env);
    const speech = `http://127.0.0.1:${ports.speech}/healthz`;
    expect(await statusOf(speech)).toBe(200);
    await expect
      .poll(() => manager.heard(), WAIT)
      .toEqual(["READY=1", `STATUS=Serving ${programVersion()} with 2 processes`]);
    const [first] = childrenOf(server.pid);
    process.kill(first ?? 0, "SIGKILL");
    await expect.poll(() => childrenOf(server.pid).filter((pid) => pid !== first).length, WAIT).toBe(2);
    expect(await statusOf(speech)).toBe(200); // The connection waits in the socket until somebody serves it.
    expect(await statusOf(`${server.url}/healthz`)).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(manager.heard().slice(2)).toEqual(["STOPPING=1", "STATUS=Finishing what is open"]);
  });
});

/** Asks on a connection of its own: one that is kept may be that of a process which was killed. */
async function statusOf(url: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(url, { agent: false }, (reply) => {
    reply.resume();
    resolve(reply.statusCode ?? 0);
  }).once("error", reject);
  return await promise;
}

const WAIT = { timeout: 60_000 };
