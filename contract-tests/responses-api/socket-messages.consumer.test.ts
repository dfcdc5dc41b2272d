import { PactV4 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { PACTS_DIR } from "../pact-files.fixture.ts";
import { EXAMPLE_KEY } from "./interaction.fixture.ts";
import { checkMessage, nameOfExample, SOCKET_TALKERS, shapeOfEvent, shapeOfReply } from "./message-pacts.fixture.ts";
import { type Talk, talkByOfficial, talkByOwn } from "./socket-clients.fixture.ts";
import { FRAMES, type FrameExample, STAGED_FRAMES } from "./socket-frames.fixture.ts";
import {
  PENDING_SOCKET_SITUATIONS,
  SOCKET_SITUATIONS,
  STAGED_SOCKET_SITUATIONS,
  TIME_OVER,
} from "./socket-situations.fixture.ts";
import { SocketStandIn } from "./socket-stand-in.fixture.ts";
import type { AnyExample } from "./stream-situations.fixture.ts";

const EVENTS: Readonly<Record<string, readonly AnyExample[]>> = {
  ...SOCKET_SITUATIONS,
  ...STAGED_SOCKET_SITUATIONS,
  ...Object.fromEntries(Object.entries(PENDING_SOCKET_SITUATIONS).map(([state, { events }]) => [state, events])),
};

describe.each(SOCKET_TALKERS)("$consumer on a socket", (parties) => {
  const talk = parties.consumer === "openai-sdk" ? talkByOfficial : talkByOwn;

  describe.each(Object.entries(EVENTS))("hears of %s:", (state, events) => {
    test.each(events.map((event) => ({ name: nameOfExample(event), event })))("$name", async ({ name, event }) => {
      verifies("contract.parity.same-checks-both-providers", "websocket.responses.create-streams-events");
      await checkMessage(parties, { state, name, shape: shapeOfEvent(event) }, (content) => hear(talk, content));
    });
  });

  test("learns that its time is over", async () => {
    verifies("websocket.responses.lifetime");
    const { state, error, message } = TIME_OVER;
    const shape = shapeOfReply(error, message);
    await checkMessage(parties, { state, name: `error ${error.error.code}`, shape }, (content) => hear(talk, content));
  });

  describe.each(Object.entries({ ...FRAMES, ...STAGED_FRAMES }))("given %s, sends a frame that", (state, examples) => {
    test.each(examples)("$does", async ({ does, frame, reply, message }) => {
      verifies("contract.parity.same-checks-both-providers", "websocket.responses.error-shape");
      await new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" })
        .addSynchronousInteraction(`a frame that ${does}`)
        .given(state)
        .withRequest((builder) => {
          if (typeof frame === "object") builder.withJSONContent(frame);
          else if (isJson(frame)) builder.withJSONContent(JSON.parse(frame));
          else builder.withContent("text/plain", Buffer.from(frame));
        })
        .withResponse((builder) => {
          builder.withJSONContent(shapeOfReply(reply, message));
        })
        .executeTest(({ Request, Response: [answer] }) => ask(talk, frame, [Request.content, answer?.content]));
    });
  });
});

async function hear(talk: Talk, content: unknown): Promise<void> {
  const standIn = await SocketStandIn.start("opened", JSON.stringify(content));
  try {
    expect(await talk(standIn.baseUrl)).toEqual(content);
    expect(standIn.upgrades).toEqual([{ path: "/v1/responses", authorization: `Bearer ${EXAMPLE_KEY}` }]);
  } finally {
    standIn.close();
  }
}

/** Checks that the client sends exactly the expected frame and returns the expected reply. */
async function ask(
  talk: Talk,
  frame: FrameExample["frame"],
  [promised, reply]: readonly [unknown, unknown],
): Promise<void> {
  const standIn = await SocketStandIn.start("asked", String(reply));
  try {
    expect(await talk(standIn.baseUrl, frame)).toEqual(JSON.parse(String(reply)));
    const [sent = ""] = standIn.received;
    if (typeof frame === "string" && !isJson(frame)) expect(sent).toBe(String(promised));
    else expect(JSON.parse(sent)).toEqual(JSON.parse(String(promised)));
  } finally {
    standIn.close();
  }
}

function isJson(text: string): boolean {
  return /^[[{]/.test(text);
}
