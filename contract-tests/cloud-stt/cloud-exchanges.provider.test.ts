import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_KEY } from "../../tests/cloud-stt/cloud-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { checkExchange, readExchanges, type WrittenExchange } from "../exchange-pact.fixture.ts";
import type { StagedServer } from "../staged-server.fixture.ts";
import { callBySocket, type StreamCaller, sendUntilClosed } from "../stream-caller.fixture.ts";
import { lacksEngine, openCloudProvider } from "./cloud-provider.fixture.ts";
import { cloudSettingOf } from "./cloud-states.fixture.ts";
import { CLOUD_STT_STREAM, PATH } from "./parties.fixture.ts";

const LAST = { type: "audio", audio_base64: "", last: true };

describe("at our server", () => {
  describe("the pact of cloud-speech-client about streams", () => {
    let provider: StagedServer;
    beforeAll(async () => {
      provider = await openCloudProvider();
    });
    afterAll(() => provider.close());

    const exchanges = readExchanges(CLOUD_STT_STREAM).map((exchange) => [exchange.name, exchange] as const);
    test.for(exchanges)("%s", async ([, exchange], { skip }) => {
      verifies(
        "contract.parity.same-checks-both-providers",
        "cloud.stream.interim-and-final",
        "cloud.stream.entry-point",
      );
      verifies(
        "cloud.stream.empty-final",
        "cloud.stream.idle-drop",
        "cloud.stream.broken-message",
        "cloud.stream.audio-limit",
      );
      const [state = ""] = exchange.given;
      skip(lacksEngine(state), "this machine cannot build the speech engine");
      await provider.enter(state);
      const stream = await callBySocket(provider.url + PATH, { "x-api-key": API_KEY });
      try {
        await checkExchange(CLOUD_STT_STREAM, exchange, await hearOf(stream, provider.url, exchange));
      } finally {
        stream.leave();
      }
    });
  });
});

/** Sends the pact's message and returns as many replies as the pact has. */
async function hearOf(stream: StreamCaller, url: string, { given, says, hears }: WrittenExchange): Promise<unknown[]> {
  const { isEnded = false, unread } = cloudSettingOf(given[0] ?? "");
  if (unread !== undefined) return [await sendUntilClosed(stream, unread, url)];
  if (says !== null) stream.say(says);
  if (isEnded) stream.say(LAST);
  const heard: unknown[] = [];
  while (heard.length < hears.length) {
    const message = await stream.hear();
    if (typeOf(message) !== "interim" || typeOf(hears[heard.length]) === "interim") heard.push(message);
  }
  if (typeOf(heard.at(-1)) === "error" || Object(says).last === true || isEnded) expect(await stream.hear()).toBeNull();
  return heard;
}

function typeOf(message: unknown): unknown {
  return Object(message).type;
}
