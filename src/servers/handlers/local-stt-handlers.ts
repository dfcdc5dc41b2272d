import type { Logger } from "@antiphon/base/logger.ts";
import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { RequestObserver } from "@antiphon/http-kit/request-observer.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import { createTextFormatter } from "@antiphon/speech/formatting/text-formatter.ts";
import { connectionOwner } from "@antiphon/speech/local-stt/connection-owner.ts";
import type { SttContext } from "@antiphon/speech/local-stt/context.ts";
import { DemoAnswers } from "@antiphon/speech/local-stt/demo/demo-answers.ts";
import { demoChat } from "@antiphon/speech/local-stt/operations/demo-chat.ts";
import { format } from "@antiphon/speech/local-stt/operations/format.ts";
import { getHealth } from "@antiphon/speech/local-stt/operations/get-health.ts";
import { getMetrics } from "@antiphon/speech/local-stt/operations/get-metrics.ts";
import { getVersion } from "@antiphon/speech/local-stt/operations/get-version.ts";
import { type KeyLending, lendDemoKey } from "@antiphon/speech/local-stt/operations/lend-demo-key.ts";
import { stopDemoChat } from "@antiphon/speech/local-stt/operations/stop-demo-chat.ts";
import { streamTranscription } from "@antiphon/speech/local-stt/operations/stream-transcription.ts";
import { transcribe } from "@antiphon/speech/local-stt/operations/transcribe.ts";
import { transcribeAndFormat } from "@antiphon/speech/local-stt/operations/transcribe-and-format.ts";
import type { SessionParts } from "@antiphon/speech/local-stt/run-session.ts";
import { StreamPlaces } from "@antiphon/speech/local-stt/stream-places.ts";
import { type TranscribeUpload, transcribeUploads } from "@antiphon/speech/local-stt/transcribe-recording.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import type { Config } from "../../config/load-config.ts";
import { readFirstKey } from "../../secrets/secrets-on-disk.ts";
import { Meters } from "../../telemetry/meters.ts";
import { observeRequests } from "../../telemetry/requests/request-watch.ts";
import { measureSpeech } from "../../telemetry/speech-metrics.ts";
import { programVersion } from "../../version/program-version.ts";
import { sourceCommit } from "../../version/source-commit.ts";
import { chooseFormatter, type Formatting } from "../choices/choose-formatter.ts";
import { audioParts, type Hearing, hearingOf, NOBODY_HEARS } from "../choices/choose-speech.ts";
import { responsesApiUrl } from "../pages/pages.ts";

/** The parts of Interface B. */
export interface LocalSttParts {
  readonly speech: SpeechEngine;
  readonly sessions: SessionParts;
  readonly transcribeUpload: TranscribeUpload;
  readonly audio: AudioParts;
  readonly formatting: Formatting;
  readonly answers: DemoAnswers;
  readonly requests: RequestObserver;
  readonly metricsText: () => Promise<string>;
}

export function localSttParts(config: Config, log: Logger, hearing: Hearing): LocalSttParts {
  const { engine: speech, recordings } = hearing;
  const meters = new Meters();
  const observer = measureSpeech(meters, () => speech.restarts());
  const places = new StreamPlaces(config.sttStreamsMax, speech);
  return {
    speech,
    sessions: { speech, places, observer, idleMs: config.sttIdleTimeoutMs },
    transcribeUpload: transcribeUploads({ speech, recordings, observer }),
    audio: audioParts(
      config,
      config.speechEngine === "none" ? NOBODY_HEARS : { hearing: hearingOf(hearing), neighbour: null },
    ),
    formatting: chooseFormatter(config, log),
    answers: new DemoAnswers(),
    requests: observeRequests(meters, null),
    metricsText: () => meters.text(),
  };
}

export function localSttHandlers(
  parts: LocalSttParts,
  config: LendingConfig & Pick<Config, "metrics">,
): LocalSttHandlers<SttContext> {
  const { speech, sessions, transcribeUpload, formatting, answers, metricsText } = parts;
  const formatter = createTextFormatter(formatting.find);
  return {
    demoChat: demoChat(formatting.find, answers),
    format: format(formatter),
    getHealth: getHealth(speech, () => formatting.tier()),
    getMetrics: getMetrics(config.metrics === "off" ? null : metricsText),
    getVersion: getVersion({ version: programVersion(), commit: sourceCommit() }, speech, () => formatting.tier()),
    lendDemoKey: lendDemoKey(keyLending(config)),
    stopDemoChat: stopDemoChat(answers),
    streamTranscription: streamTranscription(sessions),
    transcribe: transcribe(transcribeUpload),
    transcribeAndFormat: transcribeAndFormat(transcribeUpload, formatter),
  };
}

type LendingConfig = Pick<Config, "chatLabKey" | "dataDir" | "port">;

function keyLending(config: LendingConfig): KeyLending {
  return {
    isOn: config.chatLabKey,
    baseUrl: responsesApiUrl(config),
    readKey: () => readFirstKey(config.dataDir),
    ownUser: process.getuid?.() ?? null,
    findUser: connectionOwner,
  };
}
