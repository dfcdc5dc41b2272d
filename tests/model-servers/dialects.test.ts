import { writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const BEHIND = `
models: [deep]
scenarios:
  - when: { input_contains: weather, tool_outputs: 0 }
    events:
      - { reasoning: I have to look. }
      - { call: { name: look, arguments: { city: Rome } } }
  - when: { input_contains: weather }
    events: [{ text: Sunny. }]
  - when: { input_contains: think }
    events: [{ reasoning: Let me see. }, { text: Done. }]
`;

const LOOK = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

/** A server in front of another Antiphon, which it asks in this dialect. */
async function inFrontOf(dialect: string): Promise<{ front: TestServer; behind: TestServer }> {
  const behind = await startTestServer({ scenario: BEHIND, env: { KEEP_EXCHANGES: "stored" } });
  const folder = temporaryFolder();
  writeFileSync(join(folder, "behind.key"), behind.apiKey);
  writeFileSync(
    join(folder, "models.yaml"),
    `servers:
  behind: { url: "${behind.url}/v1", api_key_file: behind.key, dialect: ${dialect} }
models: { chat: behind/deep }`,
  );
  const env = { MODELS_FILE: join(folder, "models.yaml"), KEEP_EXCHANGES: "stored" };
  return { front: await startTestServer({ env }), behind };
}

test.each(["chat-completions", "responses", "messages"])(
  "a server of the dialect %s answers, thinks and calls",
  async (dialect) => {
    verifies("models.dialects.answer");
    const { front } = await inFrontOf(dialect);
    for (const stream of [false, true]) {
      const reply = await front.post("/v1/responses", {
        model: "chat",
        input: "think",
        stream,
        reasoning: { effort: "low" },
      });
      expect([reply.status, reply.headers.get("x-antiphon-model-server")]).toEqual([200, "behind/deep"]);
      const text = await reply.text();
      expect(text).toContain("Done.");
      expect(text).toContain("Let me see.");
    }
    const called = await readResponse(
      await front.post("/v1/responses", { model: "chat", input: "weather", tools: [LOOK] }),
    );
    const call = called.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "look" });
    if (call?.type !== "function_call") throw new Error("there is a call");
    const answered = await front.post("/v1/responses", {
      model: "chat",
      input: [{ type: "function_call_output", call_id: call.call_id, output: "22 degrees" }],
      previous_response_id: called.id,
      tools: [LOOK],
    });
    expect(await answered.text()).toContain("Sunny.");
  },
);

test.each(["responses", "messages"])(
  "reasoning that only a server of the dialect %s reads comes back to it, with a store and without",
  async (dialect) => {
    verifies("models.dialects.reasoning-comes-back");
    const { front } = await inFrontOf(dialect);
    const client = new OpenAI({ baseURL: `${front.url}/v1`, apiKey: front.apiKey, maxRetries: 0 });
    const sentLast = async (id: string): Promise<string> => {
      let body = "";
      await expect
        .poll(async () => {
          const { data }: { data: { request: { body: { text: string } } }[] } = await (
            await front.fetch(`/v1/responses/${id}/exchanges`)
          ).json();
          body = data.at(-1)?.request.body.text ?? "";
          return body;
        })
        .not.toBe("");
      return body;
    };
    const asked = { model: "chat", reasoning: { effort: "low" }, include: ["reasoning.encrypted_content"] } as const;
    const first = await client.responses.create({ ...asked, include: [...asked.include], input: "think" });
    const next = await client.responses.create({
      ...asked,
      include: [],
      input: "think on",
      previous_response_id: first.id,
    });
    const mark = dialect === "responses" ? /"encrypted_content":"[^"]{20,}"/ : /"signature":"[^"]{20,}"/;
    const byChain = mark.exec(await sentLast(next.id))?.[0];
    expect(byChain).toBeDefined();
    const history = [
      { role: "user" as const, content: "think" },
      ...first.output,
      { role: "user" as const, content: "think on" },
    ];
    const again = await readResponse(await front.post("/v1/responses", { ...asked, include: [], input: history }));
    expect(mark.exec(await sentLast(again.id))?.[0]).toBe(byChain);
  },
);
