import type { Service } from "../providers.fixture.ts";
import { CHOOSE_WEATHER, CUSTOM_CALL, SECOND_CALL, WEATHER } from "./example-events.fixture.ts";
import { expectLegal, firstFrames, readStream } from "./read-stream.fixture.ts";
import type { SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";
import { TOOL_RECIPES } from "./tool-recipes.fixture.ts";
import { TIDE_STORE, TOOL_SERVERS } from "./tool-servers.fixture.ts";

export type StreamState = keyof typeof SITUATIONS | keyof typeof STAGED_SITUATIONS;

export interface Recipe {
  readonly request: Readonly<Record<string, unknown>>;
  /** Which stream is read. The reply to the request by default. */
  readonly read?: "cancelled reply" | "once more" | "events under the names of the reference";
}

const CALLS = { tools: [WEATHER], tool_choice: CHOOSE_WEATHER, input: "What is the weather in Rome?" };
const CUSTOM_CALLS = {
  input: "List the files.",
  tools: [{ type: "custom", name: CUSTOM_CALL.name, description: "Runs a shell command." }],
  tool_choice: { type: "custom", name: CUSTOM_CALL.name },
};
const TOOL_SEARCH = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
/** A deferred tool, which the model must find before it can call it. */
const LATER = { ...WEATHER, defer_loading: true };
/** An extension name of `include_obfuscation`. Any other extension would do. */
const EXTENSION = { stream_options: { obfuscation: true } };
const BACKGROUND = { background: true };
const SPOKEN = { input: "Please play: speak", output_audio: {} };
const COMPACT = [{ type: "compaction", compact_threshold: 1000 }];

const RECIPES: Record<StreamState, Recipe> = {
  "a model that answers": { request: { input: "Say hello" } },
  "a model that calls a function": { request: CALLS },
  "a model that calls a custom tool": { request: CUSTOM_CALLS },
  "a model that is cut short": { request: { input: "Write 200 words about the sea.", max_output_tokens: 16 } },
  "a model that tells how likely its words are": {
    request: { input: "Say hello", include: ["message.output_text.logprobs"] },
  },
  "a response made in the background": { request: { input: "Say hello", ...BACKGROUND } },
  "a response of the background whose events are read once more": {
    request: { input: "Say hello", ...BACKGROUND },
    read: "once more",
  },
  "a model that refuses": { request: { input: "Please play: refuse" } },
  "a model that cites": { request: { input: "Please play: cite" } },
  "a model that summarises its reasoning": {
    request: { input: "Please play: summarise", reasoning: { summary: "auto" } },
  },
  "a model that shows its reasoning": { request: { input: "Please play: think", reasoning: { effort: "low" } } },
  "a model that comments on what it does": { request: { input: "Please play: comment" } },
  "a model that calls two functions at once": {
    request: { input: "Please play: call twice", tools: [WEATHER, { ...WEATHER, name: SECOND_CALL.name }] },
  },
  "a model that looks for tools": { request: { input: "Please play: look for tools", tools: [TOOL_SEARCH, LATER] } },
  "a model that a filter stops": { request: { input: "Please play: filter" } },
  "a model that breaks off": { request: { input: "Please play: break off" } },
  ...TOOL_RECIPES,
  "a response of the background that is cancelled": {
    request: { input: "Please play: hold", ...BACKGROUND },
    read: "cancelled reply",
  },
  "a conversation that has grown too long": {
    request: { input: `My name is Ada. ${"word ".repeat(1100)}`, context_management: COMPACT },
  },
  "a model whose answer is spoken": { request: SPOKEN },
  "a spoken answer that is read under the names of the reference": {
    request: SPOKEN,
    read: "events under the names of the reference",
  },
  "a function call told in the extension dialect": { request: { ...CALLS, ...EXTENSION } },
  "a custom tool call told in the extension dialect": { request: { ...CUSTOM_CALLS, ...EXTENSION } },
  "a failure told in the extension dialect": { request: { input: "Please play: break off", ...EXTENSION } },
};

export function recipeFor(state: string): Recipe {
  if (!isStreamState(state)) throw new Error(`No request exists for the state "${state}".`);
  return RECIPES[state];
}

/** Returns the request with the address of the tool servers and the id of the vector store. */
export function requestTo(
  { toolServers = TOOL_SERVERS, vectorStore = TIDE_STORE }: Service,
  { request }: Recipe,
): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(request).replaceAll(TOOL_SERVERS, toolServers).replaceAll(TIDE_STORE, vectorStore));
}

function isStreamState(state: string): state is StreamState {
  return Object.hasOwn(RECIPES, state);
}

export function usesExtension({ request }: Recipe): boolean {
  return "output_audio" in request || "stream_options" in request;
}

/**
 * Returns every event that the service sends in a state. Throws if their order, numbers, ids or texts break the
 * grammar. Reads the stream without a client, because clients turn some events into errors.
 */
export async function emitEvents(service: Service, state: string): Promise<readonly unknown[]> {
  const recipe = recipeFor(state);
  const { read = "reply" } = recipe;
  const body = { model: service.model, stream: true, ...requestTo(service, recipe) };
  const told = await readStream(await send(service, "POST", "", body), async (type, id) => {
    if (read === "cancelled reply" && type === "response.content_part.added")
      await send(service, "POST", `/${id}/cancel`);
  });
  expectLegal(state, told.text, usesExtension(recipe) ? "extension" : "reference");
  if (recipe.request["background"] === true && told.text.includes('"obfuscation"'))
    throw new Error(`"${state}": the stream of a background response has padding.`);
  const again = READ_AGAIN[read];
  if (again === undefined) return told.events;
  const once = await readStream(await send(service, "GET", `/${told.responseId}${again}`));
  expectLegal(state, read === "once more" ? firstFrames(told.text, BEGINNING) + once.text : once.text, "reference");
  return once.events;
}

/** Number of events of a background response up to `response.in_progress`. */
const BEGINNING = 3;
/** Long enough for a slow remote model. */
const STREAM_MS_MAX = 60_000;
const READ_AGAIN: Readonly<Record<string, string>> = {
  "once more": `?stream=true&starting_after=${BEGINNING - 1}`,
  "events under the names of the reference": "/events?dialect=reference",
};

/** Sends a request. Throws if the service refuses it. */
export async function send({ url, apiKey }: Service, method: string, path: string, body?: unknown): Promise<Response> {
  const reply = await fetch(`${url}/v1/responses${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(STREAM_MS_MAX),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply;
}
