import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { SOCKET_TALKERS } from "./message-pacts.fixture.ts";
import { SCENARIO } from "./scenarios.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService } from "./service.fixture.ts";
import { FRAMES } from "./socket-frames.fixture.ts";
import { PENDING_SOCKET_SITUATIONS, SOCKET_SITUATIONS, STAGED_SOCKET_SITUATIONS } from "./socket-situations.fixture.ts";
import { SocketTeller } from "./socket-teller.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";
import { casesOf, ONLY_STAGED, verifyMessage } from "./verify-message.fixture.ts";
import { startVoice, type Voice } from "./voice.fixture.ts";

const reference = referenceService();

describe("at our server", () => {
  let server: TestServer;
  let voice: Voice;
  let teller: SocketTeller;
  beforeAll(async () => {
    voice = await startVoice();
    server = await startTestServer({ scenario: SCENARIO, env: voice.env });
    teller = new SocketTeller({ url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" });
  });
  afterAll(async () => {
    await server.close();
    voice.close();
  });

  describePacts(
    () => teller,
    (state) => PENDING_SOCKET_SITUATIONS[state]?.reason,
  );

  test.each(Object.entries(PENDING_SOCKET_SITUATIONS))(
    "has never told over a socket of %s",
    async (_state, { events }) => {
      const told = await teller.emitter.names(Object.keys({ ...SOCKET_SITUATIONS, ...STAGED_SOCKET_SITUATIONS }));
      expect(events.map(nameOfEvent).filter((name) => told.has(name))).toEqual([]);
    },
  );
});

describe.skipIf(reference === null)(`at the reference (${REFERENCE_SETTINGS})`, () => {
  const teller = new SocketTeller(reference ?? { url: "", apiKey: "", model: "" });
  describePacts(
    () => teller,
    (state) => (state in SOCKET_SITUATIONS || state in FRAMES ? undefined : ONLY_STAGED),
  );
});

/** `whySkipped` tells of a state that the provider cannot be put into. */
function describePacts(teller: () => SocketTeller, whySkipped: (state: string) => string | undefined): void {
  describe.each(SOCKET_TALKERS)("the pact of $consumer", (parties) => {
    test.for(casesOf(parties))("$title", { timeout: REFERENCE_TIMEOUT_MS }, async ({ message }, { skip }) => {
      verifies("contract.parity.same-checks-both-providers", "websocket.responses.error-shape");
      const reason = whySkipped(message.state);
      skip(reason !== undefined, reason);
      await verifyMessage(parties, message, (sent) => teller().tell(message, sent));
    });
  });
}
