import { once } from "node:events";
import { createServer } from "node:http";
import { wavHeader } from "../../src/audio/wav.ts";

const RATE_HZ = 24_000;
/** A tenth of a second. */
const SAMPLES = 2400;

export interface Voice {
  /** The settings by which our server finds it. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** A server that speaks `/v1/audio/speech`, the same sound for every text. */
export async function startVoice(): Promise<Voice> {
  const sound = Buffer.alloc(SAMPLES * 2, 1);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "audio/wav" });
    response.end(Buffer.concat([wavHeader(RATE_HZ, sound.length), sound]));
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
