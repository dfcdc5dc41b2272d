import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs as the owner of the folder. Reads numbers of processes until its parent is gone, then ends the last of them. */
const KEEPER = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -CONT "$pid" 2>/dev/null
  kill -"$1" "$pid" 2>/dev/null
  for look in $(seq 500); do
    kill -0 "$pid" 2>/dev/null || break
    grep -qs "^State:.Z" "/proc/$pid/status" && break
    sleep 0.02
  done
fi
rm -rf "$0"
`;

/** PostgreSQL refuses root, and a user who has no name. */
const UNPRIVILEGED = "nobody";
const LOG_CHARACTERS_SHOWN = 2000;

/** Linux keeps files there in memory. Containers often have some megabytes of it only. */
const MEMORY = "/dev/shm";
const MEMORY_FREE_MIN = 4 * 1024 ** 3;

/**
 * A temporary folder in which programs run as an unprivileged user. The folder and the program that was started last
 * end with `remove`, or when this process ends in any way, SIGKILL included.
 */
export class ServiceFolder {
  readonly path: string;
  readonly #user: Partial<User>;
  readonly #keeper: ChildProcess;

  /** `parent`: the folder in which it is made. `endSignal` ends the program at once. Its name has no `SIG`. */
  constructor(name: string, parent: string, endSignal: "QUIT" | "KILL") {
    const user = unprivilegedUser();
    this.path = mkdtempSync(join(parent, `antiphon-${name}-`));
    if (user !== undefined) chownSync(this.path, user.uid, user.gid);
    this.#user = user ?? {};
    this.#keeper = spawn("/bin/sh", ["-c", KEEPER, this.path, endSignal], {
      ...this.#user,
      cwd: "/",
      detached: true, // Ctrl-C in a terminal ends this process, and then the keeper does its work.
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#keeper.stdin?.on("error", () => undefined);
    this.#keeper.unref(); // A process that has nothing else to do ends, and its programs with it.
  }

  /** Runs a program to its end. Throws if it fails. */
  run(program: string, ...rest: readonly string[]): void {
    const { status, stderr, error } = spawnSync(program, rest, { ...this.#user, cwd: this.path, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} failed: ${stderr || error?.message}`);
  }

  /** Starts a program that serves until the folder is removed. Its output goes to a file. */
  start(program: string, ...rest: readonly string[]): ChildProcess {
    const log = openSync(this.#log, "a");
    const child = spawn(program, rest, {
      ...this.#user,
      cwd: this.path,
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    child.unref();
    this.#keeper.stdin?.write(`${child.pid}\n`);
    return child;
  }

  /** The end of what the programs said. */
  complaints(): string {
    return readFileSync(this.#log, "utf8").slice(-LOG_CHARACTERS_SHOWN);
  }

  /** Ends the program, and removes the folder. */
  async remove(): Promise<void> {
    if (this.#keeper.exitCode !== null) return;
    this.#keeper.ref();
    const exited = once(this.#keeper, "exit");
    this.#keeper.stdin?.end();
    await exited;
  }

  get #log(): string {
    return join(this.path, "log");
  }
}

/**
 * Where files lie that need not outlive the machine: in memory if there is room. PostgreSQL makes a database there in
 * a tenth of the time.
 */
export function fastFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_FREE_MIN ? MEMORY : tmpdir();
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** `undefined` if this process is not root. Throws if it is, and the system has no user without rights. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${UNPRIVILEGED}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no user ${UNPRIVILEGED}`);
  return { uid: Number(uid), gid: Number(gid) };
}
