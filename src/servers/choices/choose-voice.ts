import type { Logger } from "../../base/logger.ts";
import type { Config } from "../../config/load-config.ts";
import type { SpokenOutput } from "../../responses-api/ports.ts";
import { createEspeakEngine } from "../../voices/espeak/engine.ts";
import { createFfmpegEncoders } from "../../voices/ffmpeg-encoders.ts";
import type { VoiceEngine } from "../../voices/ports.ts";
import { createSpeechServerEngine } from "../../voices/speech-server/engine.ts";
import { createSpokenOutput } from "../../voices/spoken-output.ts";

/** What a speech server is asked for where nobody names a voice; it wants one. */
const SERVER_VOICE = "alloy";

/** The speech server that is configured, else espeak-ng, whose absence is found when a request asks for sound. */
export function chooseVoice(config: Config, log: Logger): SpokenOutput {
  return createSpokenOutput({
    engine: voiceEngine(config),
    voice: config.voiceName,
    compressed: createFfmpegEncoders(config.ffmpegPath ?? "ffmpeg"),
    log,
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
