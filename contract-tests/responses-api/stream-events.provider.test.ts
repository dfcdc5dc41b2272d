import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import type { PactMessage } from "../pact-files.fixture.ts";
import { describeProviders, VERIFICATION_TIMEOUT_MS } from "../providers.fixture.ts";
import { emitEvents } from "./emit-events.fixture.ts";
import { Emitter } from "./emitter.fixture.ts";
import { SSE_PROVIDER } from "./message-pacts.fixture.ts";
import { startMessageServer } from "./message-server.fixture.ts";
import { PENDING_SITUATIONS } from "./pending-situations.fixture.ts";
import { isOfOneKind, isSnapshot, readRecordedEvents } from "./recorded-events.fixture.ts";
import { nameOfEvent, SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";
import { lackingProgram } from "./tool-recipes.fixture.ts";
import { casesOf, ONLY_STAGED, verifyMessage } from "./verify-message.fixture.ts";

const recordings = process.env["REFERENCE_RECORDINGS"];

describeProviders(startMessageServer, ({ isStaged, service }) => {
  let emitter: Emitter;
  beforeAll(() => {
    emitter = new Emitter(emitEvents, service());
  });

  describe("the pact about events", () => {
    test.for(casesOf(SSE_PROVIDER))("$title", { timeout: VERIFICATION_TIMEOUT_MS }, async ({ message }, { skip }) => {
      verifies("contract.parity.same-checks-both-providers");
      const reason = whySkipped(message.state, isStaged);
      skip(reason !== undefined, reason);
      await verifyMessage(SSE_PROVIDER, message, () => emitter.find(message));
    });
  });

  test.for(Object.entries(PENDING_SITUATIONS))("does not send %s yet", async ([_state, { events }], { skip }) => {
    skip(!isStaged, ONLY_STAGED);
    const sent = await emitter.names(Object.keys({ ...SITUATIONS, ...STAGED_SITUATIONS }));
    expect(events.map(nameOfEvent).filter((name) => sent.has(name))).toEqual([]);
  });
});

function whySkipped(state: string, isStaged: boolean): string | undefined {
  if (isStaged) return PENDING_SITUATIONS[state]?.reason ?? lackingProgram(state);
  return state in SITUATIONS ? undefined : ONLY_STAGED;
}

describe.skipIf(recordings === undefined)("at the recorded reference (REFERENCE_RECORDINGS)", () => {
  const recorded = recordings === undefined ? [] : readRecordedEvents(recordings);
  const find = ({ example }: PactMessage): unknown => recorded.find((event) => isOfOneKind(example, event));

  describe("the pact about events", () => {
    const cases = casesOf(SSE_PROVIDER).filter(({ message }) => find(message) !== undefined);
    test.each(cases)("$title", async ({ message }) => {
      verifies("contract.parity.same-checks-both-providers");
      await verifyMessage(SSE_PROVIDER, message, async () => find(message));
    });

    test("every recorded event matches a message", () => {
      const held = new Set(cases.map(({ message }) => message.description));
      const others = recorded.filter((event) => !isSnapshot(event)).map(nameOfEvent);
      expect([...new Set(others)].filter((name) => !held.has(name))).toEqual([]);
    });
  });
});
