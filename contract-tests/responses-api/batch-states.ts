import OpenAI, { toFile } from "openai";
import type { Service } from "../providers.fixture.ts";

/** The states of a provider that has batches. */
export function batchStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const newFile = async (): Promise<string> => {
    const body = { model, input: "Say hello" };
    const line = JSON.stringify({ custom_id: "greeting", method: "POST", url: "/v1/responses", body });
    const file = await toFile(Buffer.from(line), "lines.jsonl");
    return (await client.files.create({ file, purpose: "batch" })).id;
  };
  return {
    "a file for a batch": async () => ({ file_id: await newFile() }),
    "a batch": async () => {
      const input_file_id = await newFile();
      const wanted = { input_file_id, endpoint: "/v1/responses", completion_window: "24h" } as const;
      return { batch_id: (await client.batches.create(wanted)).id };
    },
  };
}
