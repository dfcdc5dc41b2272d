import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { cp, mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { ROOT } from "../deploy/manifests.ts";
import { childrenOf } from "../kit/processes.ts";

/** What a new machine has, and what the test asks with. */
const PACKAGES = "systemd,systemd-sysv,dbus,ca-certificates,curl,procps";
/** What docs/deploy.md has it install. */
const INSTALL =
  "export DEBIAN_FRONTEND=noninteractive && apt-get -qq install -y --no-install-recommends npm && apt-get clean";
const CACHE = join(ROOT, ".cache/systemd-test");
const BASE = join(CACHE, "debian");
const NPM_CACHE = join(CACHE, "npm");
/** Where npm keeps packages in the machine, where HOME is /srv. */
const NPM_STORE = "srv/.npm";
const COMMAND_MS_MAX = 900_000;
const END_MS_MAX = 20_000;
const BOOT_MS_MAX = 120_000;

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** A Debian with systemd, without a network. It ends with the test. */
export interface Machine {
  /** Runs a command of the shell as root, with what it writes to both outputs. */
  readonly run: (command: string) => Promise<Ran>;
  /** As `run`, but rejects unless the command succeeds. Resolves to its output without the last line feed. */
  readonly do: (command: string) => Promise<string>;
  readonly write: (path: string, text: string) => Promise<void>;
}

/**
 * Boots a machine with this checkout in /srv/antiphon, as `git clone` and `make setup page` leave it. `files` are
 * copied into it: paths in the machine, and where they lie here.
 */
export async function bootMachine(files: Readonly<Record<string, string>> = {}): Promise<Machine> {
  await makeBase();
  const folder = join(CACHE, `machine-${process.pid}`);
  await mkdir(folder);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, source] of Object.entries(files))
    await cp(source, join(folder, "upper", path), { recursive: true });
  const pid = await boot(folder);
  const run = (command: string, input = ""): Promise<Ran> => runIn(pid, command, input);
  const succeed = async (command: string, input = ""): Promise<string> => {
    const { code, output } = await run(command, input);
    if (code !== 0) throw new Error(`${command}: ${code}\n${output}`);
    return output.trimEnd();
  };
  await waitForBoot(run);
  return { run, do: succeed, write: async (path, text) => void (await succeed(`cat >'${path}'`, text)) };
}

/**
 * Starts systemd as the first process of namespaces of its own, over a copy of the base that costs nothing. It has a
 * group of processes of its own, and cannot change settings of the kernel. Returns its pid.
 */
async function boot(folder: string): Promise<number> {
  for (const name of ["root", "upper", "work"]) await mkdir(join(folder, name), { recursive: true });
  await copyCheckout(join(folder, "upper/srv/antiphon"));
  await cp(NPM_CACHE, join(folder, "upper", NPM_STORE), { recursive: true });
  const group = join(groupsFolder(), `antiphon-${process.pid}`);
  await mkdir(group);
  const spaces = ["--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork", "--kill-child"];
  const script = join(import.meta.dirname, "boot.sh");
  const joinGroup = `echo $$ >'${group}/cgroup.procs' && exec unshare ${spaces.join(" ")} sh '${script}' '${folder}' '${BASE}'`;
  const child = spawn("sh", ["-c", joinGroup], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    await removeGroups(group);
  });
  return await firstChild(child.pid ?? 0);
}

/** Unpacks Debian's packages once, and fills npm's store, because the machine has no network. */
async function makeBase(): Promise<void> {
  if (!existsSync(BASE)) {
    const draft = `${BASE}.new`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(CACHE, { recursive: true });
    const { PATH } = process.env;
    const options = ["--variant=minbase", `--include=${PACKAGES}`, "bookworm", draft];
    execFileSync("debootstrap", options, {
      env: { PATH: `${PATH}:/usr/sbin:/sbin` },
      stdio: ["ignore", "ignore", "inherit"],
    });
    execFileSync("chroot", [draft, "sh", "-c", INSTALL], { stdio: ["ignore", "ignore", "inherit"] });
    await rename(draft, BASE);
  }
  const scratch = join(CACHE, "scratch");
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) await cp(join(ROOT, file), join(scratch, file));
  const options = [
    "ci",
    "--omit=dev",
    "--ignore-scripts",
    "--loglevel=error",
    "--prefer-offline",
    "--cache",
    NPM_CACHE,
  ];
  execFileSync("npm", options, { cwd: scratch, stdio: "ignore" });
  await rm(scratch, { recursive: true, force: true });
}

/** What git knows, and the built pages. */
async function copyCheckout(folder: string): Promise<void> {
  const list = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  for (const path of list.split("\0").filter((name) => existsSync(join(ROOT, name)) && name !== "")) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path));
  }
  if (existsSync(join(ROOT, "dist"))) await cp(join(ROOT, "dist"), join(folder, "dist"), { recursive: true });
}

/** Where groups of processes are kept, in their second version. */
function groupsFolder(): string {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const folder = mounts.map((line) => line.split(" ")).find(([, , kind]) => kind === "cgroup2")?.[1];
  if (folder === undefined) throw new Error("this system has no cgroup2, which systemd needs");
  return folder;
}

/** Removes a group and those in it once their processes have ended, which were told to. */
async function removeGroups(group: string): Promise<void> {
  for (const until = performance.now() + END_MS_MAX; existsSync(group); await sleep(100)) {
    const inner = globSync("**/", { cwd: group }).toSorted((one, other) => other.length - one.length);
    for (const name of [...inner, "."]) await rmdir(join(group, name)).catch(() => {}); // Some have not ended.
    if (performance.now() > until) throw new Error(`${group} cannot be removed`);
  }
}

/** The pid of the first process in the new namespaces. */
async function firstChild(pid: number): Promise<number> {
  for (const until = performance.now() + BOOT_MS_MAX; performance.now() < until; await sleep(50)) {
    const [child] = childrenOf(pid);
    if (child !== undefined) return child;
  }
  throw new Error("the machine did not start");
}

/** Runs a command among the processes of a machine. */
async function runIn(pid: number, command: string, input: string): Promise<Ran> {
  const within = ["--target", String(pid), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--root", "--wd"];
  const child = spawn("nsenter", [...within, "sh", "-c", `{ ${command}\n} 2>&1`], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/srv" },
    timeout: COMMAND_MS_MAX,
  });
  child.stdin.on("error", () => {}).end(input);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  return { code: Number(code ?? -1), output };
}

async function waitForBoot(run: (command: string) => Promise<Ran>): Promise<void> {
  for (const until = performance.now() + BOOT_MS_MAX; ; await sleep(200)) {
    const { output } = await run("systemctl is-system-running");
    if (/running|degraded/.test(output)) return;
    if (performance.now() > until) throw new Error(`the machine did not boot: ${output}`);
  }
}
