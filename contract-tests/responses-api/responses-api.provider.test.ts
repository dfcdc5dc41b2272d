import { Verifier } from "@pact-foundation/pact";
import { afterAll, beforeAll, describe, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { pactFile } from "../pact-files.fixture.ts";
import { OFFICIAL_SDK, OWN_CLIENT } from "./interaction.fixture.ts";
import { publicStates, type StateTable, stagedStates } from "./provider-states.ts";
import { STAGED_SERVER } from "./scenario.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService, type Service } from "./service.fixture.ts";

const reference = referenceService();

describe("our server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(STAGED_SERVER);
  });
  afterAll(() => server.close());

  test("keeps the pact of the SDKs", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const service = { url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" };
    await checkProvider(service, { ...publicStates(service), ...stagedStates(service) });
  });
});

describe.skipIf(reference === null)(`the reference (${REFERENCE_SETTINGS})`, () => {
  test("keeps the same pact", { timeout: REFERENCE_TIMEOUT_MS }, async () => {
    if (reference !== null) await checkProvider(reference, publicStates(reference));
  });
});

async function checkProvider(service: Service, stateHandlers: StateTable): Promise<void> {
  const verifier = new Verifier({
    provider: OFFICIAL_SDK.provider,
    providerBaseUrl: service.url,
    pactUrls: [pactFile(OFFICIAL_SDK), pactFile(OWN_CLIENT)],
    stateHandlers,
    changeOrigin: true,
    timeout: 60_000,
    logLevel: "error",
  });
  await verifier.verifyProvider();
}
