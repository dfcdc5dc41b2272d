import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL } from "./interaction.fixture.ts";
import { checkRefusal, UNKNOWN_ID } from "./refusal.fixture.ts";

const { fromProviderState, regex, string } = MatchersV3;

const NO_MODEL = {
  status: 404,
  code: "model_not_found",
  param: "model",
  message: string("The model 'no-such-model' does not exist."),
} as const;

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
    await checkRefusal(
      { request: "for an unknown response", method: "GET", path: `/v1/responses/${UNKNOWN_ID}` },
      unknown,
      {
        official: (client) => client.responses.retrieve(UNKNOWN_ID),
        own: (client) => client.getResponse(UNKNOWN_ID),
      },
    );
  });

  test("gets 404 when it deletes an unknown response", async () => {
    await checkRefusal(
      { request: "to delete an unknown response", method: "DELETE", path: `/v1/responses/${UNKNOWN_ID}` },
      unknown,
      {
        official: (client) => client.responses.delete(UNKNOWN_ID),
        own: (client) => client.deleteResponse(UNKNOWN_ID),
      },
    );
  });

  test("gets 404 when it cancels an unknown response", async () => {
    await checkRefusal(
      { request: "to cancel an unknown response", method: "POST", path: `/v1/responses/${UNKNOWN_ID}/cancel` },
      unknown,
      {
        official: (client) => client.responses.cancel(UNKNOWN_ID),
        own: (client) => client.cancelResponse(UNKNOWN_ID),
      },
    );
  });

  test("gets 404 for the sound of an unknown response", async () => {
    const sound = `/v1/responses/${UNKNOWN_ID}/audio`;
    await checkRefusal({ request: "for the sound of an unknown response", method: "GET", path: sound }, unknown, {
      official: (client) => client.get(sound.replace("/v1", "")),
      own: (client) => client.getResponseAudio(UNKNOWN_ID),
    });
  });

  test("gets 404 for the input of an unknown response", async () => {
    await checkRefusal(
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
    await checkRefusal(
      { given: ["a deleted response"], request: "for a deleted response", method: "GET", path },
      deleted,
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID),
        own: (client) => client.getResponse(RESPONSE_ID),
      },
    );
  });

  test("gets 404 when it deletes a response again", async () => {
    verifies("responses.delete.then-gone");
    await checkRefusal(
      { given: ["a deleted response"], request: "to delete a response again", method: "DELETE", path },
      deleted,
      {
        official: (client) => client.responses.delete(RESPONSE_ID),
        own: (client) => client.deleteResponse(RESPONSE_ID),
      },
    );
  });

  test("gets 404 for a response that was not stored", async () => {
    verifies("errors.catalogue.unknown-response-is-404");
    await checkRefusal(
      { given: ["a response that was not stored"], request: "for a response that was not stored", method: "GET", path },
      deleted,
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID),
        own: (client) => client.getResponse(RESPONSE_ID),
      },
    );
  });

  test("gets 404 for an unknown model", async () => {
    await checkRefusal(
      { request: "for a model that is not there", method: "GET", path: "/v1/models/no-such-model" },
      NO_MODEL,
      {
        official: (client) => client.models.retrieve("no-such-model"),
        own: (client) => client.getModel("no-such-model"),
      },
    );
  });

  test("gets 404 for the deletion of an unknown model, and 403 for that of another", async () => {
    verifies("errors.catalogue.models-are-not-deleted");
    await checkRefusal(
      { request: "to delete a model that is not there", method: "DELETE", path: "/v1/models/no-such-model" },
      NO_MODEL,
      {
        official: (client) => client.models.delete("no-such-model"),
        own: (client) => client.deleteModel("no-such-model"),
      },
    );
    await checkRefusal(
      {
        given: ["our own server", "a chat model"],
        request: "to delete a model",
        method: "DELETE",
        path: fromProviderState("/v1/models/${model}", `/v1/models/${EXAMPLE_MODEL}`),
      },
      {
        status: 403,
        code: "model_not_deletable",
        param: "model",
        message: string(
          `The model '${EXAMPLE_MODEL}' cannot be deleted: the operator of this server chooses its models.`,
        ),
      },
      {
        official: (client) => client.models.delete(EXAMPLE_MODEL),
        own: (client) => client.deleteModel(EXAMPLE_MODEL),
      },
    );
  });
});
