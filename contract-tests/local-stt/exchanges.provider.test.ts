import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkExchange, readExchanges, type WrittenExchange } from "../exchange-pact.fixture.ts";
import type { StagedServer } from "../staged-server.fixture.ts";
import { callByLines, callBySocket, sendUntilClosed } from "../stream-caller.fixture.ts";
import { LOCAL_STT_STREAM } from "./parties.fixture.ts";
import { lacksEngine, openSpeechProvider } from "./speech-provider.fixture.ts";
import { streamSettingOf, TRANSPORTS } from "./stream-states.fixture.ts";

describe("at our server", () => {
  describe("the pact of speech-client about streams", () => {
    let provider: StagedServer;
    beforeAll(async () => {
      provider = await openSpeechProvider();
    });
    afterAll(() => provider.close());

    const exchanges = readExchanges(LOCAL_STT_STREAM).map((exchange) => [exchange.name, exchange] as const);
    test.for(exchanges)("%s", async ([, exchange], { skip }) => {
      verifies("contract.parity.same-checks-both-providers", "stt.stream.same-on-both-transports");
      verifies(
        "stt.ndjson.lines-may-split-anywhere",
        "stt.stream.error-is-last",
        "stt.stream.error-keeps-acknowledged-audio",
      );
      const { server } = streamSettingOf(exchange.given[0] ?? "");
      skip(lacksEngine(server), "this machine cannot build the speech engine");
      await provider.enter(server);
      await checkExchange(LOCAL_STT_STREAM, exchange, await hearOf(provider, exchange));
    });
  });
});

/** Prepares a stream, sends the pact's message, and returns as many replies as the pact has. */
async function hearOf(provider: StagedServer, { given, says, hears }: WrittenExchange): Promise<unknown[]> {
  const [state = "", transport] = given;
  const { search = "", said = [], sent, unread, isStopped = false, isOpening = false } = streamSettingOf(state);
  const isSocket = transport === TRANSPORTS.WebSocket;
  const stream = isSocket
    ? await callBySocket(`${provider.url}/ws/transcribe${search}`)
    : await callByLines(`${provider.url}/stream/transcribe${search}`);
  try {
    if (!isOpening) expect(await stream.hear()).toMatchObject({ type: "hello" });
    for (const message of said) {
      stream.say(message);
      await stream.hear();
    }
    if (unread !== undefined) return [await sendUntilClosed(stream, unread, provider.url)];
    if (sent !== undefined) stream.say(sent);
    if (says !== null) stream.say(says);
    if (isStopped) void provider.leave();
    const heard: unknown[] = [];
    while (heard.length < hears.length) heard.push(await stream.hear());
    if (isLast(heard.at(-1))) expect(await stream.hear()).toBeNull();
    return heard;
  } finally {
    stream.leave();
  }
}

function isLast(message: unknown): boolean {
  return ["error", "stream.closed"].includes(Object(message).type);
}
