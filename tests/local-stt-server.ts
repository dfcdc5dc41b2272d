import { silentLogger } from "../src/base/logger.ts";
import { loadConfig } from "../src/config/load-config.ts";
import { startLocalStt } from "../src/servers/local-stt.ts";

/** The speech-to-text server alone, on a free port. */
export async function startLocalSttServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const config = loadConfig({ STT_PORT: "0", DRAIN_MS: "1000" }, []);
  return startLocalStt(config, { ...silentLogger, error: (fields, message) => console.error(message, fields) });
}
