import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";
import { type FaultyBody, faultyBodies } from "./schema-faults.ts";

const MODEL = "antiphon-built-in";
const REQUESTS_AT_ONCE = 8;

/** Faults made from the published schema. The minimum makes sure that the walk found them. */
const FAULTS_MIN = 3_500;

const faults = faultyBodies(MODEL);
const members = [...new Set(faults.map(({ param }) => topMember(param)))];

/** The first fault of a body without its basic members, in the reference's order. */
const WITHOUT_BASICS: readonly (readonly [body: unknown, code: string, param: string])[] = [
  [{}, "missing_required_parameter", "model"],
  [{ model: null, input: "hi" }, "invalid_type", "model"],
  [{ model: 7, input: "hi" }, "invalid_type", "model"],
  [{ model: [MODEL], input: "hi" }, "invalid_type", "model"],
  [{ model: MODEL }, "missing_required_parameter", "input"],
  [{ model: MODEL, input: null }, "invalid_type", "input"],
  [{ model: MODEL, input: 7 }, "invalid_type", "input"],
  [{ model: MODEL, input: {} }, "invalid_type", "input"],
  [{ model: MODEL, input: [{}] }, "invalid_value", "input[0]"],
  [{ model: MODEL, input: [[]] }, "invalid_type", "input[0]"],
  [{ model: "", input: "hi" }, "model_not_found", "model"],
];

describe("a member that does not fit the schema", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test("can be made in thousands of ways, in every top-level member", () => {
    expect(faults.length).toBeGreaterThan(FAULTS_MIN);
    expect(members.length).toBeGreaterThan(30);
  });

  test.each(members)("gets 400 with the catalogue's code and the path of the member: %s", async (member) => {
    verifies(
      "errors.catalogue.wrong-type",
      "errors.catalogue.unknown-parameter",
      "errors.catalogue.missing-nested-member",
    );
    verifies(
      "errors.catalogue.value-outside-enum",
      "errors.catalogue.integer-bounds",
      "errors.catalogue.decimal-bounds",
    );
    verifies(
      "errors.catalogue.string-too-long",
      "errors.catalogue.metadata-pairs",
      "errors.catalogue.metadata-lengths",
    );
    verifies("errors.envelope.four-members-always", "errors.messages.no-internals");
    const mine = faults.filter(({ param }) => topMember(param) === member);
    for (let at = 0; at < mine.length; at += REQUESTS_AT_ONCE)
      await Promise.all(mine.slice(at, at + REQUESTS_AT_ONCE).map(check));
  });

  test.each(WITHOUT_BASICS)("gets 400 also if it is a basic member: %j", async (body, code, param) => {
    verifies(
      "errors.catalogue.missing-model",
      "validation.items.no-type-no-role",
      "errors.catalogue.unknown-model-is-400",
    );
    expect(await errorOf(await server.post("/v1/responses", body))).toMatchObject({ status: 400, code, param });
  });

  test("gets a JSON error even if a stream was requested", async () => {
    verifies("errors.stage.before-generation-is-plain-http");
    const reply = await server.post("/v1/responses", { model: MODEL, input: "hi", stream: true, temperature: "hot" });
    expect(await errorOf(reply)).toMatchObject({ status: 400, code: "invalid_type", param: "temperature" });
  });

  async function check({ what, param, codes, body }: FaultyBody): Promise<void> {
    const error = await errorOf(await server.post("/v1/responses", body));
    const said = `${what} at ${param}: ${JSON.stringify(body).slice(0, 300)} got ${JSON.stringify(error)}`;
    expect(error, said).toMatchObject({ status: 400, type: "invalid_request_error", param });
    expect(codes, said).toContain(error.code);
  }
});

function topMember(param: string): string {
  return /^[^.[]+/.exec(param)?.[0] ?? param;
}
