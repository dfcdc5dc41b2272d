import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { checkReply } from "./check-refusal.ts";
import { readResponse } from "./read-stream.ts";

describe("a member that only the newest SDKs have", () => {
  verifies("create.ledger.newest-sdk-members");

  test.each<[string, object, object]>([
    ["moderation", { moderation: { model: "omni-moderation-latest" } }, { moderation: null }],
    ["image auto", { image: { context_compression: "auto" } }, { image: { context_compression: "disabled" } }],
    ["image disabled", { image: { context_compression: "disabled" } }, { image: { context_compression: "disabled" } }],
    [
      "a response to compare the cache with",
      { prompt_cache_options: { comparison_response_id: "resp_1" } },
      { prompt_cache_diagnostics: { type: "unavailable" } },
    ],
    ["a window", { background_options: { completion_window: "soonest" } }, { status: "completed" }],
    [
      "a long window",
      { background: true, background_options: { completion_window: "8h", continuation_id: "a" } },
      { status: "queued", background: true },
    ],
  ])("is accepted: %s", async (_title, members, echoed) => {
    const { create } = await serveBehind(says("Hi"));
    const response = await readResponse(await create(members));
    expect(response).toMatchObject(echoed);
    expect(response).not.toHaveProperty("background_options");
  });

  test.each(["image", "prompt_cache_diagnostics"])(
    "is absent from the response if it was not sent: %s",
    async (name) => {
      const { create } = await serveBehind(says("Hi"));
      expect(await readResponse(await create({ prompt_cache_options: { mode: "explicit" } }))).not.toHaveProperty(name);
    },
  );

  test.each<[string, object, string]>([
    [
      "to block what is flagged",
      { moderation: { model: "omni", policy: { input: { mode: "score" }, output: { mode: "block" } } } },
      "moderation.policy.output.mode",
    ],
    ["to compress pictures", { image: { context_compression: "enabled" } }, "image.context_compression"],
    [
      "for a window without background",
      { background_options: { completion_window: "2h" } },
      "background_options.completion_window",
    ],
    [
      "for a window with a stream",
      { background: true, stream: true, background_options: { completion_window: "2h" } },
      "background_options.completion_window",
    ],
  ])("is refused by name where it asks %s", async (_title, members, param) => {
    const { create, upstream } = await serveBehind(says("Hi"));
    const message = new RegExp(`^Unsupported parameter: '${param}'`);
    await checkReply(await create(members), { code: "unsupported_parameter", param, message });
    expect(upstream.calls).toEqual([]);
  });
});

describe("a configuration_update", () => {
  verifies("create.configuration.latest-update-counts");
  const update = (members: object): object => ({ type: "configuration_update", ...members });
  const hi = { role: "user", content: "Hi" };
  const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
  const format = { type: "json_schema", name: "n", schema, strict: true };

  test("wins over the request, is echoed, and reaches the model server", async () => {
    const { create, asked, server } = await serveBehind(says("{}"));
    const input = [
      update({ reasoning: { effort: "low" }, text: { format } }),
      hi,
      update({ reasoning: { effort: "high" } }),
    ];
    const response = await readResponse(await create({ input, reasoning: { effort: "none", summary: "auto" } }));
    expect(response.reasoning).toMatchObject({ effort: "high", summary: "detailed" });
    expect(response.text.format).toEqual({ ...format, description: null });
    expect(asked()).toMatchObject({
      reasoning_effort: "high",
      response_format: { json_schema: { name: "n" } },
      messages: [hi],
    });
    const listed = await (await server.fetch(`/v1/responses/${response.id}/input_items?order=asc`)).json();
    expect(listed).toMatchObject({ data: [{ type: "configuration_update", text: { format } }, {}, {}] });
  });

  test("stays in effect along the chain until a later one replaces it", async () => {
    const { create, asked } = await serveBehind(says("{}"));
    const first = await readResponse(
      await create({ input: [update({ reasoning: { effort: "low" }, text: { format } }), hi] }),
    );
    const second = await readResponse(await create({ previous_response_id: first.id, input: "And?" }));
    expect(second).toMatchObject({ reasoning: { effort: "low" }, text: { format: { name: "n" } } });
    const back = update({ text: { format: { type: "text" } } });
    const third = await readResponse(await create({ previous_response_id: second.id, input: [back, hi] }));
    expect(third).toMatchObject({ reasoning: { effort: "low" }, text: { format: { type: "text" } } });
    expect(asked()).not.toHaveProperty("response_format");
  });

  test("with strict true and a schema that cannot be strict is refused", async () => {
    const { create } = await serveBehind(says("{}"));
    const open = update({ text: { format: { ...format, schema: { type: "object", properties: {} } } } });
    const reply = await create({ input: [open, hi] });
    expect(await reply.json()).toMatchObject({ error: { code: "invalid_json_schema" } });
  });
});
