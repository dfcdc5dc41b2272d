import OpenAI from "openai";
import type { Service } from "./service.fixture.ts";

/** What a state gives to the requests of the pact, in the place of the examples. */
type Values = Record<string, string>;
type StateTable = Record<string, () => Promise<Values>>;

/** Given to every interaction without being named. */
export const CALLER_STATE = "a caller with a key";

/** Brought about through nothing but the public API: any provider can be put into them. */
export type PublicState = keyof ReturnType<typeof publicStates>;
export type State = Exclude<PublicState, typeof CALLER_STATE>;

export function publicStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const storeResponse = async (): Promise<string> => (await client.responses.create({ model, input: "Say hello" })).id;
  return {
    [CALLER_STATE]: async () => ({ api_key: apiKey }),
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
  } satisfies StateTable;
}

/** Only a server that was started for these tests can be put into them. */
export function stagedStates(_service: Service): StateTable {
  return {};
}
