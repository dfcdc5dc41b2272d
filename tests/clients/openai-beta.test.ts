import { BadRequestError } from "openai";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { collect, MODEL, startWithClient } from "./openai-client.ts";

const { client } = await startWithClient();
const { responses } = client.beta;
const betas = ["responses_multi_agent=v1" as const];
const asked = { model: MODEL, input: "Count to 5", betas };

describe(`openai ${installedVersion("openai")}`, () => {
  test("each call of beta.responses works like that of responses", async () => {
    verifies("create.ledger.sdk-beyond-contract");
    const { id, status, output_text: text } = await client.responses.create({ model: MODEL, input: "Count to 5" });
    const made = await responses.create(asked);
    expect([made.status, JSON.stringify(made.output)]).toEqual([status, expect.stringContaining(text)]);
    const events = await collect(await responses.create({ ...asked, stream: true }));
    expect(events.at(-1)?.type).toBe("response.completed");

    expect(await responses.retrieve(id, { betas })).toMatchObject({ id, status });
    expect(await collect(responses.inputItems.list(id, { betas }))).toMatchObject([{ type: "message" }]);
    expect((await responses.inputTokens.count(asked)).input_tokens).toBeGreaterThan(0);
    expect((await responses.compact(asked)).object).toBe("response.compaction");
    await responses.delete(id, { betas });
    await expect(responses.retrieve(id)).rejects.toThrow(/not found/);
  });

  test("agents that the server would have to run are refused by name", async () => {
    verifies("create.ledger.sdk-beyond-contract");
    const refused = responses.create({ ...asked, multi_agent: { enabled: true } });
    await expect(refused).rejects.toThrow("Unknown parameter: 'multi_agent'.");
    await expect(refused).rejects.toBeInstanceOf(BadRequestError);
  });
});
