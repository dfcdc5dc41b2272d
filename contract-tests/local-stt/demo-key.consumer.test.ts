import { MatchersV3 } from "@pact-foundation/pact";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { naming } from "./detours.fixture.ts";
import { checkInteraction, checkRefusal } from "./interaction.fixture.ts";

const { regex } = MatchersV3;

/** Where the page is, and so what its browser calls the server. */
const HOST = "127.0.0.1:8237";
/** What the browser sends with each request of the server's own page. */
const OF_THE_PAGE = { Origin: `http://${HOST}`, "Sec-Fetch-Site": "same-origin" };
const FROM_THE_PAGE = { method: "POST", path: "/demo/key", headers: { ...OF_THE_PAGE, Host: HOST } } as const;

test("the server's own page gets the key of the same machine", async () => {
  verifies("stt.demo.key-for-own-page-only");
  const key = { base_url: "http://127.0.0.1:8080/v1", api_key: "sk-example" };
  await checkInteraction(
    {
      ...FROM_THE_PAGE,
      given: "a Responses API with a key of its own",
      request: "of the page for the key",
      reply: {
        json: {
          base_url: regex("^http://127[.]0[.]0[.]1:[0-9]+/v1$", key.base_url),
          api_key: regex("^sk-.+$", key.api_key),
        },
        headers: { "Cache-Control": "no-store" },
      },
    },
    async (client) => expect(await client.lendDemoKey({ headers: OF_THE_PAGE })).toEqual(key),
    naming(HOST),
  );
});

test.each([
  ["a Responses API without a key of its own", { status: 404, code: "not_found" }],
  ["a key that is not given to pages", { status: 403, code: "user_not_allowed" }],
] as const)("the server's own page gets no key, given %s", async (given, refusal) => {
  verifies("stt.demo.key-for-own-page-only");
  await checkRefusal(
    { ...FROM_THE_PAGE, given, request: `of the page for the key, with ${given}` },
    refusal,
    (client) => client.lendDemoKey({ headers: OF_THE_PAGE }),
    naming(HOST),
  );
});
