import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { MatchersV3 } from "@pact-foundation/pact";
import OpenAI from "openai";
import { expect } from "vitest";
import * as own from "../../packages/client/src/index.ts";
import {
  type Clients,
  checkInteraction,
  EXAMPLE_MODEL,
  EXAMPLE_REQUEST_ID,
  type Interaction,
  theModel,
} from "./interaction.fixture.ts";
import type { State } from "./provider-states.ts";

/** A well-formed id of no response. */
export const UNKNOWN_ID = "resp_ffffffffffffffff0067000000ffffffffffffffffffffffff";

export interface Refusal {
  readonly status: number;
  /** Absent if the reference sends null. Our server then repeats the type, so clients must use the status. */
  readonly code?: string;
  readonly param: string | null;
  readonly message: unknown;
  /** `invalid_request_error` by default. */
  readonly type?: string;
  /** Reply headers by lower-case name, which both clients show. */
  readonly headers?: Readonly<Record<string, string | MatchersV3.Matcher<string>>>;
}

type Calls = {
  readonly [Name in keyof Clients]: (...client: Parameters<NonNullable<Clients[Name]>>) => PromiseLike<unknown>;
};

/** Checks that both clients throw the error class of the status, with the error's members, request id and headers. */
export async function checkRefusal(
  interaction: Omit<Interaction, "reply">,
  refusal: Refusal,
  calls: Calls,
): Promise<void> {
  const { status, headers = {}, type = "invalid_request_error", ...members } = refusal;
  const error = { ...members, type };
  const { message: _, ...seen } = error;
  const thrown = { status, ...seen, headers: expect.toSatisfy((given) => holds(given, headers)) };
  await checkInteraction(
    { ...interaction, status, reply: { json: { error } }, replyHeaders: headers },
    {
      official: async (client) => {
        const refused = calls.official(client);
        await expect(refused).rejects.toBeInstanceOf(OFFICIAL_CLASSES[status] ?? OpenAI.APIError);
        await expect(refused).rejects.toMatchObject({ ...thrown, requestID: EXAMPLE_REQUEST_ID });
      },
      ...(calls.own === undefined ? {} : { own: refusedByOwn(calls.own, thrown) }),
    },
  );
}

function refusedByOwn(
  call: NonNullable<Calls["own"]>,
  thrown: { readonly status: number },
): NonNullable<Clients["own"]> {
  return async (client) => {
    const refused = call(client);
    await expect(refused).rejects.toBeInstanceOf(OWN_CLASSES[thrown.status] ?? own.APIError);
    await expect(refused).rejects.toMatchObject({ ...thrown, requestId: EXAMPLE_REQUEST_ID });
  };
}

function holds(given: unknown, expected: NonNullable<Refusal["headers"]>): boolean {
  return (
    given instanceof Headers &&
    Object.entries(expected).every(
      ([name, value]) => given.get(name) === (typeof value === "string" ? value : value.value),
    )
  );
}

const OFFICIAL_CLASSES: Record<number, new (...values: never[]) => Error> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
  500: OpenAI.InternalServerError,
  501: OpenAI.InternalServerError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
  504: OpenAI.InternalServerError,
};
const OWN_CLASSES: Record<number, new (...values: never[]) => Error> = {
  400: own.BadRequestError,
  401: own.AuthenticationError,
  403: own.PermissionDeniedError,
  404: own.NotFoundError,
  429: own.RateLimitError,
  500: own.InternalServerError,
  501: own.NotImplementedError,
  502: own.InternalServerError,
  503: own.InternalServerError,
  504: own.InternalServerError,
};

export interface RefusedCreate {
  readonly given?: readonly State[];
  readonly asked: Omit<CreateResponseRequest, "model" | "stream">;
  readonly refusal: Omit<Refusal, "status"> & { readonly status?: number };
}

/** Refused requests by name. The name is unique within the pact and completes the sentence "a request …". */
export type RefusedCreates = Readonly<Record<string, RefusedCreate>>;

/** Checks the refusal of a create request that our client's types allow. */
export async function checkRefusedCreate(
  request: string,
  { given = [], asked, refusal }: RefusedCreate,
): Promise<void> {
  await checkRefusal(
    { ...CREATE, given: [...CREATE.given, ...given], request, body: { model: theModel, ...asked } },
    { status: 400, ...refusal },
    {
      official: (client) => client.post("/responses", { body: { model: EXAMPLE_MODEL, ...asked } }),
      own: (client) => client.createResponse({ model: EXAMPLE_MODEL, ...asked }),
    },
  );
}

const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;

export interface IllFormedCreate extends Omit<RefusedCreate, "asked"> {
  readonly asked: Readonly<Record<string, unknown>>;
}

/** Checks the refusal of a create request that our client's types forbid, as a program without types could send it. */
export async function checkIllFormedCreate(
  request: string,
  { given = [], asked, refusal }: IllFormedCreate,
): Promise<void> {
  await checkRefusal(
    { ...CREATE, given: [...CREATE.given, ...given], request, body: { model: theModel, ...asked } },
    { status: 400, ...refusal },
    {
      official: (client) => client.post("/responses", { body: { model: EXAMPLE_MODEL, ...asked } }),
      own: (client) => client.createResponse(JSON.parse(JSON.stringify({ model: EXAMPLE_MODEL, ...asked }))),
    },
  );
}
