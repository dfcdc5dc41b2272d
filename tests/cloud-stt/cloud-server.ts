import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { onTestFinished } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { startSttCloud } from "../../src/servers/stt-cloud.ts";

export const API_KEY = "sk-cloud-callers-own-key-0123456789";
/** A second key with limits of its own. */
export const OTHER_KEY = "sk-cloud-another-callers-key-98765";

export interface CloudServerOptions {
  readonly speech: SpeechEngine;
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Logger;
}

export interface CloudServer {
  /** The http address, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
  /** The number of open streams, read from /metrics. */
  streamsOpen(): Promise<number>;
}

/** Starts `antiphon stt-cloud` with two keys on a free port, until the test ends. */
export async function startCloudServer(options: CloudServerOptions): Promise<CloudServer> {
  const server = await openCloudServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** The same; the caller closes it. */
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
