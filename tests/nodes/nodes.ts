import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { streamedData } from "../kit/event-stream.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse } from "../responses/read-stream.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";

/** Why there can be no several nodes here. */
export const whyNoNodes = whyNoPostgres;

/** Starting a server takes a second of processor time. */
export const TEST_TIMEOUT_MS = 300_000;

const SEAL_KEYS = "0123456789abcdef".repeat(4);

/** Servers of one database, as they would be on machines of their own. */
export async function startNodes(
  count: number,
  modelUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly [ChildServer, ChildServer, ...ChildServer[]]> {
  const database = env["DATABASE_URL"] ?? (await databaseOfTest());
  const start = (): Promise<ChildServer> => startNode(modelUrl, { ...env, DATABASE_URL: database });
  const first = await start(); // It makes the tables.
  const [second, ...others] = await Promise.all(Array.from({ length: count - 1 }, start));
  if (second === undefined) throw new Error("there are at least two nodes");
  return [first, second, ...others];
}

/** One of the servers of a database, which `env` names. */
export async function startNode(modelUrl: string, env: Readonly<Record<string, string>>): Promise<ChildServer> {
  const folder = temporaryFolder();
  const settings = { SEAL_KEYS, DATA_DIR: folder, MODEL_BASE_URL: modelUrl };
  return await startChildServer({ env: { NODE_ENV: "production", LEASE_MS: "3000", ...settings, ...env } });
}

/** A model that says a word whenever a test says so. */
export interface ToldModel {
  readonly url: string;
  /** How many answers have begun. */
  readonly calls: () => number;
  /** Says so many words in each answer that has begun. */
  say(words: number): void;
  /** Ends all answers, also those that begin later. */
  finish(): void;
}

export async function serveToldModel(): Promise<ToldModel> {
  const saying = new Set<(words: number) => void>();
  const end = Promise.withResolvers<void>();
  const { origin, calls } = await serveChat(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let said = 0;
    const say = (words: number): void => {
      for (let word = 0; word < words; word++) response.write(sse(textChunk(`word${(said += 1)} `)));
    };
    saying.add(say);
    say(1);
    await end.promise;
    saying.delete(say);
    response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  return {
    url: `${origin}/v1`,
    calls: () => calls.length,
    say: (words) => {
      for (const say of saying) say(words);
    },
    finish: () => end.resolve(),
  };
}

/** Begins a response in the background, with events for readers. */
export async function begin(server: ChildServer, input = "Tell"): Promise<string> {
  return (await readResponse(await server.post("/v1/responses", { model: "m", input, background: true }))).id;
}

/** The events of a response through one server, as they arrive. */
export interface Reader {
  readonly lines: readonly string[];
  /** Resolves when the stream has ended. */
  readonly over: Promise<void>;
}

export async function read(server: ChildServer, id: string, after?: number): Promise<Reader> {
  const query = after === undefined ? "" : `?starting_after=${after}`;
  const reply = await server.fetch(`/v1/responses/${id}/events${query}`);
  if (!reply.ok) throw new Error(await reply.text());
  const lines: string[] = [];
  const follow = async (): Promise<void> => {
    for await (const line of streamedData(reply)) if (line.startsWith("{")) lines.push(line);
  };
  return { lines, over: follow() };
}

/** A metric of a server, summed over its labels. */
export async function metric(server: ChildServer, name: string): Promise<number> {
  const text = await (await server.fetch("/metrics")).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
