import OpenAI, { toFile } from "openai";
import type { Batch, BatchCreateParams } from "openai/resources/batches";
import { expect } from "vitest";
import type { TestServer } from "../kit/test-server.ts";

export type Endpoint = BatchCreateParams["endpoint"] | "/v1/messages";

const WAIT = { timeout: 120_000, interval: 50 };

export function clientOf({ url, apiKey }: Pick<TestServer, "url" | "apiKey">): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

/** A line of an input file. */
export function lineFor(endpoint: Endpoint, custom_id: string, body: object): string {
  return JSON.stringify({ custom_id, method: "POST", url: endpoint, body });
}

/** Lines for the built-in model that repeat their name. */
export function repeating(count: number, more: object = {}): readonly string[] {
  return Array.from({ length: count }, (_, number) =>
    lineFor("/v1/responses", `line-${number}`, {
      model: "antiphon-built-in",
      input: `Repeat this: text ${number}`,
      ...more,
    }),
  );
}

export async function upload(client: OpenAI, lines: readonly string[]): Promise<string> {
  const file = await toFile(Buffer.from(`${lines.join("\n")}\n`), "lines.jsonl");
  return (await client.files.create({ file, purpose: "batch" })).id;
}

export async function startBatch(
  client: OpenAI,
  lines: readonly string[],
  endpoint: Endpoint = "/v1/responses",
): Promise<Batch> {
  const input_file_id = await upload(client, lines);
  // `/v1/messages` is not in the SDK's types.
  return await client.post<Batch>("/batches", { body: { input_file_id, endpoint, completion_window: "24h" } });
}

/** The batch once it has this status. */
export async function batchThatIs(client: OpenAI, id: string, status: Batch["status"]): Promise<Batch> {
  await expect.poll(async () => (await client.batches.retrieve(id)).status, WAIT).toBe(status);
  return await client.batches.retrieve(id);
}

export interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Record<string, unknown>;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The lines of an output file or error file, by their `custom_id`. */
export async function linesIn(client: OpenAI, fileId: string | undefined): Promise<ReadonlyMap<string, OutputLine>> {
  if (fileId === undefined) return new Map();
  const text = await (await client.files.content(fileId)).text();
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): OutputLine => JSON.parse(line));
  expect(new Set(lines.map(({ custom_id }) => custom_id)).size).toBe(lines.length);
  return new Map(lines.map((line) => [line.custom_id, line]));
}
