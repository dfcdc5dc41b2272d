import type { Antiphon, AnyStreamEvent } from "../../../packages/client/src/index.ts";
import { type Members, numberAt } from "../base/members.ts";

/** An event of a run. */
export interface LoggedEvent {
  readonly event: Members & { readonly type: string };
  readonly number: number;
  /** Milliseconds since the run was created; null while the server has not told. */
  readonly atMs: number | null;
}

/** All events that the page has of a run. A new object for each change. */
export interface RunLog {
  readonly events: readonly LoggedEvent[];
  /** Whether the page is reading events of a run that goes on. */
  readonly isAttached: boolean;
  readonly error: string | null;
}

export const EMPTY_LOG: RunLog = { events: [], isAttached: true, error: null };

/** Events come in faster than a page can be drawn, so they are shown this often. */
const SHOW_INTERVAL_MS = 80;

/**
 * Reads the events of a run from the first to the last, and follows it while it goes on. `show` is told what has
 * come so far, a few times a second, and at the end.
 */
export async function followRun(
  client: Antiphon,
  id: string,
  { show, signal, fail }: { show: (log: RunLog) => void; signal: AbortSignal; fail: (error: unknown) => string },
): Promise<void> {
  const events: LoggedEvent[] = [];
  const times = new Map<number, number>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const showNow = (isAttached: boolean, error: string | null = null): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (!signal.aborted) show({ events: [...events], isAttached, error });
  };
  try {
    const knownMs = await readTimes(client, id, { times, after: null, signal }).catch(timesUnknown);
    const attachedAt = performance.now();
    const options = { signal, errorEvents: "yield" } as const; // Of a failed run, more follows the error.
    for await (const event of await client.streamResponseEvents(id, { dialect: "reference" }, options)) {
      const logged = logEvent(event, times, knownMs + performance.now() - attachedAt);
      if (logged !== null) events.push(logged);
      timer ??= setTimeout(showNow, SHOW_INTERVAL_MS, true);
    }
    showNow(false);
    await correctTimes(client, id, { events, times, signal });
    showNow(false);
  } catch (error) {
    showNow(false, fail(error));
  }
}

function logEvent(event: AnyStreamEvent, times: ReadonlyMap<number, number>, nowMs: number): LoggedEvent | null {
  const number = numberAt(event, "sequence_number");
  if (number === null || event.type === "keepalive") return null;
  return { event: { ...event }, number, atMs: times.get(number) ?? (times.size === 0 ? null : nowMs) };
}

interface TimeReading {
  readonly times: Map<number, number>;
  readonly after: number | null;
  readonly signal: AbortSignal;
}

const TIMES_PER_PAGE = 1000;
/** Pages of times that are read of one run. */
const TIME_PAGES_MAX = 200;

/** Reads when the stored events happened. Resolves to the time of the last one, in milliseconds. */
async function readTimes(client: Antiphon, id: string, { times, after, signal }: TimeReading): Promise<number> {
  let last = after;
  let lastMs = 0;
  for (let page = 0; page < TIME_PAGES_MAX; page++) {
    const query = { limit: TIMES_PER_PAGE, ...(last === null ? {} : { after: last }) };
    const { data, has_more: hasMore } = await client.listResponseTimeline(id, query, { signal });
    for (const { sequence_number: number, at_ms: atMs } of data) {
      last = number;
      if (atMs === null) continue;
      times.set(number, atMs);
      lastMs = atMs;
    }
    if (!hasMore || data.length === 0) break;
  }
  return lastMs;
}

/** Without times the events are still worth reading. */
function timesUnknown(): number {
  return 0;
}

/** Replaces the times at which live events arrived here by those at which they happened. */
async function correctTimes(
  client: Antiphon,
  id: string,
  { events, times, signal }: { events: LoggedEvent[]; times: Map<number, number>; signal: AbortSignal },
): Promise<void> {
  if (events.every(({ number }) => times.has(number))) return;
  const last = [...times.keys()].at(-1) ?? null;
  await readTimes(client, id, { times, after: last, signal }).catch(timesUnknown);
  for (const [index, logged] of events.entries())
    events[index] = { ...logged, atMs: times.get(logged.number) ?? logged.atMs };
}
