import Anthropic from "@anthropic-ai/sdk";
import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import OpenAI from "openai";
import { Antiphon } from "../../packages/client/src/index.ts";
import { PACTS_DIR, type Parties } from "../pact-files.fixture.ts";
import { CALLER_STATE, type State } from "./provider-states.ts";

const { fromProviderState, regex } = MatchersV3;

/** The provider of what is asked over HTTP. */
export const HTTP_PROVIDER = "responses-api";
/** The same interactions, except those that our client cannot send. */
export const OFFICIAL_SDK: Parties = { consumer: "openai-sdk", provider: HTTP_PROVIDER };
export const OWN_CLIENT: Parties = { consumer: "antiphon-client", provider: HTTP_PROVIDER };
/** What is asked by the messages door. The reference has none, so these interactions need our own server. */
export const ANTHROPIC_SDK: Parties = { consumer: "anthropic-sdk", provider: HTTP_PROVIDER };
export const EXAMPLE_KEY = "sk-example";
export const EXAMPLE_MODEL = "example-model";
export const EXAMPLE_REQUEST_ID = "req_0123456789abcdef0123456789abcdef";

/** The verifier replaces it with the provider's model. */
export const theModel = fromProviderState("${model}", EXAMPLE_MODEL);

type RequestWriter = NonNullable<Parameters<ReturnType<PactV4["addInteraction"]>["withRequest"]>[2]>;
type RequestBuilder = Parameters<RequestWriter>[0];
type Path = Parameters<ReturnType<PactV4["addInteraction"]>["withRequest"]>[1];
type Query = Parameters<RequestBuilder["query"]>[0];
type HeaderShapes = Parameters<RequestBuilder["headers"]>[0];

export interface Interaction {
  /** States of `provider-states.ts`. `CALLER_STATE` is always added. */
  readonly given?: readonly State[];
  /** Unique within the pact. Completes the sentence "a request …". */
  readonly request: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: Path;
  readonly query?: Query;
  readonly headers?: HeaderShapes;
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly text?: TextShape;
  /** Sent instead of the caller's key; null sends no key. */
  readonly wrongKey?: string | null;
  /** True if the server does not check the key. */
  readonly isAnonymous?: boolean;
  readonly status?: number;
  readonly reply: { readonly json: unknown } | EventStreamReply | { readonly text: TextShape } | BytesReply;
  readonly replyHeaders?: HeaderShapes;
}

export interface EventStreamReply {
  /** An example of the whole stream. */
  readonly events: string;
  /** The pattern that the whole stream must match. A dot does not match a line end. */
  readonly pattern: string;
}

/** A reply that is no text. Pact compares its media type, and the type that it detects in the bytes. */
export interface BytesReply {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** What Pact calls such bytes, such as audio/x-wav for audio/wav. */
  readonly detectedType: string;
}

export interface TextShape {
  readonly example: string;
  /** Absent if only the example itself is allowed. For a form it matches part by part. */
  readonly pattern?: string;
  readonly contentType: { readonly example: string; readonly pattern: string };
}

/** For each client, a call that sends exactly this request and reads the reply. */
export interface Clients {
  readonly official: (client: OpenAI) => Promise<void>;
  /** Absent if the types of our client do not allow the request. */
  readonly own?: (client: Antiphon) => Promise<void>;
}

/**
 * Runs the real clients against a stand-in that accepts only this request, and writes the interaction into the pact.
 */
export async function checkInteraction(interaction: Interaction, { official, own }: Clients): Promise<void> {
  const apiKey = interaction.wrongKey === undefined ? EXAMPLE_KEY : interaction.wrongKey;
  await describe(OFFICIAL_SDK, interaction).executeTest(({ url }) =>
    official(new OpenAI({ baseURL: `${url}/v1`, maxRetries: 0, ...officialKey(apiKey) })),
  );
  if (own === undefined) return;
  await describe(OWN_CLIENT, interaction).executeTest(({ url }) =>
    own(new Antiphon({ baseUrl: url, retriesMax: 0, ...(apiKey === null ? {} : { apiKey }) })),
  );
}

/** The same for Anthropic's client. */
export async function checkMessagesInteraction(
  interaction: Interaction,
  call: (client: Anthropic) => Promise<void>,
): Promise<void> {
  const apiKey = interaction.wrongKey ?? EXAMPLE_KEY;
  await describe(ANTHROPIC_SDK, interaction).executeTest(({ url }) =>
    call(new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })),
  );
}

/** Removes the key header if `apiKey` is null, because the official client cannot be created without a key. */
function officialKey(apiKey: string | null) {
  return apiKey === null
    ? { apiKey: EXAMPLE_KEY, defaultHeaders: { Authorization: null } }
    : { apiKey, adminAPIKey: apiKey };
}

function describe(parties: Parties, interaction: Interaction) {
  const { given = [], request, method, path, status = 200 } = interaction;
  const pact = new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" }).addInteraction().given(CALLER_STATE);
  for (const state of given) pact.given(state);
  return pact
    .uponReceiving(`a request ${request}`)
    .withRequest(method, path, (builder) => writeRequest(builder, interaction))
    .willRespondWith(status, (builder) => writeReply(builder, interaction));
}

function writeRequest(builder: RequestBuilder, { query, headers = {}, body, text, wrongKey }: Interaction): void {
  if (query !== undefined) builder.query(query);
  if (body !== undefined) builder.jsonBody(body);
  if (text !== undefined) writeText(builder, text);
  builder.headers({ ...authorization(wrongKey), ...headers });
}

function authorization(wrongKey: string | null | undefined): HeaderShapes {
  if (wrongKey === null) return {};
  const own = fromProviderState("Bearer ${api_key}", `Bearer ${EXAMPLE_KEY}`);
  return { Authorization: wrongKey === undefined ? own : `Bearer ${wrongKey}` };
}

const EVERY_REPLY = {
  "X-Request-Id": regex("^req_.+$", EXAMPLE_REQUEST_ID),
  "openai-version": "2020-10-01",
  "openai-processing-ms": regex("^\\d+$", "12"),
};

/** Headers of every reply to a caller with a key. */
const CHARGED = {
  "openai-organization": regex("^.+$", "example-organization"),
  "openai-project": regex("^.+$", "example-project"),
};

function writeReply(builder: ResponseBuilder, { reply, replyHeaders = {}, ...interaction }: Interaction): void {
  if ("json" in reply) builder.jsonBody(reply.json);
  else if ("bytes" in reply)
    builder.body(reply.detectedType, Buffer.from(reply.bytes)).headers({ "Content-Type": reply.type });
  else writeText(builder, "text" in reply ? reply.text : textOfStream(reply));
  const { status, wrongKey, isAnonymous = false } = interaction;
  const isCharged = wrongKey === undefined && status !== 401 && !isAnonymous;
  builder.headers({ ...EVERY_REPLY, ...(isCharged ? CHARGED : {}), ...replyHeaders });
}

function textOfStream({ events, pattern }: EventStreamReply): TextShape {
  const contentType = { example: "text/event-stream; charset=utf-8", pattern: "^text/event-stream(;.*)?$" };
  return { example: events, pattern, contentType };
}

/**
 * Pact compares a body of an unknown media type as text. Sets the headers after the body, because setting a body
 * overwrites them.
 */
function writeText(builder: RequestBuilder | ResponseBuilder, { example, pattern, contentType }: TextShape): void {
  builder
    .body("text/plain", Buffer.from(example))
    .headers({ "Content-Type": regex(contentType.pattern, contentType.example) });
  if (pattern !== undefined) builder.matchingRules({ body: { path: "$", rules: [regex(pattern, example)] } });
}

type ResponseBuilder = Parameters<
  NonNullable<Parameters<ReturnType<ReturnType<PactV4["addInteraction"]>["withRequest"]>["willRespondWith"]>[1]>
>[0];
