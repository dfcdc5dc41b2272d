import { MatchersV3 } from "@pact-foundation/pact";
import { AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { describe, expect, test } from "vitest";
import * as own from "../../src/client/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { type Clients, checkInteraction, EXAMPLE_MODEL, type Interaction, theModel } from "./interaction.fixture.ts";

const { fromProviderState, regex, string } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const UNKNOWN_ID = "resp_ffffffffffffffff0067000000ffffffffffffffffffffffff";
const model = EXAMPLE_MODEL;

describe("a client that is refused", () => {
  test("with a wrong key gets 401", async () => {
    verifies("contract.parity.same-checks-both-providers", "auth.key.wrong-key-is-401");
    const message = string("Incorrect API key provided: sk-wrong.");
    await check(
      { request: "with a wrong key", method: "GET", path: "/v1/models", wrongKey: "sk-wrong" },
      { status: 401, code: "invalid_api_key", param: null, message },
      { official: (client) => client.models.list(), own: (client) => client.listModels() },
    );
  });

  test("for an unknown member gets its name", async () => {
    verifies("errors.catalogue.unknown-parameter");
    await checkIllFormed(
      "with an unknown member",
      { input: "Hi", colour: "blue" },
      {
        code: "unknown_parameter",
        param: "colour",
        message: "Unknown parameter: 'colour'.",
      },
    );
  });

  test("for a misspelled member gets a hint", async () => {
    verifies("errors.catalogue.spelling-hint");
    await checkIllFormed(
      "with a misspelled member",
      { input: "Hi", sto: true },
      {
        code: "unknown_parameter",
        param: "sto",
        message: "Unknown parameter: 'sto'. Did you mean 'store'?",
      },
    );
  });

  test("for a member of the wrong type gets what was expected", async () => {
    verifies("errors.catalogue.wrong-type");
    await checkIllFormed(
      "with a number as input",
      { input: 7 },
      {
        code: "invalid_type",
        param: "input",
        message:
          "Invalid type for 'input': expected one of a string or array of input items, but got an integer instead.",
      },
    );
  });

  test("for a word outside an enumeration gets the words inside", async () => {
    verifies("errors.catalogue.value-outside-enum");
    await checkIllFormed(
      "with an unknown verbosity",
      { input: "Hi", text: { verbosity: "loud" } },
      {
        code: "invalid_value",
        param: "text.verbosity",
        message: "Invalid value: 'loud'. Supported values are: 'low', 'medium', and 'high'.",
      },
    );
  });

  test("for the members of chat completions is shown the way", async () => {
    verifies("errors.catalogue.chat-messages-moved");
    await checkIllFormed(
      "with the messages of chat completions",
      { input: "Hi", messages: [{ role: "user", content: "Hi" }] },
      {
        code: "unsupported_parameter",
        param: null,
        message: regex(
          "^Unsupported parameter: 'messages'\\. In the Responses API, this parameter has moved to 'input'\\..*$",
          "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
        ),
      },
    );
  });

  test("for a missing model gets 400", async () => {
    verifies("errors.catalogue.missing-model");
    const body = { input: "Hi" };
    await check(
      { ...CREATE, request: "without a model", body },
      {
        status: 400,
        code: "missing_required_parameter",
        param: "model",
        message: "Missing required parameter: 'model'.",
      },
      { official: (client) => client.responses.create(body), own: (client) => client.createResponse(body) },
    );
  });

  test("for an integer out of bounds gets the bound", async () => {
    verifies("errors.catalogue.integer-bounds");
    const asked = { input: "Hi", max_output_tokens: 1 };
    await check(
      { ...CREATE, request: "with a limit that is too small", body: { model: theModel, ...asked } },
      {
        status: 400,
        code: "integer_below_min_value",
        param: "max_output_tokens",
        message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
      },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("for an unknown model gets 400, not 404", async () => {
    verifies("errors.catalogue.unknown-model-is-400");
    const body = { model: "no-such-model", input: "Hi" };
    await check(
      { ...CREATE, request: "with an unknown model", body },
      {
        status: 400,
        code: "model_not_found",
        param: "model",
        message: "The requested model 'no-such-model' does not exist.",
      },
      { official: (client) => client.responses.create(body), own: (client) => client.createResponse(body) },
    );
  });

  test("gets JSON where it had asked for a stream", async () => {
    verifies("errors.stage.before-generation-is-plain-http");
    const body = { model: "no-such-model", input: "Hi", stream: true } as const;
    await check(
      { ...CREATE, request: "for a stream of an unknown model", body },
      {
        status: 400,
        code: "model_not_found",
        param: "model",
        message: "The requested model 'no-such-model' does not exist.",
      },
      { official: (client) => client.responses.create(body), own: (client) => client.createResponse(body) },
    );
  });

  test("for an unknown previous response gets 400, not 404", async () => {
    verifies("errors.catalogue.previous-response-not-found");
    const asked = { input: "Hi", previous_response_id: UNKNOWN_ID };
    await check(
      { ...CREATE, request: "that continues an unknown response", body: { model: theModel, ...asked } },
      {
        status: 400,
        code: "previous_response_not_found",
        param: "previous_response_id",
        message: `Previous response with id '${UNKNOWN_ID}' not found.`,
      },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });
});

describe("a client that looks for what is not there", () => {
  const found = { status: 404, param: null } as const;
  const unknown = { ...found, message: `Response with id '${UNKNOWN_ID}' not found.` };
  const deleted = {
    ...found,
    message: regex("^Response with id 'resp_.+' not found\\.$", `Response with id '${RESPONSE_ID}' not found.`),
  };
  const path = fromProviderState("/v1/responses/${response_id}", `/v1/responses/${RESPONSE_ID}`);

  test("gets 404 for an unknown response", async () => {
    verifies("errors.catalogue.unknown-response-is-404", "errors.envelope.empty-param-is-null");
    await check({ request: "for an unknown response", method: "GET", path: `/v1/responses/${UNKNOWN_ID}` }, unknown, {
      official: (client) => client.responses.retrieve(UNKNOWN_ID),
      own: (client) => client.getResponse(UNKNOWN_ID),
    });
  });

  test("gets 404 for the input of an unknown response", async () => {
    await check(
      {
        request: "for the input of an unknown response",
        method: "GET",
        path: `/v1/responses/${UNKNOWN_ID}/input_items`,
      },
      unknown,
      {
        official: (client) => client.responses.inputItems.list(UNKNOWN_ID),
        own: (client) => client.listInputItems(UNKNOWN_ID),
      },
    );
  });

  test("gets 404 for a response that was deleted", async () => {
    verifies("responses.delete.then-gone");
    await check({ given: ["a deleted response"], request: "for a deleted response", method: "GET", path }, deleted, {
      official: (client) => client.responses.retrieve(RESPONSE_ID),
      own: (client) => client.getResponse(RESPONSE_ID),
    });
  });

  test("gets 404 when it deletes a response again", async () => {
    verifies("responses.delete.then-gone");
    await check(
      { given: ["a deleted response"], request: "to delete a response again", method: "DELETE", path },
      deleted,
      {
        official: (client) => client.responses.delete(RESPONSE_ID),
        own: (client) => client.deleteResponse(RESPONSE_ID),
      },
    );
  });

  test("gets 404 for an unknown model", async () => {
    const gone = {
      status: 404,
      code: "model_not_found",
      param: "model",
      message: string("The model 'no-such-model' does not exist."),
    };
    await check({ request: "for a model that is not there", method: "GET", path: "/v1/models/no-such-model" }, gone, {
      official: (client) => client.models.retrieve("no-such-model"),
      own: (client) => client.getModel("no-such-model"),
    });
  });
});

interface Refusal {
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
async function check(interaction: Omit<Interaction, "reply">, refusal: Refusal, calls: Calls): Promise<void> {
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
      own: async (client) => {
        const refused = calls.own?.(client);
        if (refused === undefined) return;
        await expect(refused).rejects.toBeInstanceOf(OWN_CLASSES[status]);
        await expect(refused).rejects.toMatchObject({ status, ...seen });
      },
    },
  );
}

/** Bodies that the types of our client do not let through; the official one has an untyped door. */
async function checkIllFormed(
  request: string,
  asked: Readonly<Record<string, unknown>>,
  refusal: Omit<Refusal, "status">,
): Promise<void> {
  await check(
    { ...CREATE, request, body: { model: theModel, ...asked } },
    { status: 400, ...refusal },
    {
      official: (client) => client.post("/responses", { body: { model, ...asked } }),
    },
  );
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
