import type { MediaReader } from "@antiphon/domain/media.ts";
import type { MediaOptions } from "@antiphon/media/media-options.ts";
import { createMediaReader } from "@antiphon/media/media-reader.ts";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";
import { createTranscriptionServer } from "@antiphon/speech/recognition/transcription-server.ts";
import type { Config } from "../../config/load-config.ts";

/**
 * Prepares images, files and recordings for models. `speech` transcribes if no transcription server is
 * configured.
 */
export function chooseMedia(
  config: Config,
  { files, egress, speech }: Pick<MediaOptions, "files" | "egress" | "speech">,
): MediaReader {
  return createMediaReader({
    files,
    egress,
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

function chooseTranscription(config: Config): FileTranscriber | null {
  if (config.transcriptionBaseUrl === null) return null;
  return createTranscriptionServer({
    baseUrl: config.transcriptionBaseUrl,
    apiKey: config.transcriptionApiKey?.reveal() ?? null,
    model: config.transcriptionModel,
    timeoutMs: config.transcriptionTimeoutMs,
  });
}
