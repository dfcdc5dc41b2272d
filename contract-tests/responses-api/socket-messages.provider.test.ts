import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import type { PactMessage } from "../pact-files.fixture.ts";
import { emitFrames } from "./emit-frames.fixture.ts";
import { Emitter } from "./emitter.fixture.ts";
import { SOCKET_TALKERS } from "./message-pacts.fixture.ts";
import { SCENARIO } from "./scenarios.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService, type Service } from "./service.fixture.ts";
import { FRAMES } from "./socket-frames.fixture.ts";
import {
  PENDING_SOCKET_SITUATIONS,
  SOCKET_SITUATIONS,
  STAGED_SOCKET_SITUATIONS,
  TIME_OVER,
} from "./socket-situations.fixture.ts";
import { answerFrame, outliveSocket } from "./socket-states.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";
import { casesOf, verifyMessage } from "./verify-message.fixture.ts";
import { startVoice, type Voice } from "./voice.fixture.ts";

const reference = referenceService();

describe("at our server", () => {
  let server: TestServer;
  let voice: Voice;
  let service: Service;
  let emitter: Emitter;
  beforeAll(async () => {
    voice = await startVoice();
    server = await startTestServer({ scenario: SCENARIO, env: voice.env });
    service = { url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" };
    emitter = new Emitter(emitFrames, service);
  });
  afterAll(async () => {
    await server.close();
    voice.close();
  });

  describe.each(SOCKET_TALKERS)("the pact of $consumer", (parties) => {
    test.for(casesOf(parties))("$title", async ({ message }, { skip }) => {
      verifies("contract.parity.same-checks-both-providers", "websocket.responses.error-shape");
      skip(message.state in PENDING_SOCKET_SITUATIONS, PENDING_SOCKET_SITUATIONS[message.state]?.reason);
      await verifyMessage(parties, message, (sent) => tell(service, emitter, message, sent));
    });
  });

  test.each(Object.entries(PENDING_SOCKET_SITUATIONS))(
    "has never told over a socket of %s",
    async (_state, { events }) => {
      const told = await emitter.names(Object.keys({ ...SOCKET_SITUATIONS, ...STAGED_SOCKET_SITUATIONS }));
      expect(events.map(nameOfEvent).filter((name) => told.has(name))).toEqual([]);
    },
  );
});

describe.skipIf(reference === null)(`at the reference (${REFERENCE_SETTINGS})`, () => {
  const service = reference ?? { url: "", apiKey: "", model: "" };
  const emitter = new Emitter(emitFrames, service);

  describe.each(SOCKET_TALKERS)("the pact of $consumer", (parties) => {
    const cases = casesOf(parties, ({ state }) => state in SOCKET_SITUATIONS || state in FRAMES);
    test.each(cases)("$title", { timeout: REFERENCE_TIMEOUT_MS }, async ({ message }) => {
      await verifyMessage(parties, message, (sent) => tell(service, emitter, message, sent));
    });
  });
});

/** What the service says that the message is about; `sent` is the frame that it answers, if it answers one. */
async function tell(service: Service, emitter: Emitter, message: PactMessage, sent: unknown): Promise<unknown> {
  if (message.state === TIME_OVER.state) return outliveSocket();
  return sent === undefined ? emitter.find(message) : answerFrame(service, message.state, sent);
}
