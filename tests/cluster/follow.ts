import { setTimeout as sleep } from "node:timers/promises";
import type OpenAI from "openai";
import type { ResponseCreateParamsStreaming, ResponseStreamEvent } from "openai/resources/responses/responses";
import { streamedData } from "../kit/event-stream.ts";
import { meet } from "./client-errors.ts";
import { type Desk, MODEL, PATIENCE_MS, REST_MS } from "./desk.ts";
import { View } from "./view.ts";
import type { Name } from "./world.ts";

type Members = Partial<Omit<ResponseCreateParamsStreaming, "stream" | "model">>;

interface Following {
  readonly kind: string;
  readonly name: Name;
  readonly members?: Members;
  /** How many others read the response from its start, at any time while it is made. */
  readonly others?: number;
}

/** A stream that is silent for so long is given up, as after a node was paused or cut off. */
const SILENCE_MS_MAX = 6000;
const LATE_MS_MAX = 1000;
/** Its random texts would tell equal events apart. */
export const WITHOUT_OBFUSCATION = { include_obfuscation: false };

/**
 * Asks for a response as a stream and reads it to its end, in several streams if they break. What the client saw is
 * recorded. Its id is null if the client was never told one.
 */
export async function follow(desk: Desk, { kind, name, members = {}, others = 0 }: Following): Promise<View> {
  const view = new View(kind, name, members.background === true);
  desk.records.views.push(view);
  const body = { model: MODEL, input: name, ...members, stream: true, stream_options: WITHOUT_OBFUSCATION } as const;
  const attached: Promise<void>[] = [];
  const attach = (id: string): void => {
    for (let other = 0; other < others; other += 1) attached.push(readLate(desk, id, name));
  };
  const error = await readStream(view, (signal) => desk.client.responses.create(body, { signal }), attach);
  if (error !== null) meet(desk.records, kind, error);
  if (view.id !== null) await readOn(desk, view);
  await Promise.all(attached);
  return view;
}

async function readLate(desk: Desk, id: string, name: Name): Promise<void> {
  await sleep(Math.random() * LATE_MS_MAX);
  const view = new View("attached", name, true);
  view.id = id;
  desk.records.views.push(view);
  await readOn(desk, view);
}

/** Reads the rest until the end of the response. */
async function readOn({ client, records }: Desk, view: View): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!view.isOver && performance.now() < until) {
    if (view.events.length > 0) view.resumed += 1;
    const error = await readStream(view, (signal) => restOf(client, view, signal));
    if (error === null) continue;
    meet(records, `${view.kind} again`, error);
    await sleep(REST_MS);
  }
  if (!view.isOver) view.faults.push("it has no end");
}

type Events = AsyncIterable<ResponseStreamEvent>;
type Open = (signal: AbortSignal) => Promise<Events>;

/** Reads until the end of the stream, or until it breaks. Resolves to why it broke; null if it did not. */
async function readStream(view: View, open: Open, hearId: (id: string) => void = () => {}): Promise<unknown> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    for await (const event of await open(silence.signal)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      const wasNamed = view.id !== null;
      view.take(event);
      if (!wasNamed && view.id !== null) hearId(view.id);
    }
    return null;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}

/** What tells which events of a response to read. */
export type Reading = Pick<View, "id" | "events" | "isBackground">;

/**
 * Opens the rest of the response's events, after those that the client has. The official client throws at the event
 * `error`, before the last one of a failed response, so only its requests are used and not its reader.
 */
export async function restOf(
  client: OpenAI,
  { id, events, isBackground }: Reading,
  signal?: AbortSignal,
): Promise<Events> {
  const after = events.length === 0 ? {} : { starting_after: events.length - 1 };
  const options = { signal: signal ?? null };
  // The official operation is only for background responses; this server has another one for all.
  const query = { dialect: "reference", ...after };
  const reply = isBackground
    ? client.responses.retrieve(id ?? "", { stream: true, ...WITHOUT_OBFUSCATION, ...after }, options)
    : client.get(`/responses/${id}/events`, { query, ...options });
  return eventsIn(await reply.asResponse());
}

async function* eventsIn(reply: Response): Events {
  for await (const data of streamedData(reply)) {
    const event: ResponseStreamEvent = JSON.parse(data);
    yield event;
  }
}
