import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parseRequirements } from "../../scripts/requirements.ts";
import { findCitations } from "../../scripts/requirements-coverage.ts";
import { verifies } from "../../tests/verifies.ts";
import type { Parties } from "../pact-files.fixture.ts";
import { operationOf, readInteractions, readOperations, type WrittenInteraction } from "./catalogue.fixture.ts";
import { ANTHROPIC_SDK, OFFICIAL_SDK, OWN_CLIENT } from "./interaction.fixture.ts";

/** Errors that our server sends but its document does not list. */
const BEYOND_THE_DOCUMENT = ["404 invalid_request_error", "503 server_error"];

const REPEATED =
  "It answers a request that is sent again, and an interaction sends one; `tests/runs/create-keys.test.ts` shows it.";

/** Documented errors that no interaction can cause, with the reason. */
const IN_NO_PACT: Readonly<Record<string, string>> = {
  "400 failed_to_download_image": "The built-in engine looks at no picture, so it fetches none.",
  "400 invalid_json": "Pact's proxy reads JSON before it passes it on, and refuses by itself what is none.",
  "400 invalid_parameter": "Reserved: the reference has it for members that our models do not lack.",
  "400 malformed_request": "Clients send HTTP.",
  "400 max_tokens_per_request": "Its body is larger than a server that takes little accepts.",
  "403 host_not_allowed": "No client of an API names another host; `tests/hostile/rebound-names.test.ts` shows it.",
  "408 request_timeout": "No client sends half of a body and waits.",
  "410 response_gone": REPEATED,
  "415 unsupported_content_encoding": "No client encodes what it sends.",
  "422 idempotency_key_reused": REPEATED,
  "422 response_not_kept": REPEATED,
  "424 http_error": "Tool servers are not called yet.",
  "502 model_authentication_failed":
    "The built-in engine has no key; `tests/responses/chat-upstream-errors.test.ts` shows it.",
  "502 no_model_list": "The built-in engine lists its model.",
  "503 slow_down": "Reserved: the reference has it for traffic that grows too fast.",
  "507 storage_full": "No caller fills the disk of a server in a pact.",
};

/** Errors that our client prevents, because it writes forms and media types itself. */
const NOT_BY_OWN_CLIENT: readonly string[] = ["400 invalid_form", "415 unsupported_media_type"];

/** Requirements of the error catalogue that no interaction can test, with the reason. */
const REQUIREMENTS_IN_NO_PACT: Readonly<Record<string, string>> = {
  "errors.catalogue.invalid-json": "As above.",
  "errors.catalogue.logprobs-on-reasoning-model": "The built-in engine tells probabilities also where it reasons.",
  "errors.catalogue.unknown-prompt-is-404": "Prompt templates are not there yet.",
  "errors.catalogue.idempotency-key-reused": REPEATED,
  "errors.catalogue.response-not-kept": REPEATED,
  "errors.catalogue.response-gone": REPEATED,
};

const operations = readOperations("responses-api");

describe.each([
  ["the official client", OFFICIAL_SDK, []],
  ["our client", OWN_CLIENT, NOT_BY_OWN_CLIENT],
] as const)("the pact of %s", (_client, parties: Parties, unsayable: readonly string[]) => {
  const interactions = readInteractions(parties);

  test("has an interaction for every operation", () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = interactions.map((interaction) => operationOf(interaction, operations)?.operationId);
    expect(operations.map(({ operationId }) => operationId).filter((id) => !asked.includes(id))).toEqual([]);
    expect(operations.length).toBeGreaterThan(0);
  });

  test("has an interaction for every error that can be caused", () => {
    const expected = [...operations.flatMap(({ errors }) => errors), ...BEYOND_THE_DOCUMENT];
    expect(missingOf(expected, interactions)).toEqual([...Object.keys(IN_NO_PACT), ...unsayable].toSorted());
  });
});

/** Statuses of errors of the doors that no interaction can cause, with the reason. */
const DOOR_STATUSES_IN_NO_PACT: Readonly<Record<string, string>> = {
  408: "No client sends half of a body and waits.",
  415: "The clients of the doors send JSON; `tests/responses/error-catalogue.test.ts` shows it.",
  424: "Tool servers are not called yet.",
  507: "No caller fills the disk of a server in a pact.",
};

describe.each([
  ["chat-completions", OFFICIAL_SDK],
  ["messages", ANTHROPIC_SDK],
] as const)("the pact of the client of %s", (door, parties) => {
  const doorOperations = readOperations(door);
  const ofDoor = readInteractions(parties).flatMap((interaction) => {
    const operation = operationOf(interaction, doorOperations);
    return operation === undefined ? [] : [{ interaction, operation }];
  });

  test("has an interaction for every operation", () => {
    const asked = ofDoor.map(({ operation }) => operation.operationId);
    expect(doorOperations.map(({ operationId }) => operationId).filter((id) => !asked.includes(id))).toEqual([]);
    expect(doorOperations.length).toBeGreaterThan(0);
  });

  test("has an interaction for every status of an error", () => {
    const met = new Set(ofDoor.map(({ interaction: { error } }) => error?.slice(0, 3)));
    const statuses = [...new Set(doorOperations.flatMap(({ errorStatuses }) => errorStatuses))].toSorted();
    expect(statuses.filter((status) => !met.has(status))).toEqual(Object.keys(DOOR_STATUSES_IN_NO_PACT));
  });
});

/** Many errors of the catalogue share a status and a code, so this test finds each by its requirement id. */
test("every requirement of the error catalogue is cited by a consumer", async () => {
  const cited = new Set<string>();
  for await (const path of glob("*.consumer.test.ts", { cwd: import.meta.dirname })) {
    const code = readFileSync(new URL(path, import.meta.url), "utf8");
    for (const { id } of findCitations({ path, code })) cited.add(id);
  }
  const requirements = parseRequirements(
    readFileSync(new URL("../../specs/requirements.yaml", import.meta.url), "utf8"),
  );
  const catalogue = requirements.map(({ id }) => id).filter((id) => id.startsWith("errors.catalogue."));
  expect(catalogue.filter((id) => !cited.has(id))).toEqual(Object.keys(REQUIREMENTS_IN_NO_PACT));
});

function missingOf(expected: readonly string[], interactions: readonly WrittenInteraction[]): string[] {
  const met = new Set(interactions.map(({ error }) => error));
  return [...new Set(expected)].filter((error) => !met.has(error)).toSorted();
}
