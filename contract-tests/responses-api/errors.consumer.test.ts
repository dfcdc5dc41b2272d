import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal, UNKNOWN_ID } from "./refusal.fixture.ts";

const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const model = EXAMPLE_MODEL;

describe("a client that is refused", () => {
  test("for a missing model gets 400", async () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.missing-model");
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
