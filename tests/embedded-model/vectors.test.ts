import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, test } from "vitest";
import { tinyEncoder } from "../../scripts/fixture-model/tiny-encoder.ts";
import { tinyLanguageModel } from "../../scripts/fixture-model/tiny-language-model.ts";
import { EmbeddedModel, type EmbeddedModelOptions } from "../../src/embedded-model/embedded-model.ts";
import { EmbeddingChild } from "../../src/model-engines/embedded/embedding-child.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { createStore, search, takeIn, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { killModel, modelPids } from "./model-pids.ts";
import { ENGINE } from "./model-server.ts";

function modelFile(bytes = tinyEncoder()): string {
  const path = join(temporaryFolder(), "Tiny-Encoder.F32.gguf");
  writeFileSync(path, bytes);
  return path;
}

/** The settings of a server that searches by a file in the format GGUF. */
function settings(path = modelFile()): Readonly<Record<string, string>> {
  return { EMBEDDING_FILE: path, MODEL_ENGINE_DIR: ENGINE ?? "", MODEL_THREADS: "1" };
}

function childOptions(modelPath: string): EmbeddedModelOptions {
  return {
    work: "vectors",
    engineFolder: ENGINE ?? "",
    modelPath,
    template: "auto",
    slots: 1,
    threads: 1,
    windowMax: 8192,
    queueMax: 64,
    log: silentLogger,
  };
}

describe.skipIf(ENGINE === null)("a model for embeddings in a child", () => {
  test("finds passages that share no word with the question", async () => {
    verifies("vector-stores.local-model.gguf-file");
    const server = await startTestServer({ env: settings() });
    const ids = await Promise.all(["zzzz zzzz", "aaaa aaaa"].map((text) => upload(server, `${text[0]}.txt`, text)));
    const storeId = await createStore(server, ids);
    await takenIn(server, storeId);
    // Letters are pieces of words, so these words have the same pieces in other numbers.
    expect((await search(server, storeId, "zzz"))[0]?.filename).toBe("z.txt");
    expect((await search(server, storeId, "aaa"))[0]?.filename).toBe("a.txt");
  });

  test("takes in many long pieces, and answers questions meanwhile", async () => {
    verifies("vector-stores.local-model.gguf-file");
    const server = await startTestServer({ env: settings() });
    const { storeId } = await takeIn(server, "short.txt", "zzzz zzzz");
    const lines = Array.from({ length: 3000 }, (_, number) => `line ${number} of a long file about owls and tides`);
    const fileId = await upload(server, "long.txt", lines.join("\n"));
    await server.post(`/v1/vector_stores/${storeId}/files`, { file_id: fileId });
    await expect.poll(async () => (await search(server, storeId, "zzz"))[0]?.filename).toBe("short.txt");
    await takenIn(server, storeId);
    expect((await search(server, storeId, "line 2999"))[0]?.filename).toBe("long.txt");
  });

  test("may be killed: the next child goes on", async () => {
    verifies("vector-stores.local-model.gguf-file");
    const server = await startTestServer({ env: settings() });
    const { storeId } = await takeIn(server, "z.txt", "zzzz zzzz");
    await killModel();
    await expect.poll(async () => (await search(server, storeId, "zzz")).length).toBe(1);
    const { storeId: next } = await takeIn(server, "a.txt", "aaaa aaaa");
    await expect.poll(async () => (await search(server, next, "aaa")).length).toBe(1);
    await server.close();
    expect(modelPids()).toEqual([]);
  });

  test("ends when it has been idle, and the next text starts another", async () => {
    verifies("vector-stores.local-model.gguf-file");
    const open = (): Promise<EmbeddedModel> => EmbeddedModel.open(childOptions(modelFile()));
    const timeouts = { connectMs: 20_000, idleMs: 20_000, totalMs: 20_000 };
    const child = new EmbeddingChild(await open(), { open, idleMs: 1, timeouts, contextWindow: null });
    await expect.poll(() => modelPids()).toEqual([]);
    const request = { model: "any", inputs: ["zzzz"], dimensions: null, user: null, payer: "", trace: null } as const;
    for (const encoding of ["base64", "float"] as const) {
      const { vectors, tokens } = await child.embed({ ...request, encoding }, AbortSignal.timeout(20_000));
      expect(vectors).toHaveLength(1);
      expect(tokens).toBeGreaterThan(0);
      await expect.poll(() => modelPids()).toEqual([]);
    }
    await child.close();
  });

  test.each([
    {
      what: "a language model",
      bytes: () => tinyLanguageModel(),
      says: /is a language model \(llama\); EMBEDDING_FILE/,
    },
    {
      what: "a file cut short",
      bytes: () => tinyEncoder().subarray(0, 100_000),
      says: /100000 bytes, cannot be loaded/,
    },
  ])("$what ends the start with a sentence", async ({ bytes, says }) => {
    verifies("vector-stores.local-model.unusable-file");
    await expect(startTestServer({ env: settings(modelFile(bytes())) })).rejects.toThrow(says);
    expect(modelPids()).toEqual([]);
  });

  test("a missing engine ends the start with the command that fetches it", async () => {
    verifies("vector-stores.local-model.unusable-file");
    const env = { ...settings(), MODEL_ENGINE_DIR: temporaryFolder() };
    await expect(startTestServer({ env })).rejects.toThrow(/EMBEDDING_FILE .* `antiphon pull engine`/);
  });
});
