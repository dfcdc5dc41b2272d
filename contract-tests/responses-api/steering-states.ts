import OpenAI from "openai";
import type { Service } from "../providers.fixture.ts";

/** As in `PENDING_STEERS_MAX`. */
const STEERS_MAX = 16;

/** The states of a provider with a response that clients pause or steer. The response is cancelled afterwards. */
export function steeringStates(
  { url, apiKey, model }: Service,
  begin: (client: OpenAI, members: { readonly model: string; readonly conversation?: string }) => Promise<string>,
) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  let runningId: string | null = null;
  const teardown = async (): Promise<void> => {
    if (runningId !== null) await client.responses.cancel(runningId);
    runningId = null;
  };
  const run = async (inputs: number, conversation?: string): Promise<Record<string, string>> => {
    runningId = await begin(client, conversation === undefined ? { model } : { model, conversation });
    for (let number = 0; number < inputs; number++)
      await client.post(`/responses/${runningId}/steer`, { body: { input: "Rather in French." } });
    return { response_id: runningId };
  };
  return {
    "a background response under way": { setup: () => run(0), teardown },
    "a background response with added input": { setup: () => run(1), teardown },
    "a background response with as much input as it takes": { setup: () => run(STEERS_MAX), teardown },
    "a background response of a conversation under way": {
      setup: async () => run(0, (await client.conversations.create({})).id),
      teardown,
    },
  };
}
