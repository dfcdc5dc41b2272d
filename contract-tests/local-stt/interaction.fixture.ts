import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import { expect } from "vitest";
import {
  AntiphonSpeech,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  type SpeechOptions,
} from "../../packages/client/src/index.ts";
import { PACTS_DIR } from "../pact-files.fixture.ts";
import { FORM_TYPE, type Form, formBytes } from "./forms.fixture.ts";
import { LOCAL_STT } from "./parties.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const { regex, string } = MatchersV3;

export interface Interaction {
  readonly given: State;
  /** Unique within the pact. Completes the sentence "a request …". */
  readonly request: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly status?: number;
  /** Null for a reply without a body. */
  readonly reply: { readonly json: unknown; readonly headers?: Headers } | TextReply | null;
}

type Headers = Readonly<Record<string, string | ReturnType<typeof regex>>>;

export type RequestBody =
  | { readonly json: unknown }
  | { readonly form: Form }
  /** One message per line. */
  | { readonly lines: readonly object[] }
  | { readonly text: string; readonly type: string };

export interface TextReply {
  /** An example of the whole reply. */
  readonly text: string;
  /** The pattern that the whole reply must match. A dot does not match a line end. */
  readonly pattern: string;
  readonly type: string;
}

/** Replaces `fetch`, to send requests that our client would never make. */
export type Detour = NonNullable<SpeechOptions["fetch"]>;
type Use = (client: AntiphonSpeech) => Promise<unknown>;

/** Runs our client against a stand-in that accepts only this request, and writes the interaction into the pact. */
export async function checkInteraction(interaction: Interaction, use: Use, detour?: Detour): Promise<void> {
  const { given, request, method, path, query, status = 200, reply } = interaction;
  await new PactV4({ ...LOCAL_STT, dir: PACTS_DIR, logLevel: "error" })
    .addInteraction()
    .given(given)
    .uponReceiving(`a request ${request}`)
    .withRequest(method, path, (builder) => {
      if (query !== undefined) builder.query(query);
      writeBody(builder, interaction.body);
      if (interaction.headers !== undefined) builder.headers(interaction.headers);
    })
    .willRespondWith(status, (builder) => {
      if (reply === null) return;
      if ("json" in reply) builder.jsonBody(reply.json).headers(reply.headers ?? {});
      else writeText(builder, reply);
    })
    .executeTest(async ({ url }) => {
      const fetch: Detour = detour ?? ((to, init) => globalThis.fetch(to, init));
      await use(new AntiphonSpeech({ baseUrl: url, retriesMax: 0, fetch }));
    });
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  /** The error message, if the contract fixes it. */
  readonly message?: unknown;
  /** True if the reply has a `Retry-After` header. */
  readonly isPassing?: boolean;
}

/** Checks that our client throws the error class of the status, with the code. */
export async function checkRefusal(
  interaction: Omit<Interaction, "reply" | "status">,
  { status, code, message = string("A sentence."), isPassing = false }: Refusal,
  call: Use,
  detour?: Detour,
): Promise<void> {
  const headers = isPassing ? { "Retry-After": regex("^[1-9][0-9]*$", "5") } : {};
  await checkInteraction(
    { ...interaction, status, reply: { json: { error: { code, message } }, headers } },
    async (client) => {
      const error: unknown = await call(client).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status, code, message: expect.stringMatching(/./) });
      if (status in CLASSES) expect(error).toBeInstanceOf(CLASSES[status]);
    },
    detour,
  );
}

const CLASSES: Readonly<Record<number, new (...fields: never[]) => Error>> = {
  400: BadRequestError,
  403: PermissionDeniedError,
  404: NotFoundError,
  500: InternalServerError,
  503: InternalServerError,
};

/** Without this rule Pact compares only the detected file type of the bytes. */
const EQUALITY = { "pact:matcher:type": "equality" } as const;

/** Sets the headers after the body, because setting a body overwrites them. */
function writeBody(builder: RequestBuilder, body: RequestBody | undefined): void {
  if (body === undefined) return;
  if ("json" in body) builder.jsonBody(body.json);
  else if ("form" in body)
    builder
      .body(FORM_TYPE, formBytes(body.form))
      .headers({ "Content-Type": regex("^multipart/form-data; ?boundary=.+$", FORM_TYPE) })
      .matchingRules({
        body: body.form.map(({ name }) => ({ path: `$.${name}`, rules: [EQUALITY] })),
      });
  else if ("lines" in body)
    builder
      .body("text/plain", Buffer.from(linesOf(body.lines)))
      .headers({ "Content-Type": "application/x-ndjson" })
      .matchingRules({ body: { path: "$", rules: [EQUALITY] } });
  else builder.body(body.type, Buffer.from(body.text));
}

/** Writes lines as our client does: first a blank line, which makes the server answer before the first message. */
function linesOf(messages: readonly object[]): string {
  return `\n${messages.map((message) => `${JSON.stringify(message)}\n`).join("")}`;
}

/** Pact compares a body that is not JSON as text/plain. */
function writeText(builder: ResponseBuilder, { text, pattern, type }: TextReply): void {
  builder
    .body("text/plain", Buffer.from(text))
    .headers({ "Content-Type": regex(`^${type}(;.*)?$`, type) })
    .matchingRules({ body: { path: "$", rules: [regex(pattern, text)] } });
}

type WithRequest = ReturnType<PactV4["addInteraction"]>["withRequest"];
type RequestBuilder = Parameters<NonNullable<Parameters<WithRequest>[2]>>[0];
type ResponseBuilder = Parameters<NonNullable<Parameters<ReturnType<WithRequest>["willRespondWith"]>[1]>>[0];
