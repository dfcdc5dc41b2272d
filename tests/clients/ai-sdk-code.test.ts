import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, type ModelMessage, streamText, type ToolSet } from "ai";
import { afterAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { CODE_ENGINE, HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { upload } from "../vector-stores/store-client.ts";
import { CODE_SCENARIOS, SALES, SUMS, TURNS } from "./code-scenarios.ts";
import { installedVersion } from "./installed-version.ts";

const server = await startTestServer({ env: CODE_ENGINE, scenario: CODE_SCENARIOS });
afterAll(() => server.close());
const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });

/** What a model does with these tools in at most three steps. */
async function run(messages: ModelMessage[], tools: ToolSet, streamed: boolean) {
  const request = { model: provider("gpt-5-mini"), messages, tools, stopWhen: isStepCount(3), maxRetries: 0 };
  if (!streamed) {
    const { text, steps } = await generateText(request);
    return { text, steps };
  }
  const failures: unknown[] = [];
  const result = streamText({ ...request, onError: ({ error }) => void failures.push(error) });
  for await (const part of result.stream) void part;
  expect(failures).toEqual([]);
  return { text: await result.text, steps: await result.steps };
}

describe(`ai ${installedVersion("ai")} with @ai-sdk/openai ${installedVersion("@ai-sdk/openai")}`, () => {
  describe.each([
    ["plain", false],
    ["streamed", true],
  ])("%s", (_, streamed) => {
    test("codeInterpreter analyses an upload over three turns", async () => {
      const fileIds = [await upload(server, "sales.csv", SALES)];
      const tools = { code_interpreter: provider.tools.codeInterpreter({ container: { fileIds } }) };
      const messages: ModelMessage[] = [];
      const results: unknown[] = [];
      for (const { input, text } of TURNS) {
        messages.push({ role: "user", content: input });
        const turn = await run(messages, tools, streamed);
        expect(turn.text).toBe(text);
        messages.push(...turn.steps.flatMap(({ response }) => response.messages));
        results.push(turn.steps.flatMap(({ content }) => content.filter(({ type }) => type === "tool-result")));
      }
      expect(results.slice(0, 2)).toMatchObject([
        [{ output: { outputs: [{ logs: expect.stringContaining("4 rows") }] } }],
        [{ output: { outputs: [{ logs: expect.stringContaining(SUMS) }] } }],
      ]);
    });

    test.skipIf(!HAS_BUBBLEWRAP)("shell runs commands in a container", async () => {
      const fileIds = [await upload(server, "sales.csv", SALES)];
      const tools = { shell: provider.tools.shell({ environment: { type: "containerAuto", fileIds } }) };
      const { text, steps } = await run([{ role: "user", content: "Count the lines." }], tools, streamed);
      expect(text).toBe("There are five.");
      const results = steps.flatMap(({ content }) => content.filter(({ type }) => type === "tool-result"));
      expect(results).toMatchObject([{ output: { output: [{ stdout: "5\n" }, { outcome: { exitCode: 3 } }] } }]);
    });
  });
});
