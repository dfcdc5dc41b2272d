import type { SttClientMessage } from "@antiphon/contracts/local-stt/types.ts";
import { expect, test } from "vitest";
import { AntiphonSpeech } from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { type Played, writeExchange } from "../exchange-pact.fixture.ts";
import { startStandIn } from "../stream-stand-in.fixture.ts";
import { EXCHANGES } from "./exchanges.fixture.ts";
import { LOCAL_STT_STREAM } from "./parties.fixture.ts";
import { TRANSPORTS } from "./stream-states.fixture.ts";

const HELLO = { type: "hello", protocol: "stt-jsonl-v1" };
const CLOSED = { type: "stream.closed" };

test.each(EXCHANGES)("our client sends and understands $name", async (exchange) => {
  verifies("client.stt.both-stream-transports", "contract.parity.same-checks-both-providers");
  const streamTransport = exchange.given.includes(TRANSPORTS.WebSocket) ? "websocket" : "ndjson";
  await writeExchange(LOCAL_STT_STREAM, exchange, (played) => play(streamTransport, played));
});

/**
 * Checks that the stand-in receives exactly the pact's messages from our client, and the client exactly its replies.
 */
async function play(streamTransport: "ndjson" | "websocket", { says, hears }: Played): Promise<void> {
  const unasked = says === null ? hears : [];
  const opening = isOfType(unasked[0], "hello") ? unasked : [HELLO, ...unasked];
  const isOver = isLast(hears.at(-1));
  const standIn = await startStandIn({
    opening,
    answers: says === null ? [CLOSED] : hears,
    ending: isOver || says === null ? null : [CLOSED],
  });
  try {
    const client = new AntiphonSpeech({ baseUrl: standIn.url, streamTransport, retriesMax: 0 });
    const [heard, error] = await listen(await client.streamTranscription(speak(says)));
    const expected = [...opening, ...(says === null ? [] : hears), ...(isOver ? [] : [CLOSED])];
    const failure = expected.find((message) => isOfType(message, "error"));
    expect(heard).toEqual(expected.filter((message) => message !== failure));
    if (failure === undefined) expect(error).toBeNull();
    else expect(error).toMatchObject({ code: Object(failure).code, message: Object(failure).message });
    if (says !== null) expect(standIn.received[0]).toEqual(says);
  } finally {
    await standIn.close();
  }
}

/** Parses the messages from JSON text, because the client's types do not allow all of them. */
async function* speak(says: unknown): AsyncGenerator<SttClientMessage> {
  if (says !== null) yield JSON.parse(JSON.stringify(says));
  yield { type: "end" };
}

async function listen(stream: AsyncIterable<unknown>): Promise<readonly [heard: unknown[], error: unknown]> {
  const heard: unknown[] = [];
  try {
    for await (const message of stream) heard.push(message);
    return [heard, null];
  } catch (error) {
    return [heard, error];
  }
}

function isLast(message: unknown): boolean {
  return isOfType(message, "error") || isOfType(message, "stream.closed");
}

function isOfType(message: unknown, type: string): boolean {
  return Object(message).type === type;
}
