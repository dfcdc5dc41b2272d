import { Agent, codeInterpreterTool, OpenAIProvider, Runner, shellTool } from "@openai/agents";
import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { CODE_ENGINE, HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { CODE_SCENARIOS, SALES, SUMS, TURNS } from "./code-scenarios.ts";
import { installedVersion } from "./installed-version.ts";

const server = await startTestServer({ env: CODE_ENGINE, scenario: CODE_SCENARIOS });
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true });

type Tools = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>;
type Input = Parameters<Runner["run"]>[1];

const both = [false, true] as const;

async function run(tools: Tools, input: Input, streamed: boolean) {
  const agent = new Agent({ name: "Analyst", model: "gpt-5-mini", instructions: "Be brief.", tools });
  if (!streamed) return await runner.run(agent, input);
  const result = await runner.run(agent, input, { stream: true });
  for await (const event of result) void event;
  await result.completed;
  return result;
}

async function salesFile(): Promise<string> {
  const file = await toFile(Buffer.from(SALES), "sales.csv");
  return (await client.files.create({ file, purpose: "user_data" })).id;
}

describe(`@openai/agents ${installedVersion("@openai/agents")}`, () => {
  test.each(both)(
    "codeInterpreterTool analyses an upload over three runs of one history (streamed: %s)",
    async (streamed) => {
      const container = { type: "auto" as const, file_ids: [await salesFile()] };
      const tool = codeInterpreterTool({ container, includeOutputs: true });
      let history: Exclude<Input, string> = [];
      const seen: unknown[] = [];
      for (const { input, text } of TURNS) {
        const result = await run([tool], [...history, { role: "user", content: input }], streamed);
        expect(result.finalOutput).toBe(text);
        expect(result.newItems.map(({ type }) => type)).toEqual(["tool_call_item", "message_output_item"]);
        history = result.history;
        seen.push(result.newItems[0]?.rawItem);
      }
      expect(JSON.stringify(seen[1])).toContain(SUMS);
      expect(JSON.stringify(history)).toContain("container_file_citation");
      const containers = new Set(JSON.stringify(seen).match(/cntr_[0-9a-f]+/g));
      expect(containers.size).toBe(1);
    },
  );

  test.skipIf(!HAS_BUBBLEWRAP).each(both)("shellTool runs commands in a container (streamed: %s)", async (streamed) => {
    const environment = { type: "container_auto" as const, fileIds: [await salesFile()] };
    const result = await run([shellTool({ environment })], "Count the lines.", streamed);
    expect(result.finalOutput).toBe("There are five.");
    expect(JSON.stringify(result.output)).toContain('"stdout":"5\\n"');
    const next = [...result.history, { role: "user" as const, content: "Count the lines." }];
    expect((await run([shellTool({ environment })], next, streamed)).finalOutput).toBe("There are five.");
  });
});
