import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { PNG_URL } from "./example-media.fixture.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";

const { fromProviderState, regex } = MatchersV3;
const path = fromProviderState("/v1/responses/${response_id}/input_items", `/v1/responses/${RESPONSE_ID}/input_items`);
const ITEM_ID = "msg_0123456789abcdef00670000000123456789abcdef01234567";
const TEXT = { type: "input_text", text: "Say hello" } as const;

const PICTURE = { type: "input_image", detail: "low", file_id: null } as const;

function listOf(id: unknown, content: unknown) {
  const item = { id, type: "message", status: "completed", content, role: "user" };
  return { object: "list", data: [item], first_id: id, has_more: false, last_id: id };
}

describe("a client that lists the parts of its input", () => {
  const id = regex("^msg_.+$", ITEM_ID);
  const given = ["a response made of a picture"] as const;

  /** The reference omits the image's URL from the reply; our server does not. */
  test("gets a picture", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const content = [TEXT, PICTURE];
    await checkAnswer(
      {
        given,
        request: "for an input with a picture",
        method: "GET",
        path,
        reply: { json: listOf(id, content) },
      },
      { data: listOf(ITEM_ID, content).data },
      {
        official: (client) => client.responses.inputItems.list(RESPONSE_ID),
        own: (client) => client.listInputItems(RESPONSE_ID),
      },
    );
  });

  test("gets the address where it asks for it", async () => {
    const include = ["message.input_image.image_url" as const];
    const content = [TEXT, { ...PICTURE, image_url: PNG_URL }];
    await checkAnswer(
      {
        given,
        request: "for an input with the address of its picture",
        method: "GET",
        path,
        query: { "include[]": include },
        reply: { json: listOf(id, content) },
      },
      { data: listOf(ITEM_ID, content).data },
      {
        official: (client) => client.responses.inputItems.list(RESPONSE_ID, { include }),
        own: (client) => client.listInputItems(RESPONSE_ID, { include }),
      },
    );
  });
});
