import { isRecord } from "@antiphon/base/json/records.ts";
import { expect } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { streamedData } from "../kit/event-stream.ts";

/** The shortest lease that the settings allow, so that tests need not wait long. */
export const LEASE_MS = 3000;
/** Also a server that starts on a busy machine has to be connected within this. */
export const DATABASE_TIMEOUT_MS = 3000;

/** Starting servers takes seconds of processor time, and outages last as long as leases. */
export const TEST_TIMEOUT_MS = 300_000;

const SEAL_KEYS = "0123456789abcdef".repeat(4);

/** `slow` says a word each 200 ms, for some seconds; `silent` says one and then nothing for ten seconds. */
const SCENARIO = `
scenarios:
  - when: { input_contains: slow }
    events:
${Array.from({ length: 25 }, (_, place) => `      - text: "w${place} "\n      - delay_ms: 200\n`).join("")}
  - when: { input_contains: silent }
    events:
      - text: One
      - delay_ms: 10000
      - text: Two
`;

/** A server with a data folder of its own, as on a machine of its own. */
export function startNode(databaseUrl: string, env: Readonly<Record<string, string>> = {}): Promise<ChildServer> {
  return startChildServer({
    scenario: SCENARIO,
    env: {
      DATABASE_URL: databaseUrl,
      LEASE_MS: String(LEASE_MS),
      DATABASE_TIMEOUT_MS: String(DATABASE_TIMEOUT_MS),
      NODE_ENV: "production",
      SEAL_KEYS,
      ...env,
    },
  });
}

/** What a client sees of a request: its status, how long to wait before the next one, and the body. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function create(node: ChildServer, input: string, members: object = {}): Promise<Answer> {
  return await answerOf(await node.post("/v1/responses", { model: "antiphon-built-in", input, ...members }));
}

export async function look(node: ChildServer, id: unknown): Promise<Answer> {
  return await answerOf(await node.fetch(`/v1/responses/${String(id)}`));
}

export async function answerOf(reply: Response): Promise<Answer> {
  const body: unknown = await reply.json();
  return { status: reply.status, retryAfter: reply.headers.get("retry-after"), body: isRecord(body) ? body : {} };
}

/** The state of each part by `/readyz`, and its status. */
export async function readiness(node: ChildServer): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await answerOf(await node.fetch("/readyz"));
  const checks = body["checks"];
  return { status, ...(isRecord(checks) ? checks : {}) };
}

/** Expects a clear error that says when to come again. */
export function expectLater(answer: Answer): void {
  expect(answer.status, JSON.stringify(answer.body)).toBe(503);
  expect(Number(answer.retryAfter)).toBeGreaterThan(0);
  expect(answer.body).toMatchObject({ error: { code: expect.stringMatching(/^[a-z_]+$/) } });
}

/** A stream as its client reads it. */
export interface ReadStream {
  readonly id: Promise<string>;
  /** The sequence numbers so far. */
  readonly numbers: readonly number[];
  /** The types of the events so far. */
  readonly types: readonly string[];
  /** Resolves when the connection has ended: to whether it ended in order and did not break. */
  readonly over: Promise<boolean>;
}

/** Reads the events of a reply, as far as they come. */
export function readStream(reply: Response): ReadStream {
  const first = Promise.withResolvers<string>();
  const [numbers, types]: [number[], string[]] = [[], []];
  const take = (data: string): void => {
    const event: unknown = JSON.parse(data);
    if (!isRecord(event)) return;
    const { type, sequence_number: number, response } = event;
    if (typeof type === "string") types.push(type);
    if (typeof number === "number") numbers.push(number);
    if (isRecord(response)) first.resolve(String(response["id"]));
  };
  const follow = async (): Promise<boolean> => {
    try {
      for await (const data of streamedData(reply)) if (data.startsWith("{")) take(data);
      return true;
    } catch {
      return false;
    }
  };
  return { id: first.promise, numbers, types, over: follow() };
}

export async function stream(node: ChildServer, input: string, members: object = {}): Promise<ReadStream> {
  const body = { model: "antiphon-built-in", input, stream: true, ...members };
  return readStream(await node.post("/v1/responses", body));
}

/** All events of a response that has ended, from the log, through any node. */
export async function replay(node: ChildServer, id: string, after?: number): Promise<ReadStream> {
  const query = after === undefined ? "" : `&starting_after=${after}`;
  const read = readStream(await node.fetch(`/v1/responses/${id}/events?dialect=reference${query}`));
  await read.over;
  return read;
}

/** Expects numbers from 0 without a gap and without a repetition. */
export function expectDense(numbers: readonly number[]): void {
  expect(numbers).toEqual(numbers.map((_, place) => place));
}

/** A metric of a node, summed over its labels that match. */
export async function metric(node: ChildServer, name: string, labels = ""): Promise<number> {
  const text = await (await node.fetch("/metrics")).text();
  return text
    .split("\n")
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
