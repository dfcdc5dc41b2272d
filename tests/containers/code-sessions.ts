import { silentLogger } from "@antiphon/base/logger.ts";
import type { CodeOutput, Ran } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { probeBubblewrap } from "@antiphon/sandbox/engines/bubblewrap/bubblewrap-engine.ts";
import type { SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import type { SessionKill } from "@antiphon/sandbox/ports/session-observer.ts";
import { SandboxSessions, type SessionsOptions } from "@antiphon/sandbox/sessions/sandbox-sessions.ts";
import { onTestFinished } from "vitest";
import type { Store } from "../../src/store/open-store.ts";
import { OURS } from "../../src/store/stored-shapes.fixture.ts";

export const NEVER = new AbortController().signal;

let probing: ReturnType<typeof probeBubblewrap> | null = null;

/** The engine of this machine, or why there is none. */
export async function findEngine(): Promise<SandboxEngine | string> {
  probing ??= probeBubblewrap({ python: null, secretFolders: [] }, NEVER);
  const probe = await probing;
  return probe.type === "works" ? probe.engine : probe.why;
}

/** Sessions over a real store, and what a test sees of them. */
export interface TestSessions {
  readonly sessions: SandboxSessions;
  /** Why sessions were ended. */
  readonly kills: SessionKill[];
  /** How many sessions there are. */
  count(): number;
  /** Runs code in a container of ours; resolves to its logs, or to what kept it from running. */
  say(containerId: string, code: string): Promise<string>;
}

export function openSessions(
  engine: SandboxEngine,
  store: Pick<Store, "sessionContainers">,
  options: Partial<SessionsOptions> = {},
): TestSessions {
  const kills: SessionKill[] = [];
  let count = 0;
  const sessions = new SandboxSessions({
    engine,
    containers: store.sessionContainers,
    observer: { countSessions: (sessionCount) => (count = sessionCount), noteEnd: (reason) => kills.push(reason) },
    log: silentLogger,
    timeoutMs: 20_000,
    memoryBytes: 1024 ** 3,
    containerBytesMax: 500_000_000,
    sessionsMax: 8,
    ...options,
  });
  onTestFinished(() => sessions.close());
  return {
    sessions,
    kills,
    count: () => count,
    say: async (containerId, code) => saidBy(await sessions.runCode(OURS, containerId, code, NEVER)),
  };
}

export async function makeContainer(store: Pick<Store, "containers">, owner: Owner = OURS): Promise<string> {
  const container = { name: "test", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const made = await store.containers.createContainer(owner, container);
  if (made.type !== "changed") throw new Error(`no container: ${made.refusal.reason}`);
  return made.result.id;
}

/** The stored files of a container of ours, as `PATH BYTES`. */
export async function filesOf(
  store: Pick<Store, "sessionContainers">,
  containerId: string,
): Promise<readonly string[]> {
  const found = await store.sessionContainers.find(OURS, containerId);
  return (found?.files ?? []).map(({ path, bytes }) => `${path} ${bytes}`).toSorted();
}

export async function upload(
  store: Pick<Store, "containers">,
  containerId: string,
  filename: string,
  text: string,
): Promise<string> {
  const content = (async function* () {
    yield Buffer.from(text);
  })();
  const added = await store.containers.addFile(OURS, containerId, { filename, content });
  if (added.type !== "changed") throw new Error(`not added: ${added.refusal.reason}`);
  return added.result.id;
}

export function ranOf<Result>(ran: Ran<Result>): Result {
  if (ran.type !== "ran") throw new Error(`it did not run: ${ran.type}`);
  return ran.result;
}

function saidBy(ran: Ran<{ readonly outputs: readonly CodeOutput[]; readonly traceback: string | null }>): string {
  if (ran.type !== "ran") return ran.type;
  const { outputs, traceback } = ran.result;
  if (traceback !== null) throw new Error(traceback);
  return outputs
    .map((output) => (output.type === "logs" ? output.logs : "<image>"))
    .join("")
    .trim();
}
