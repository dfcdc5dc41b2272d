import OpenAI from "openai";
import { afterAll } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";

/** A model that the built-in engine always has. */
export const MODEL = "antiphon-built-in";

/** A function whose parameters are strict. */
export const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Tells the weather of a city.",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
} as const;

/**
 * Starts a server, and the official client for it, for all tests of a file. `scenario` is the text of a scenario file.
 */
export async function startWithClient(scenario?: string): Promise<{ server: TestServer; client: OpenAI }> {
  const server = await startTestServer(scenario === undefined ? {} : { scenario });
  afterAll(() => server.close());
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  return { server, client };
}

export async function collect<Event>(stream: AsyncIterable<Event>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
