import { isRecord } from "@antiphon/base/json/records.ts";
import { expect } from "vitest";
import type { ChildServer } from "../kit/child-server.ts";
import { openSocket } from "../websocket/socket.ts";
import { type Answer, answerOf, create, type ReadStream, readStream, replay, stream } from "./nodes.ts";

/** A client that reads a response, and what it has seen so far. */
export interface Reader extends ReadStream {
  readonly what: string;
  /** The number of the first event that it asked for. */
  readonly first: number;
  /** Whether its response may end as failed, since nobody can go on with it. */
  readonly mayFail: boolean;
}

const TERMINAL = /^response[.](completed|failed)$/;

/** The number after which a reader begins that has seen the events before. */
const SEEN = 2;

/**
 * Readers of two responses that `left` makes, one of the foreground and one of the background: on both nodes, from the
 * beginning and from later on; and one of a third response over WebSocket. Each has seen some events.
 */
export async function startReaders(left: ChildServer, right: ChildServer): Promise<readonly Reader[]> {
  const own = await stream(left, "slow");
  const background = await stream(left, "slow", { background: true });
  const attach = async (node: ChildServer, path: string): Promise<ReadStream> =>
    readStream(await node.fetch(`/v1/responses/${path}`));
  const readers = [
    { what: "the client of the foreground", first: 0, mayFail: true, ...own },
    { what: "the client of the background", first: 0, mayFail: false, ...background },
    {
      what: "another on its node",
      first: 0,
      mayFail: true,
      ...(await attach(left, `${await own.id}/events?dialect=reference`)),
    },
    {
      what: "another elsewhere",
      first: 0,
      mayFail: true,
      ...(await attach(right, `${await own.id}/events?dialect=reference`)),
    },
    {
      what: "one that resumes elsewhere",
      first: SEEN + 1,
      mayFail: false,
      ...(await attach(right, `${await background.id}?stream=true&starting_after=${SEEN}`)),
      id: background.id,
    },
    { what: "the client of a WebSocket", first: 0, mayFail: true, ...(await readSocket(left)) },
  ];
  for (const { what, numbers } of readers)
    await expect.poll(() => numbers.length, { message: what }).toBeGreaterThan(SEEN);
  return readers;
}

/** One response over WebSocket. */
async function readSocket(node: ChildServer): Promise<ReadStream> {
  const { socket } = await openSocket(node);
  const first = Promise.withResolvers<string>();
  const over = Promise.withResolvers<boolean>();
  const [numbers, types]: [number[], string[]] = [[], []];
  socket.on("message", (bytes: Buffer) => {
    const event: unknown = JSON.parse(bytes.toString());
    if (!isRecord(event)) return;
    const { type, sequence_number: number, response } = event;
    if (isRecord(response)) first.resolve(String(response["id"]));
    types.push(String(type));
    numbers.push(Number(number)); // NaN for a frame that is no event.
    if (TERMINAL.test(String(type))) over.resolve(true);
  });
  socket.on("close", () => over.resolve(false));
  socket.send(JSON.stringify({ type: "response.create", model: "antiphon-built-in", input: "slow" }));
  return { id: first.promise, numbers, types, over: over.promise };
}

/** Expects that each reader was shown what the log has: each event once and in order, the end included. */
export async function expectWhole(readers: readonly Reader[], node: ChildServer): Promise<void> {
  for (const { what, first, mayFail, id, numbers, types, over } of readers) {
    expect(await over, what).toBe(true);
    const logged = await replay(node, await id);
    expect(logged.numbers, what).toEqual(logged.numbers.map((_, place) => place));
    expect(numbers, what).toEqual(logged.numbers.slice(first));
    expect(types, what).toEqual(logged.types.slice(first));
    expect(types.at(-1), what).toMatch(mayFail ? TERMINAL : /^response[.]completed$/);
  }
}

/** Asks for a response without a stream. Resolves once it is in the store, which is before its answer. */
export async function startPlain(node: ChildServer): Promise<{ readonly answer: Promise<Answer> }> {
  const countStored = async (): Promise<number> => {
    const { data } = (await answerOf(await node.fetch("/v1/responses?kind=plain"))).body;
    return Array.isArray(data) ? data.length : 0;
  };
  const before = await countStored();
  const answer = create(node, "slow");
  await expect.poll(countStored).toBe(before + 1);
  return { answer };
}
