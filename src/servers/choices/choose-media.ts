import type { Logger } from "../../base/logger.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import { createEgress, type Egress } from "../../egress/egress.ts";
import type { MediaOptions } from "../../media/media-options.ts";
import { createMediaReader } from "../../media/media-reader.ts";
import type { MediaReader } from "../../responses-api/ports.ts";
import type { FileTranscriber } from "../../speech/speech-engine.ts";
import { createTranscriptionServer } from "../../speech/transcription-server.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 15_000;

/**
 * Prepares pictures, files and recordings for the chosen model. `speech` transcribes if no transcription server is
 * configured.
 */
export function chooseMedia(
  config: Config,
  { abilities, files, speech }: Pick<MediaOptions, "abilities" | "files" | "speech">,
  log: Logger,
): MediaReader {
  return createMediaReader({
    abilities,
    files,
    egress: openEgress(config, log),
    speech: chooseTranscription(config) ?? speech,
    limits: {
      imageBytesMax: config.inputImageBytesMax,
      fileBytesMax: config.inputFileBytesMax,
      audioBytesMax: config.inputAudioBytesMax,
      requestBytesMax: config.inputMediaBytesMax,
      charactersMax: config.inputFileCharactersMax,
      pdfPagesMax: config.pdfPagesMax,
      pdfTimeoutMs: config.pdfTimeoutMs,
    },
  });
}

/** The guard of all calls that clients cause. Throws `ConfigError` for invalid rules. */
export function openEgress(config: Config, log: Logger): Egress {
  try {
    return createEgress({
      policy: {
        mode: config.egress,
        allow: config.egressAllow,
        deny: config.egressDeny,
        ports: config.egressPorts.map(Number),
      },
      timeouts: { connectMs: CONNECT_TIMEOUT_MS, idleMs: IDLE_TIMEOUT_MS, totalMs: config.egressTimeoutMs },
      log,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError([`EGRESS_ALLOW, EGRESS_DENY or EGRESS_PORTS is not right: ${error.message}.`]);
  }
}

function chooseTranscription(config: Config): FileTranscriber | null {
  if (config.transcriptionBaseUrl === null) return null;
  return createTranscriptionServer({
    baseUrl: config.transcriptionBaseUrl,
    apiKey: config.transcriptionApiKey?.reveal() ?? null,
    model: config.transcriptionModel,
    timeoutMs: config.transcriptionTimeoutMs,
  });
}
