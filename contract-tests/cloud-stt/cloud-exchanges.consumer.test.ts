import { expect, test } from "vitest";
import { AntiphonCloudSpeech, type CloudClientMessage } from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { type Played, writeExchange } from "../exchange-pact.fixture.ts";
import { type Script, type StandIn, startStandIn } from "../stream-stand-in.fixture.ts";
import { CLOUD_EXCHANGES } from "./cloud-exchanges.fixture.ts";
import { CLOUD_STT_STREAM, EXAMPLE_KEY } from "./parties.fixture.ts";

/** Short, so that our client sends heartbeats while its source is silent. */
const HEARTBEAT_MS = 200;

test.each(CLOUD_EXCHANGES)("our client sends and understands $name", async (exchange) => {
  verifies("cloud.stream.interim-and-final", "cloud.client.typed-errors", "cloud.client.ends-in-order");
  await writeExchange(CLOUD_STT_STREAM, exchange, play);
});

/**
 * Checks that the stand-in receives exactly the pact's messages from our client, and the client exactly its replies.
 */
async function play({ says, hears }: Played): Promise<void> {
  const isOver = Object(says).last === true || typeOf(hears.at(-1)) === "error";
  const standIn = await startStandIn(scriptOf({ says, hears }, isOver));
  try {
    const client = new AntiphonCloudSpeech({
      baseUrl: standIn.url,
      apiKey: EXAMPLE_KEY,
      attemptsMax: 1,
      ...(typeOf(says) === "heartbeat" ? { heartbeatMs: HEARTBEAT_MS } : {}),
    });
    const reading = read(await client.stream(speak(says, standIn)));
    const failure = hears.find((message) => typeOf(message) === "error");
    const { heard, error } = await reading;
    expect(heard).toEqual(hears.filter((message) => message !== failure));
    if (failure === undefined) expect(error).toBeNull();
    else expect(error).toMatchObject({ code: Object(failure).code, message: Object(failure).message });
    if (says !== null) expect(standIn.received[0]).toEqual(says);
  } finally {
    await standIn.close();
  }
}

/** A heartbeat has no answer, so the pact's messages are sent when the client ends the stream. */
function scriptOf({ says, hears }: Played, isOver: boolean): Script {
  if (says === null) return { opening: hears, answers: [], ending: null };
  if (typeOf(says) === "heartbeat" && !isOver) return { opening: [], answers: [], ending: hears };
  return { opening: [], answers: hears, ending: isOver ? null : [] };
}

/** Parses the messages from JSON text, because the client's types do not allow all of them. */
async function* speak(says: unknown, { received }: StandIn): AsyncGenerator<CloudClientMessage> {
  const isOwn = JSON.stringify(says) === JSON.stringify({ type: "heartbeat" });
  if (isOwn) await expect.poll(() => received.length, { interval: 5 }).toBeGreaterThan(0);
  else if (says !== null) yield JSON.parse(JSON.stringify(says));
}

async function read(stream: AsyncIterable<unknown>): Promise<{ heard: unknown[]; error: unknown }> {
  const heard: unknown[] = [];
  try {
    for await (const message of stream) heard.push(message);
    return { heard, error: null };
  } catch (error) {
    return { heard, error };
  }
}

function typeOf(message: unknown): unknown {
  return Object(message).type;
}
