import { onTestFinished } from "vitest";
import { type Logger, silentLogger } from "../../src/base/logger.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { startSttCloud } from "../../src/servers/stt-cloud.ts";
import type { SpeechEngine } from "../../src/speech/speech-engine.ts";

export const API_KEY = "sk-cloud-callers-own-key-0123456789";
/** A second one, whose limits are its own. */
export const OTHER_KEY = "sk-cloud-another-callers-key-98765";

export interface CloudServerOptions {
  readonly speech: SpeechEngine;
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Logger;
}

export interface CloudServer {
  /** Of http, without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
  /** Streams that are open now, as /metrics tells. */
  streamsOpen(): Promise<number>;
}

/** The server of `antiphon stt-cloud` with two keys, on a free port; it ends with the test. */
export async function startCloudServer(options: CloudServerOptions): Promise<CloudServer> {
  const server = await openCloudServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** The same; whoever opens it closes it. */
export async function openCloudServer({ speech, env = {}, log }: CloudServerOptions): Promise<CloudServer> {
  const settings = {
    STT_CLOUD_PORT: "0",
    DRAIN_MS: "1000",
    DATABASE_FILE: ":memory:",
    API_KEYS: `${API_KEY},${OTHER_KEY}`,
  };
  const logger = log ?? { ...silentLogger, error: (fields: object, message: string) => console.error(message, fields) };
  const server = await startSttCloud(loadConfig({ ...settings, ...env }, []), logger, speech);
  const streamsOpen = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^antiphon_speech_streams_open (\d+)/m.exec(text)?.[1]);
  };
  return { url: server.url, close: () => server.close(), streamsOpen };
}
