import { setTimeout as sleep } from "node:timers/promises";
import { READ_MS_MAX, REPLY_MS_MAX, RETRY_MS, RUN_MS_MAX, SILENT_MS_MAX } from "../limits.ts";
import { anyNode, type System } from "../systems/system.ts";
import type { Run, RunNames } from "./run.ts";
import { sseData } from "./sse-data.ts";
import type { Trouble } from "./trouble.ts";

/** What a reader of a run works with. */
export interface Desk {
  readonly system: System;
  readonly names: RunNames;
  readonly trouble: Trouble;
  /** Whether a create has a key, may lose its reply, and is repeated under its key. Otherwise it gets another name. */
  readonly repeats: boolean;
}

/** Between two tries to create a run, which each have a name of their own. */
const CREATE_AGAIN_MS = 500;

/**
 * Creates a run and reads it to its end. When a connection breaks, another one goes on after the last event, through
 * any node. Gives the run up after the times of `limits.ts`.
 */
export async function followRun(run: Run, desk: Desk): Promise<void> {
  await readSafely(run, () => create(run, desk));
  while (run.id === null && !isHopeless(run, desk)) {
    await sleep(CREATE_AGAIN_MS);
    if (desk.repeats) run.repeats += 1;
    else run.rename(desk.names.next());
    await readSafely(run, () => create(run, desk));
  }
  while (!run.isOver && !isHopeless(run, desk)) {
    await sleep(RETRY_MS);
    await readSafely(run, () => resume(run, desk));
  }
}

/** Gives the run up if nothing is to be expected of it any longer. */
function isHopeless(run: Run, { trouble }: Desk): boolean {
  const now = Date.now();
  const silentSince = Math.max(run.beganAt, run.shown.last?.at ?? 0, trouble.calmSince ?? now);
  if (now - silentSince > SILENT_MS_MAX) run.giveUp(`no event for ${SILENT_MS_MAX / 1000} s while all nodes worked`);
  else if (now - run.beganAt > RUN_MS_MAX) run.giveUp(`no end within ${RUN_MS_MAX / 1000} s`);
  return run.whyGivenUp !== null;
}

/** A connection that breaks, or that cannot be opened, is followed by the next one. */
async function readSafely(run: Run, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    run.latestBreak = String(error);
  }
}

async function create(run: Run, { system, repeats }: Desk): Promise<void> {
  const { api, nodes } = system;
  const key: Record<string, string> = repeats ? { "idempotency-key": run.name } : {};
  const headers = { ...api.headers, "content-type": "application/json", ...key };
  const init = { method: "POST", headers, body: JSON.stringify(api.createBody(run.name)) };
  const url = async (): Promise<string> => (await anyNode(nodes, Date.now() + REPLY_MS_MAX)) + api.createPath;
  if (repeats && Math.random() < TWIN_SHARE) void sendBlindly(await url(), init);
  const losesReply = repeats && Math.random() < LOSS_SHARE;
  await readEvents(run, await url(), init, losesReply ? Math.random() * LOSS_MS_MAX : REPLY_MS_MAX);
}

/** How many creates are sent twice at once, and how many lose their reply. */
const TWIN_SHARE = 0.3;
const LOSS_SHARE = 0.5;
const LOSS_MS_MAX = 60;

/** Sends a request whose reply nobody waits for. */
async function sendBlindly(url: string, init: RequestInit): Promise<void> {
  const leaving = AbortSignal.timeout(Math.ceil(Math.random() * LOSS_MS_MAX));
  await fetch(url, { ...init, signal: leaving }).catch(() => null);
}

async function resume(run: Run, { system }: Desk): Promise<void> {
  const { api, nodes } = system;
  const path = api.eventsPath(run.id ?? "", run.shown.last?.number ?? -1);
  const url = (await anyNode(nodes, Date.now() + REPLY_MS_MAX)) + path;
  await readEvents(run, url, { headers: api.headers });
}

/** Leaves unless the reply begins within `replyMs`. */
async function readEvents(run: Run, url: string, init: RequestInit, replyMs = REPLY_MS_MAX): Promise<void> {
  const silence = new AbortController();
  const giveUp = (): void => silence.abort();
  let timer = setTimeout(giveUp, replyMs);
  try {
    const reply = await fetch(url, { ...init, signal: silence.signal });
    if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
    const connectedAt = Date.now();
    clearTimeout(timer);
    timer = setTimeout(giveUp, READ_MS_MAX);
    for await (const json of sseData(reply)) {
      timer.refresh();
      const id = run.shown.take(json, { at: Date.now(), connectedAt });
      run.id ??= id;
    }
  } finally {
    clearTimeout(timer);
  }
}
