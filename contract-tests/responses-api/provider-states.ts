import OpenAI from "openai";
import type { State } from "./interaction.fixture.ts";
import type { Service } from "./service.fixture.ts";

type Values = Record<string, string>;

/** Brings a provider into each state by nothing but its public API. The values are put into the requests of the pact. */
export function providerStates({
  url,
  apiKey,
  model,
}: Service): Record<State | "a caller with a key", () => Promise<Values>> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const storeResponse = async (): Promise<string> => (await client.responses.create({ model, input: "Say hello" })).id;
  return {
    "a caller with a key": async () => ({ api_key: apiKey }),
    "a chat model": async () => ({ model }),
    "a stored response": async () => ({ response_id: await storeResponse() }),
    "a deleted response": async () => {
      const id = await storeResponse();
      await client.responses.delete(id);
      return { response_id: id };
    },
    "a response made of three messages": async () => {
      const input = ["one", "two", "three"].map((content) => ({ role: "user" as const, content }));
      const { id } = await client.responses.create({ model, input });
      const { data } = await client.responses.inputItems.list(id, { order: "asc" });
      return { response_id: id, second_item_id: data[1]?.id ?? "" };
    },
    "a conversation of two messages": async () => {
      const items = ["one", "two"].map((content) => ({ role: "user" as const, content }));
      const { id } = await client.conversations.create({ items, metadata: { topic: "demo" } });
      const { data } = await client.conversations.items.list(id, { order: "asc" });
      return { conversation_id: id, first_item_id: data[0]?.id ?? "" };
    },
  };
}
