import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal, type Refusal, UNKNOWN_ID } from "./refusal.fixture.ts";

const { regex, string } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const model = EXAMPLE_MODEL;

describe("a client that is refused", () => {
  test("with a wrong key gets 401", async () => {
    verifies("contract.parity.same-checks-both-providers", "auth.key.wrong-key-is-401");
    const message = string("Incorrect API key provided: sk-wrong.");
    await checkRefusal(
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
    await checkRefusal(
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
    await checkRefusal(
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
    await checkRefusal(
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
    await checkRefusal(
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
    await checkRefusal(
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

/** Bodies that the types of our client do not let through; the official one has an untyped door. */
async function checkIllFormed(
  request: string,
  asked: Readonly<Record<string, unknown>>,
  refusal: Omit<Refusal, "status">,
): Promise<void> {
  await checkRefusal(
    { ...CREATE, request, body: { model: theModel, ...asked } },
    { status: 400, ...refusal },
    {
      official: (client) => client.post("/responses", { body: { model, ...asked } }),
    },
  );
}
