import { setTimeout as sleep } from "node:timers/promises";
import { RETRY_MS } from "../limits.ts";
import type { Node } from "./node.ts";

/** How a server of the Responses API is asked. */
export interface Api {
  readonly headers: Readonly<Record<string, string>>;
  readonly createPath: string;
  /** Creates a streamed response in the background whose input has this name of a run. */
  readonly createBody: (run: string) => object;
  /** The events after this number, as a client resumes them. */
  readonly eventsPath: (id: string, after: number) => string;
  /** All events of a response that has ended. */
  readonly replayPath: (id: string) => string;
  readonly snapshotPath: (id: string) => string;
}

export interface Judging {
  /** Whether a replay has the same bytes, and a snapshot all members. Otherwise values are compared, null as absent. */
  readonly isExact: boolean;
  /** Whether a call whose outcome is not known is reported so, and not made again. */
  readonly reportsUnknownEffects: boolean;
  /** Rules of the grammar that its streams break without any fault, too. */
  readonly brokenRules: ReadonlySet<string>;
}

/** What is tried: servers with a storage that outlives them. */
export interface System {
  readonly nodes: readonly Node[];
  readonly api: Api;
  /** How its answers are judged. */
  readonly judging: Judging;
  stop(): Promise<void>;
}

/** Resolves to the address of a random node that is up. Waits until there is one, but no longer than `until`. */
export async function anyNode(nodes: readonly Node[], until: number): Promise<string> {
  for (; Date.now() < until; await sleep(RETRY_MS)) {
    const urls = nodes.flatMap(({ url }) => (url === null ? [] : [url]));
    const url = urls[Math.floor(Math.random() * urls.length)];
    if (url !== undefined) return url;
  }
  throw new Error("no node came up");
}
