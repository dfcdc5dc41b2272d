import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { AudioError } from "../audio-formats/audio-error.ts";
import { createRecordingDecoder } from "../audio-formats/recording-decoder.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import { createNoSpeech } from "../speech/no-speech.ts";
import { type SpeechEngine, SpeechError } from "../speech/speech-engine.ts";
import { packageModelsFolder } from "../speech/whisper/build-server.ts";
import { SPOKEN_WORDS } from "../speech/whisper/spoken-words.ts";
import { threadCount } from "../speech/whisper/thread-count.ts";
import { WhisperEngine, type WhisperOptions } from "../speech/whisper/whisper-engine.ts";

const DOWNLOAD_URL = "https://huggingface.co/ggerganov/whisper.cpp/resolve/main";
/** Longer recordings than this are refused, however small their files are. */
const FILE_MS_MAX = 4 * 60 * 60_000;

export interface Speech {
  readonly engine: SpeechEngine;
  /** Resolves once nothing of it runs any more. */
  close(): Promise<void>;
}

/** The engine that transcribes on this machine, for both interfaces. It begins to get ready at once. */
export function openSpeech(config: Config, log: Logger): Speech {
  if (config.speechEngine === "none")
    return { engine: createNoSpeech("Speech is switched off by SPEECH_ENGINE"), close: () => Promise.resolve() };
  const engine = new WhisperEngine(whisperOptions(config, log));
  engine.start();
  return { engine, close: () => engine.close() };
}

function whisperOptions(config: Config, log: Logger): WhisperOptions {
  const modelPath = config.whisperModelPath;
  return {
    program: config.whisperServerPath === null ? null : resolve(config.whisperServerPath),
    buildFolder: resolve(join(config.whisperCacheDir, "engines")),
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
      ? { standIn: { model: SPOKEN_WORDS, folder: resolve(join(config.whisperCacheDir, "fixture-models")) } }
      : {}),
    threads: config.whisperThreads ?? threadCount(availableParallelism()),
    window: config.whisperWindow,
    jobsMax: config.whisperQueueMax,
    readFile: fileReader(config),
    log,
  };
}

function fileReader(config: Config): WhisperOptions["readFile"] {
  const decoder = createRecordingDecoder({ ffmpeg: config.ffmpegPath ?? "ffmpeg", durationMsMax: FILE_MS_MAX });
  return async (bytes, signal) => {
    const recording = { size: bytes.length, read: () => Readable.from([bytes]) };
    try {
      return joined(await Array.fromAsync(decoder.decode(recording, signal)));
    } catch (error) {
      if (error instanceof AudioError) throw new SpeechError("refused", error.message, error);
      throw error;
    }
  };
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let place = 0;
  for (const piece of pieces) {
    all.set(piece, place);
    place += piece.length;
  }
  return all;
}
