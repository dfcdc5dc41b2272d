import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { engineHearing } from "@antiphon/speech/audio-api/engine-hearing.ts";
import type { AudioParts, NeighbourUrl, RecordingHearing } from "@antiphon/speech/audio-api/ports.ts";
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
import { chooseTextSpeech } from "./choose-voice.ts";

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

/** Who hears for the audio routes: this process, or another one, whose local speech server serves them, too. */
export interface AudioHearing {
  /** Null if there is no speech engine here. */
  readonly hearing: RecordingHearing | null;
  /** Null if no other process hears. */
  readonly neighbour: NeighbourUrl | null;
}

export const NOBODY_HEARS: AudioHearing = { hearing: null, neighbour: null };

/** What the audio routes of either interface work with. */
export function audioParts(config: Config, heardBy: AudioHearing): AudioParts {
  const recordingBytesMax = config.uploadMegabytesMax * MEBIBYTE;
  return { ...heardBy, recordingBytesMax, speech: chooseTextSpeech(config) };
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
