import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MODEL } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { makeThings, type Party, startWithTwoOwners, type TwoOwners, unknownLike } from "./two-owners.ts";

const ROUNDS = 60;
/** Far below the time to read the response, and far above the difference between two equal refusals. */
const RATIO_MAX = 2;

describe("refusing another owner's response takes as long as refusing one that never existed, however large it is", () => {
  let two: TwoOwners;
  let ids: { readonly theirs: string; readonly nobodys: string };
  beforeAll(async () => {
    two = await startWithTwoOwners();
    const text = "word ".repeat(400_000);
    const reply = await two.ours.ask("POST", "/v1/responses", { model: MODEL, input: text, instructions: text });
    const { id } = JSON.parse(await reply.text());
    const nobodys = unknownLike({ ...(await makeThings(two.ours)), response_id: id }).response_id;
    ids = { theirs: id, nobodys };
  });
  afterAll(() => two.server.close());

  const PATHS: Readonly<Record<string, (party: Party, id: string) => Promise<Response>>> = {
    "by GET": (party, id) => party.ask("GET", `/v1/responses/${id}`),
    "by its input items": (party, id) => party.ask("GET", `/v1/responses/${id}/input_items`),
    "by its events": (party, id) => party.ask("GET", `/v1/responses/${id}/events`),
    "by cancel": (party, id) => party.ask("POST", `/v1/responses/${id}/cancel`),
    "by a response that follows it": (party, id) =>
      party.ask("POST", "/v1/responses", { model: MODEL, input: "Hi", previous_response_id: id }),
  };

  const timeOf = async (request: () => Promise<Response>): Promise<number> => {
    const startedAt = performance.now();
    await (await request()).arrayBuffer();
    return performance.now() - startedAt;
  };

  test.each(Object.entries(PATHS))("%s", async (path, ask) => {
    verifies("state.owner.other-key-gets-404");
    const [theirs, nobodys]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await timeOf(() => ask(two.theirs, ids.theirs)));
      nobodys.push(await timeOf(() => ask(two.theirs, ids.nobodys)));
    }
    expect(median(theirs) / median(nobodys)).toBeLessThan(RATIO_MAX);
    if (path === "by cancel") return;
    const own = [await timeOf(() => ask(two.ours, ids.theirs)), await timeOf(() => ask(two.ours, ids.theirs))];
    expect(Math.min(...own) / median(nobodys)).toBeGreaterThan(RATIO_MAX); // Otherwise the test is blind.
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
