import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import type { PactMessage } from "../pact-files.fixture.ts";
import { emitEvents } from "./emit-events.fixture.ts";
import { Emitter } from "./emitter.fixture.ts";
import { SSE_READERS } from "./message-pacts.fixture.ts";
import { PENDING_SITUATIONS } from "./pending-situations.fixture.ts";
import { isOfOneKind, isSnapshot, readRecordedEvents } from "./recorded-events.fixture.ts";
import { SCENARIO } from "./scenarios.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService } from "./service.fixture.ts";
import { nameOfEvent, SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";
import { casesOf, ONLY_STAGED, verifyMessage } from "./verify-message.fixture.ts";
import { startVoice, type Voice } from "./voice.fixture.ts";

const reference = referenceService();
const recordings = process.env["REFERENCE_RECORDINGS"];

describe("at our server", () => {
  let server: TestServer;
  let voice: Voice;
  let emitter: Emitter;
  beforeAll(async () => {
    voice = await startVoice();
    server = await startTestServer({ scenario: SCENARIO, env: { ...voice.env, SSE_KEEP_ALIVE_MS: "20" } });
    emitter = new Emitter(emitEvents, { url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" });
  });
  afterAll(async () => {
    await server.close();
    voice.close();
  });

  describePacts(
    () => emitter,
    (state) => PENDING_SITUATIONS[state]?.reason,
  );

  test.each(Object.entries(PENDING_SITUATIONS))("cannot be brought to %s yet", async (_state, { tool, events }) => {
    const sent = await emitter.names(Object.keys({ ...SITUATIONS, ...STAGED_SITUATIONS }));
    expect(events.map(nameOfEvent).filter((name) => sent.has(name))).toEqual([]);
    if (tool === undefined) return;
    const reply = await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hi", tools: [tool] });
    expect(await reply.json()).toMatchObject({ error: { code: "unsupported_parameter", param: "tools[0]" } });
  });
});

describe.skipIf(reference === null)(`at the reference (${REFERENCE_SETTINGS})`, () => {
  const emitter = new Emitter(emitEvents, reference ?? { url: "", apiKey: "", model: "" });
  describePacts(
    () => emitter,
    (state) => (state in SITUATIONS ? undefined : ONLY_STAGED),
  );
});

describe.skipIf(recordings === undefined)("at the recorded reference (REFERENCE_RECORDINGS)", () => {
  const recorded = recordings === undefined ? [] : readRecordedEvents(recordings);
  const find = ({ example }: PactMessage): unknown => recorded.find((event) => isOfOneKind(example, event));

  describe.each(SSE_READERS)("the pact of $consumer", (parties) => {
    const cases = casesOf(parties).filter(({ message }) => find(message) !== undefined);
    test.each(cases)("$title", async ({ message }) => {
      verifies("contract.parity.same-checks-both-providers");
      await verifyMessage(parties, message, async () => find(message));
    });

    test("and has no event that is held to none", () => {
      const held = new Set(cases.map(({ message }) => message.description));
      const others = recorded.filter((event) => !isSnapshot(event)).map(nameOfEvent);
      expect([...new Set(others)].filter((name) => !held.has(name))).toEqual([]);
    });
  });
});

/** `whySkipped` tells of a state that the provider cannot be put into. */
function describePacts(emitter: () => Emitter, whySkipped: (state: string) => string | undefined): void {
  describe.each(SSE_READERS)("the pact of $consumer", (parties) => {
    test.for(casesOf(parties))("$title", { timeout: REFERENCE_TIMEOUT_MS }, async ({ message }, { skip }) => {
      verifies("contract.parity.same-checks-both-providers");
      const reason = whySkipped(message.state);
      skip(reason !== undefined, reason);
      await verifyMessage(parties, message, () => emitter().find(message));
    });
  });
}
