import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { speakWav } from "../../tests/voices/serve-voice.ts";

export interface Voice {
  /** The settings with which our server finds it. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** Starts a server for `/v1/audio/speech` that answers each text with a tone. */
export async function startVoice(): Promise<Voice> {
  const server = createServer((request, response) => {
    void text(request).then((body) => speakWav(response, JSON.parse(body)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the voice has no port");
  return {
    env: { VOICE_BASE_URL: `http://127.0.0.1:${address.port}/v1`, VOICE_API_KEY: "sk-voice", VOICE_MODEL: "a-voice" },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
