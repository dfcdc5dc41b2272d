import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import OpenAI from "openai";
import { Antiphon } from "../../src/client/index.ts";
import { PACTS_DIR, type Parties } from "../pact-files.fixture.ts";
import { CALLER_STATE, type State } from "./provider-states.ts";

const { fromProviderState, regex } = MatchersV3;

/** The same interactions, but for those that our client leaves no way to send. */
export const OFFICIAL_SDK: Parties = { consumer: "openai-sdk", provider: "responses-api" };
export const OWN_CLIENT: Parties = { consumer: "antiphon-client", provider: "responses-api" };
export const EXAMPLE_KEY = "sk-example";
export const EXAMPLE_MODEL = "example-model";

/** Has the model of the provider put in its place. */
export const theModel = fromProviderState("${model}", EXAMPLE_MODEL);

type Path = Parameters<ReturnType<PactV4["addInteraction"]>["withRequest"]>[1];
type Query = Parameters<
  Parameters<NonNullable<Parameters<ReturnType<PactV4["addInteraction"]>["withRequest"]>[2]>>[0]["query"]
>[0];

export interface Interaction {
  /** Names of `provider-states.ts`. That of the caller with a key goes without saying. */
  readonly given?: readonly State[];
  /** Unique; the sentence goes on after "a request". */
  readonly request: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: Path;
  readonly query?: Query;
  readonly body?: unknown;
  /** Sent in place of the caller's own key. */
  readonly wrongKey?: string;
  readonly status?: number;
  readonly reply: { readonly json: unknown } | EventStreamReply;
}

export interface EventStreamReply {
  /** The example: a whole stream as it is sent. */
  readonly events: string;
  /** What any stream must look like. A full match, and a dot is no line end. */
  readonly pattern: string;
}

/** What a client does with the provider: sends exactly this request, and can use the reply. */
export interface Clients {
  readonly official: (client: OpenAI) => Promise<void>;
  /** Left out where the types of our client leave no way to send the request. */
  readonly own?: (client: Antiphon) => Promise<void>;
}

/** Has real clients talk to a stand-in that accepts this request only, and writes it into the pact. */
export async function checkInteraction(interaction: Interaction, { official, own }: Clients): Promise<void> {
  const apiKey = interaction.wrongKey ?? EXAMPLE_KEY;
  await describe(OFFICIAL_SDK, interaction).executeTest(({ url }) =>
    official(new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })),
  );
  if (own === undefined) return;
  await describe(OWN_CLIENT, interaction).executeTest(({ url }) =>
    own(new Antiphon({ baseUrl: url, apiKey, retriesMax: 0 })),
  );
}

function describe(parties: Parties, interaction: Interaction) {
  const { given = [], request, method, path, query, body, wrongKey, status = 200, reply } = interaction;
  const pact = new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" }).addInteraction().given(CALLER_STATE);
  for (const state of given) pact.given(state);
  return pact
    .uponReceiving(`a request ${request}`)
    .withRequest(method, path, (builder) => {
      builder.headers({
        Authorization:
          wrongKey === undefined
            ? fromProviderState("Bearer ${api_key}", `Bearer ${EXAMPLE_KEY}`)
            : `Bearer ${wrongKey}`,
      });
      if (query !== undefined) builder.query(query);
      if (body !== undefined) builder.jsonBody(body);
    })
    .willRespondWith(status, (builder) => {
      const requestId = { "X-Request-Id": regex("^req_.+$", "req_0123456789abcdef0123456789abcdef") };
      if ("json" in reply) builder.jsonBody(reply.json).headers(requestId);
      else writeEvents(builder, reply).headers(requestId);
    });
}

/** Pact has no media type for event streams: it compares a text. The headers must come after the body, which sets its own. */
function writeEvents(builder: ResponseBuilder, { events, pattern }: EventStreamReply): ResponseBuilder {
  return builder
    .body("text/plain", Buffer.from(events))
    .headers({ "Content-Type": regex("^text/event-stream(;.*)?$", "text/event-stream; charset=utf-8") })
    .matchingRules({ body: { path: "$", rules: [regex(pattern, events)] } });
}

type ResponseBuilder = Parameters<
  NonNullable<Parameters<ReturnType<ReturnType<PactV4["addInteraction"]>["withRequest"]>["willRespondWith"]>[1]>
>[0];
