import type { Logger } from "@antiphon/base/logger.ts";
import type { SpokenOutput } from "@antiphon/domain/speech.ts";
import { createEspeakEngine } from "@antiphon/speech/voices/espeak/engine.ts";
import { createFfmpegEncoders } from "@antiphon/speech/voices/ffmpeg-encoders.ts";
import type { VoiceEngine } from "@antiphon/speech/voices/ports.ts";
import { createSpeechServerEngine } from "@antiphon/speech/voices/speech-server/engine.ts";
import { createSpokenOutput } from "@antiphon/speech/voices/spoken-output.ts";
import { TextSpeech } from "@antiphon/speech/voices/text-speech.ts";
import type { Config } from "../../config/load-config.ts";

/** The voice for requests that name none: the server requires one. */
const SERVER_VOICE = "alloy";

/** The configured speech server, otherwise espeak-ng. If both are missing, only requests for speech fail. */
export function chooseVoice(config: Config, log: Logger): SpokenOutput {
  return createSpokenOutput({
    engine: voiceEngine(config),
    voice: config.voiceName,
    ffmpegEncoders: createFfmpegEncoders(config.ffmpegPath ?? "ffmpeg"),
    log,
  });
}

/** The same voice for texts that are known as a whole. */
export function chooseTextSpeech(config: Config): TextSpeech {
  return new TextSpeech({
    engine: voiceEngine(config),
    voice: config.voiceName,
    ffmpegEncoders: createFfmpegEncoders(config.ffmpegPath ?? "ffmpeg"),
  });
}

function voiceEngine(config: Config): VoiceEngine {
  if (config.voiceBaseUrl === null) return createEspeakEngine({ program: config.espeakPath ?? "espeak-ng" });
  return createSpeechServerEngine({
    baseUrl: config.voiceBaseUrl,
    apiKey: config.voiceApiKey?.reveal() ?? null,
    model: config.voiceModel,
    voice: SERVER_VOICE,
  });
}
