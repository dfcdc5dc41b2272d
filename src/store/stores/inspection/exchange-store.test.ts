import type { ResponseExchange } from "@antiphon/contracts/responses-api/types.ts";
import { expect } from "vitest";
import { openTestStore, testStores } from "../../store.fixture.ts";
import { OURS } from "../../stored-shapes.fixture.ts";

const OTHER = { organization: "org_b", project: "proj_a" };

/** An exchange of some 1,200 bytes. */
function anExchange(id: string): ResponseExchange {
  const body = { text: "x".repeat(1_000), encoding: "utf-8", bytes: 1_000, is_truncated: false } as const;
  return {
    object: "response.exchange",
    id,
    kind: "model",
    turn: 1,
    created_at: 1_760_000_000,
    request: { method: "POST", url: "http://model.test/", headers: {}, body },
    response: null,
    first_byte_ms: null,
    duration_ms: null,
    error: null,
  };
}

testStores("an owner's oldest exchanges go when there are too many, also while others write more", async () => {
  const { exchanges } = await openTestStore({ ownerExchangeBytesMax: 3_000 });
  for (let number = 0; number < 8; number++) {
    await exchanges.add(OURS, "resp_1", anExchange(`ex_${number}`));
    for (let more = 0; more < 2; more++) await exchanges.add(OTHER, "resp_2", anExchange(`ex_${number}_${more}`));
  }
  const kept = (await exchanges.list(OURS, "resp_1")).map(({ id }) => id);
  expect(kept).toContain("ex_7");
  expect(kept.length).toBeLessThan(6);
});
