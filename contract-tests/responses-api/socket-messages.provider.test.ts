import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { describeProviders, VERIFICATION_TIMEOUT_MS } from "../providers.fixture.ts";
import { SOCKET_PROVIDER } from "./message-pacts.fixture.ts";
import { startMessageServer } from "./message-server.fixture.ts";
import { FRAMES } from "./socket-frames.fixture.ts";
import { SocketReplies } from "./socket-replies.fixture.ts";
import { PENDING_SOCKET_SITUATIONS, SOCKET_SITUATIONS, STAGED_SOCKET_SITUATIONS } from "./socket-situations.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";
import { lackingProgram } from "./tool-recipes.fixture.ts";
import { casesOf, ONLY_STAGED, verifyMessage } from "./verify-message.fixture.ts";

describeProviders(startMessageServer, ({ isStaged, service }) => {
  let replies: SocketReplies;
  beforeAll(() => {
    replies = new SocketReplies(service());
  });

  describe("the pact about sockets", () => {
    test.for(casesOf(SOCKET_PROVIDER))(
      "$title",
      { timeout: VERIFICATION_TIMEOUT_MS },
      async ({ message }, { skip }) => {
        verifies("contract.parity.same-checks-both-providers", "websocket.responses.error-shape");
        const reason = whySkipped(message.state, isStaged);
        skip(reason !== undefined, reason);
        await verifyMessage(SOCKET_PROVIDER, message, (sent) => replies.find(message, sent));
      },
    );
  });

  test.for(Object.entries(PENDING_SOCKET_SITUATIONS))(
    "does not send %s over a socket",
    async ([_state, { events }], { skip }) => {
      skip(!isStaged, ONLY_STAGED);
      const told = await replies.emitter.names(Object.keys({ ...SOCKET_SITUATIONS, ...STAGED_SOCKET_SITUATIONS }));
      expect(events.map(nameOfEvent).filter((name) => told.has(name))).toEqual([]);
    },
  );
});

function whySkipped(state: string, isStaged: boolean): string | undefined {
  if (isStaged) return PENDING_SOCKET_SITUATIONS[state]?.reason ?? lackingProgram(state);
  return state in SOCKET_SITUATIONS || state in FRAMES ? undefined : ONLY_STAGED;
}
