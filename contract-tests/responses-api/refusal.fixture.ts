import { AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { expect } from "vitest";
import * as own from "../../src/client/index.ts";
import { type Clients, checkInteraction, type Interaction } from "./interaction.fixture.ts";

/** Well formed, and nobody's. */
export const UNKNOWN_ID = "resp_ffffffffffffffff0067000000ffffffffffffffffffffffff";

export interface Refusal {
  readonly status: number;
  /** Left out where the reference says null: ours then repeats the type, and clients must go by the status. */
  readonly code?: string;
  readonly param: string | null;
  readonly message: unknown;
}

type Calls = {
  readonly [Name in keyof Clients]: (...client: Parameters<NonNullable<Clients[Name]>>) => PromiseLike<unknown>;
};

/** Both clients throw the error class of the status, with the members of the error on it. */
export async function checkRefusal(
  interaction: Omit<Interaction, "reply">,
  refusal: Refusal,
  calls: Calls,
): Promise<void> {
  const { status, ...members } = refusal;
  const error = { ...members, type: "invalid_request_error" };
  const { message: _, ...seen } = error;
  await checkInteraction(
    { ...interaction, status, reply: { json: { error } } },
    {
      official: async (client) => {
        const refused = calls.official(client);
        await expect(refused).rejects.toBeInstanceOf(OFFICIAL_CLASSES[status]);
        await expect(refused).rejects.toMatchObject({ status, ...seen });
      },
      ...(calls.own === undefined ? {} : { own: refusedByOwn(calls.own, { status, ...seen }) }),
    },
  );
}

function refusedByOwn(call: NonNullable<Calls["own"]>, seen: { readonly status: number }): NonNullable<Clients["own"]> {
  return async (client) => {
    const refused = call(client);
    await expect(refused).rejects.toBeInstanceOf(OWN_CLASSES[seen.status]);
    await expect(refused).rejects.toMatchObject(seen);
  };
}

const OFFICIAL_CLASSES: Record<number, typeof BadRequestError | typeof AuthenticationError | typeof NotFoundError> = {
  400: BadRequestError,
  401: AuthenticationError,
  404: NotFoundError,
};
const OWN_CLASSES: Record<
  number,
  typeof own.BadRequestError | typeof own.AuthenticationError | typeof own.NotFoundError
> = {
  400: own.BadRequestError,
  401: own.AuthenticationError,
  404: own.NotFoundError,
};
