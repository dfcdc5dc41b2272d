import OpenAI, { toFile } from "openai";
import type { Service } from "../providers.fixture.ts";
import { StateOutOfReach } from "../verification.fixture.ts";
import { batchStates } from "./batch-states.ts";
import { stagedEffectStates } from "./effect-states.ts";
import { PNG_URL } from "./example-media.fixture.ts";
import { ACME_KEY, LONG_TASK, SPENT_KEY, USE_UP } from "./http-server.fixture.ts";
import { skillStates } from "./skill-states.ts";
import { steeringStates } from "./steering-states.ts";
import { isOver, POLL_MS, waitForEnd } from "./wait-for-end.ts";
import { stagedWebhookStates, webhookStates } from "./webhook-states.ts";

/** Resolves to values of a state that replace the examples in the pact's requests. */
type Setup = () => Promise<Record<string, string>>;
type StateTable = Record<string, Setup | { readonly setup: Setup; readonly teardown: () => Promise<void> }>;

/** Added to every interaction. */
export const CALLER_STATE = "a caller with a key";

/** States made through the public API alone, so any provider can enter them. */
export type PublicState = keyof ReturnType<typeof publicStates>;
/** States that only a server started by `http-server.fixture.ts` can enter. */
export type StagedState = keyof ReturnType<typeof stagedStates>;
export type State = Exclude<PublicState | StagedState, typeof CALLER_STATE>;

export function publicStates(service: Service) {
  const { apiKey, model } = service;
  return {
    [CALLER_STATE]: async () => ({ api_key: apiKey }),
    "a chat model": async () => ({ model }),
    ...responseStates(service),
    ...chatStates(service),
    ...conversationStates(service),
    ...fileStates(service),
    ...vectorStoreStates(service),
    ...containerStates(service),
    ...skillStates(service),
    ...batchStates(service),
    ...webhookStates(service),
    ...steeringStates(service, beginLong),
  } satisfies StateTable;
}

function chatStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  return {
    "a stored chat completion": async () => {
      const run = `run-${Math.random()}`; // The list is only of this one.
      const messages = [{ role: "user" as const, content: "Say hello" }];
      const metadata = { topic: "greeting", run };
      const { id } = await client.chat.completions.create({ model, messages, store: true, metadata });
      return { completion_id: id, run };
    },
  } satisfies StateTable;
}

function responseStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const storeResponse = async (): Promise<string> => (await client.responses.create({ model, input: "Say hello" })).id;
  const begin = (): Promise<string> => beginLong(client, { model });
  return {
    "a stored response": async () => ({ response_id: await storeResponse() }),
    "a deleted response": async () => {
      const id = await storeResponse();
      await client.responses.delete(id);
      return { response_id: id };
    },
    "a response that continues another": async () => {
      const previous_response_id = await storeResponse();
      const { id } = await client.responses.create({ model, input: "Say hello", previous_response_id });
      return { response_id: id };
    },
    "a response that another continues": async () => {
      const response_id = await storeResponse();
      await client.responses.create({ model, input: "Say hello", previous_response_id: response_id });
      return { response_id };
    },
    "a response that was not stored": async () => {
      const { id } = await client.responses.create({ model, input: "Say hello", store: false });
      return { response_id: id };
    },
    "a response made of a picture": async () => {
      const image = { type: "input_image" as const, image_url: PNG_URL, detail: "low" as const };
      const input = [{ role: "user" as const, content: [{ type: "input_text" as const, text: "Say hello" }, image] }];
      return { response_id: (await client.responses.create({ model, input })).id };
    },
    "a response made of three messages": async () => {
      const input = ["one", "two", "three"].map((content) => ({ role: "user" as const, content }));
      const { id } = await client.responses.create({ model, input });
      const { data } = await client.responses.inputItems.list(id, { order: "asc" });
      return { response_id: id, second_item_id: data[1]?.id ?? "" };
    },
    "a response made in the background": async () => {
      const { id } = await client.responses.create({ model, input: "Say hello", background: true });
      await waitForEnd(client, id);
      return { response_id: id };
    },
    "a response streamed from the background": async () => {
      const events = await client.responses.create({ model, input: "Say hello", background: true, stream: true });
      let id = "";
      for await (const event of events) if (event.type === "response.created") id = event.response.id;
      return { response_id: id };
    },
    "a background response that is being made": async () => ({ response_id: await begin() }),
    "a cancelled response": async () => {
      const id = await begin();
      await client.responses.cancel(id);
      return { response_id: id };
    },
  } satisfies StateTable;
}

function conversationStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  let busyId: string | null = null;
  return {
    "a conversation of two messages": async () => {
      const items = ["one", "two"].map((content) => ({ role: "user" as const, content }));
      const { id } = await client.conversations.create({ items, metadata: { topic: "demo" } });
      const { data } = await client.conversations.items.list(id, { order: "asc" });
      return { conversation_id: id, first_item_id: data[0]?.id ?? "" };
    },
    "a deleted conversation": async () => {
      const { id } = await client.conversations.create({});
      await client.conversations.delete(id);
      return { conversation_id: id };
    },
    "a conversation that is being answered": {
      setup: async () => {
        const { id } = await client.conversations.create({});
        busyId = await beginLong(client, { model, conversation: id });
        return { conversation_id: id };
      },
      teardown: async () => {
        if (busyId !== null) await client.responses.cancel(busyId);
        busyId = null;
      },
    },
  } satisfies StateTable;
}

function fileStates({ url, apiKey }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const upload = async (): Promise<string> => {
    const file = await toFile(Buffer.from("Hello."), "hello.txt", { type: "text/plain" });
    return (await client.files.create({ file, purpose: "user_data" })).id;
  };
  return {
    "an uploaded file": async () => ({ file_id: await upload() }),
    "a deleted file": async () => {
      const id = await upload();
      await client.files.delete(id);
      return { file_id: id };
    },
  } satisfies StateTable;
}

function vectorStoreStates({ url, apiKey }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const upload = async (): Promise<string> => {
    const file = await toFile(Buffer.from("The tide turns twice a day."), "tide.txt", { type: "text/plain" });
    return (await client.files.create({ file, purpose: "assistants" })).id;
  };
  const make = async (): Promise<string> => (await client.vectorStores.create({ name: "books" })).id;
  const attributes = { year: 1900 };
  const poll = { pollIntervalMs: POLL_MS };
  return {
    "a vector store": async () => ({ store_id: await make() }),
    "a vector store that holds a file": async () => {
      const store_id = await make();
      const file_id = await upload();
      const { status } = await client.vectorStores.files.createAndPoll(store_id, { file_id, attributes }, poll);
      if (status !== "completed") throw new Error(`The file of the vector store is ${status}.`);
      return { store_id, file_id };
    },
    "a vector store with a batch of files": async () => {
      const store_id = await make();
      const file_id = await upload();
      const batch = { file_ids: [file_id], attributes };
      const { id, status } = await client.vectorStores.fileBatches.createAndPoll(store_id, batch, poll);
      if (status !== "completed") throw new Error(`The batch of files is ${status}.`);
      return { store_id, file_id, batch_id: id };
    },
  } satisfies StateTable;
}

function containerStates({ url, apiKey }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const make = async (): Promise<string> => (await client.containers.create({ name: "work" })).id;
  return {
    "a container": async () => ({ container_id: await make() }),
    "a container that holds a file": async () => {
      const container_id = await make();
      const file = await toFile(Buffer.from("1,2"), "sums.csv", { type: "text/plain" });
      return { container_id, file_id: (await client.containers.files.create(container_id, { file })).id };
    },
  } satisfies StateTable;
}

const none = async (): Promise<Record<string, string>> => ({});

export function stagedStates(service: Service) {
  return {
    "a server with extensions": none,
    /** The reference's answer is unknown, or ours differs on purpose. */
    "our own server": none,
    "a server without tools of its own": none,
    "a server that cannot reach what it is told to fetch": none,
    "a model that reasons": none,
    "a model that lacks an effort": none,
    "a server that takes little": none,
    "a model that is rate-limited": none,
    "a model whose credit is used up": none,
    "a model with a small window": none,
    "a model that fails": none,
    "a model that fails while it answers": none,
    "a model that cannot be reached": none,
    "a model that is overloaded": none,
    "a model that is too slow": none,
    "a caller who acts for one organization": async () => ({ api_key: ACME_KEY }),
    "a spoken response": async () => {
      const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.apiKey });
      const body = { model: service.model, input: "Say hello", output_audio: { format: "wav" } };
      const { id } = await client.post<{ readonly id: string }>("/responses", { body });
      return { response_id: id };
    },
    "an uploaded picture that is too large": async () => {
      const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.apiKey });
      const file = await toFile(Buffer.alloc(PICTURE_BYTES), "large.png", { type: "image/png" });
      return { file_id: (await client.files.create({ file, purpose: "vision" })).id };
    },
    ...stagedWebhookStates(service),
    ...stagedEffectStates(service),
    ...spentStates(service),
    ...operatorStates(service),
  } satisfies StateTable;
}

/** Bytes of an image: more than the server accepts for images, and less than it accepts for files. */
const PICTURE_BYTES = 1500;

function operatorStates({ url, apiKey, operatorKey = apiKey }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: operatorKey, adminAPIKey: operatorKey });
  const { adminAPIKeys } = client.admin.organization;
  const makeKey = async (members: object): Promise<Record<string, string>> => {
    const made = { body: { name: "ci", projects: ["acme/books"], ...members } };
    const { id } = await client.post<{ readonly id: string }>("/organization/keys", made);
    return { api_key: operatorKey, key_id: id };
  };
  return {
    "an operator": async () => ({ api_key: operatorKey }),
    "an operator beside another": async () => await makeKey({ is_operator: true }),
    "an operator and a key of a project": async () => await makeKey({ budget: { period: "month", amount: 20 } }),
    "the only operator": async () => {
      const { data: keys } = await adminAPIKeys.list({ limit: 100 });
      const own = `…${operatorKey.slice(-4)}`;
      for (const { id, redacted_value: shown } of keys) if (!shown.endsWith(own)) await adminAPIKeys.delete(id);
      return { api_key: operatorKey, key_id: keys.find((key) => key.redacted_value.endsWith(own))?.id ?? "" };
    },
  } satisfies StateTable;
}

function spentStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const spender = client.withOptions({ apiKey: SPENT_KEY });
  const waiting: string[] = [];
  return {
    "a caller whose minute is used up": async () => {
      await unlessLimited(spender.responses.create({ model, input: USE_UP }));
      return { api_key: SPENT_KEY };
    },
    "a full queue of background responses": {
      setup: async () => {
        await untilRefused(async () => {
          waiting.push((await client.responses.create({ model, input: LONG_TASK, background: true })).id);
        });
        return {};
      },
      teardown: async () => {
        await Promise.all(waiting.splice(0).map((id) => client.responses.cancel(id)));
      },
    },
    "a response that failed": async () => {
      const asked = { model, input: "Please play: break off", background: true };
      const { id } = await client.responses.create(asked);
      await waitForEnd(client, id);
      return { response_id: id };
    },
  } satisfies StateTable;
}

/** Starts a background response. It is still running when this resolves. */
async function beginLong(
  client: OpenAI,
  members: { readonly model: string; readonly conversation?: string },
): Promise<string> {
  const { id } = await client.responses.create({ ...members, input: LONG_TASK, background: true });
  await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
  if (isOver(await client.responses.retrieve(id)))
    throw new StateOutOfReach("its model answers before anybody could be in the way");
  return id;
}

const MOMENT_MS = 100;

/** Ignores a rate limit error, because the limit is already used up then. */
async function unlessLimited(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof OpenAI.RateLimitError)) throw error;
  }
}

const QUEUE_MAX = 20;

async function untilRefused(begin: () => Promise<void>): Promise<void> {
  for (let begun = 0; begun < QUEUE_MAX; begun++) {
    try {
      await begin();
    } catch (error) {
      if (error instanceof OpenAI.InternalServerError && error.status === 503) return;
      throw error;
    }
  }
  throw new Error(`${QUEUE_MAX} background responses were accepted without a refusal.`);
}
