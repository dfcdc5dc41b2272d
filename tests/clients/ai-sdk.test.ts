import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../test-server.ts";
import { verifies } from "../verifies.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test("streamText runs a tool and answers in a second step", async () => {
  verifies("client.providers.swappable");
  const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const asked: string[] = [];
  const result = streamText({
    model: provider.responses("antiphon-built-in"),
    prompt: "What is the weather in Paris?",
    tools: {
      get_weather: tool({
        description: "Tells the weather of a city.",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => {
          asked.push(city);
          return "18 degrees";
        },
      }),
    },
    stopWhen: stepCountIs(3),
  });
  let text = "";
  for await (const part of result.textStream) text += part;
  expect(asked).toEqual(["Paris"]);
  expect(text).toContain("18 degrees");
  expect(await result.steps).toHaveLength(2);
});
