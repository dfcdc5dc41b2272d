import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { engineHearing } from "@antiphon/speech/audio-api/engine-hearing.ts";
import type { AudioParts, RecordingHearing } from "@antiphon/speech/audio-api/ports.ts";
import { createRecordingDecoder } from "@antiphon/speech/audio-formats/recording-decoder.ts";
import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import { RecordingTranscriber } from "@antiphon/speech/recognition/recording-transcriber.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { ANY_LANGUAGE, isKnownLanguage } from "@antiphon/speech/recognition/whisper/languages.ts";
import { SPOKEN_WORDS } from "@antiphon/speech/recognition/whisper/model/spoken-words.ts";
import { packageModelsFolder } from "@antiphon/speech/recognition/whisper/process/build-server.ts";
import { threadCount } from "@antiphon/speech/recognition/whisper/process/thread-count.ts";
import { WhisperEngine, type WhisperOptions } from "@antiphon/speech/recognition/whisper/whisper-engine.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";

const DOWNLOAD_URL = "https://huggingface.co/ggerganov/whisper.cpp/resolve/main";

/** The speech engine for streams, and its transcriber of whole recordings. */
export interface Hearing {
  readonly engine: SpeechEngine;
  readonly recordings: RecordingTranscriber;
}

export interface SpeechService extends Hearing {
  /** Resolves once the engine has stopped. */
  close(): Promise<void>;
}

/** Opens the speech engine of this machine, for both interfaces. It starts loading at once. */
export function openSpeech(config: Config, log: Logger): SpeechService {
  if (config.speechEngine === "none")
    return {
      ...hearingWith(createDisabledEngine("Speech is switched off by SPEECH_ENGINE"), config),
      close: () => Promise.resolve(),
    };
  const engine = new WhisperEngine(whisperOptions(config, log));
  engine.start();
  return { ...hearingWith(engine, config), close: () => engine.close() };
}

/** An engine, and its transcriber of whole recordings. */
export function hearingWith(engine: SpeechEngine, config: Config): Hearing {
  const ffmpeg = config.ffmpegPath ?? "ffmpeg";
  const decoder = createRecordingDecoder({ ffmpeg, durationMsMax: config.sttRecordingMsMax });
  return { engine, recordings: new RecordingTranscriber({ engine, decoder }) };
}

export function hearingOf({ engine, recordings }: Hearing): RecordingHearing {
  return engineHearing(engine, recordings);
}

/** What the audio routes of either interface work with. `hearing`: null if there is no speech engine. */
export function audioParts(config: Config, hearing: RecordingHearing | null): AudioParts {
  return { hearing, recordingBytesMax: config.uploadMegabytesMax * MEBIBYTE };
}

const MEBIBYTE = 1024 * 1024;

function whisperOptions(config: Config, log: Logger): WhisperOptions {
  const modelPath = config.whisperModelPath;
  const language = config.speechLanguage === ANY_LANGUAGE ? null : config.speechLanguage;
  if (language !== null && !isKnownLanguage(language, true))
    throw new ConfigError([`SPEECH_LANGUAGE is '${language}', a language that no speech model knows.`]);
  return {
    program: config.whisperServerPath === null ? null : resolve(config.whisperServerPath),
    buildFolder: engineFolder(config),
    model: {
      path: modelPath === null ? null : resolve(modelPath),
      name: config.whisperModel,
      folder: resolve(config.whisperModelsDir),
      otherFolders: [packageModelsFolder()],
      mayDownload: config.whisperDownload,
      downloadUrl: config.whisperDownloadUrl ?? DOWNLOAD_URL,
      sha256: config.whisperModelSha256,
    },
    ...(config.whisperFallback
      ? { demoModel: { model: SPOKEN_WORDS, folder: resolve(join(config.whisperCacheDir, "fixture-models")) } }
      : {}),
    threads: config.whisperThreads ?? threadCount(availableParallelism()),
    window: config.whisperWindow,
    language,
    jobsMax: config.whisperQueueMax,
    log,
  };
}

/** The folder of the compiled speech engine. */
export function engineFolder({ whisperCacheDir }: Config): string {
  return resolve(join(whisperCacheDir, "engines"));
}
