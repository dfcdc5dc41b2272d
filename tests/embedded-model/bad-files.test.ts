import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tinyLanguageModel } from "../../scripts/fixture-model/tiny-language-model.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { ENGINE, MODEL, modelSettings, startModelServer } from "./model-server.ts";

async function fileOf(bytes: string | Buffer): Promise<string> {
  const path = join(temporaryFolder(), "model.gguf");
  await writeFile(path, bytes);
  return path;
}

describe.skipIf(ENGINE === null)("a file that cannot be used ends the start with a sentence", () => {
  test.each([
    { what: "no file", file: async () => "/nowhere/model.gguf", says: /MODEL_FILE is '\/nowhere.*where no file is/ },
    { what: "a folder", file: async () => temporaryFolder(), says: /MODEL_FILE .*which is no file/ },
    { what: "another format", file: () => fileOf("PK\u0003\u0004"), says: /no model in the format GGUF \(4 bytes\)/ },
    {
      what: "a file cut short",
      file: () => fileOf(tinyLanguageModel().subarray(0, 200_000)),
      says: /of 200000 bytes, cannot be loaded: /,
    },
    {
      what: "a header cut short",
      file: () => fileOf(tinyLanguageModel().subarray(0, 300)),
      says: /of 300 bytes, cannot be loaded: /,
    },
    {
      what: "an unknown architecture",
      file: () => fileOf(tinyLanguageModel({ architecture: "novel" })),
      says: /cannot be loaded: .*novel/,
    },
  ])("$what", async ({ file, says }) => {
    const path = await file();
    await expect(startTestServer({ env: modelSettings(path) })).rejects.toThrow(says);
  });

  test("a model for embeddings", async () => {
    const path = await fileOf(tinyLanguageModel({ architecture: "bert" }));
    await expect(startTestServer({ env: modelSettings(path) })).rejects.toThrow(/embeddings|cannot be loaded/);
  });

  test("the engine is missing", async () => {
    const env = { ...modelSettings(await fileOf(tinyLanguageModel())), MODEL_ENGINE_DIR: temporaryFolder() };
    await expect(startTestServer({ env })).rejects.toThrow(/antiphon pull engine/);
  });
});

test.skipIf(ENGINE === null)("a base model is told as such, and MODEL_TEMPLATE lets it chat", async () => {
  const base = await startModelServer({}, { template: null });
  const request = { model: MODEL, input: "Hi", max_output_tokens: 16 };
  await expect(base.client.responses.create(request)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/base model.*MODEL_TEMPLATE/),
  });
  await base.close();
  const server = await startModelServer({ MODEL_TEMPLATE: "chatml" }, { template: null });
  expect((await server.client.responses.create(request)).output_text).not.toBe("");
});
