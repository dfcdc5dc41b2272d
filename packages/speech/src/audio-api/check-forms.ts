import type {
  CreateSpeechCall,
  CreateTranscriptionCall,
  CreateTranslationCall,
} from "@antiphon/contracts/audio/operations.ts";
import { logprobsNotShown, partMissing, partNotListed, speakersNotTold } from "./errors.ts";
import { FormValues } from "./form-values.ts";

type TranscriptionForm = CreateTranscriptionCall["body"];
type TranslationForm = CreateTranslationCall["body"];

const FORMATS = ["diarized_json", "json", "srt", "text", "verbose_json", "vtt"] as const;
const TRANSLATION_FORMATS = ["json", "srt", "text", "verbose_json", "vtt"] as const;
const GRANULARITIES = ["segment", "word"] as const;

const MODEL_CHARACTERS_MAX = 1024;
const PROMPT_CHARACTERS_MAX = 8000;
const LANGUAGE_CHARACTERS_MAX = 64;
const LANGUAGES = { max: 16, charactersMax: LANGUAGE_CHARACTERS_MAX };
const KEYWORDS = { max: 256, charactersMax: 256 };
const SHORT_LIST = { max: 8, charactersMax: 64 };
const TEMPERATURES = { min: 0, max: 1 };
const MILLISECONDS = { min: 0, max: 60_000 };

/** Checks the form of a transcription. Throws the `ApiError` of the first part that is not valid. */
export function checkTranscriptionForm(body: unknown): TranscriptionForm {
  const form = new FormValues(body);
  const file = form.file("file");
  refuseSpeakers(form);
  const format = form.choice("response_format", FORMATS) ?? "json";
  if (format === "diarized_json") throw speakersNotTold("response_format");
  const granularities = form.texts("timestamp_granularities", SHORT_LIST);
  const include = form.texts("include", SHORT_LIST);
  for (const value of include) if (value !== "logprobs") throw partNotListed("include", value, ["logprobs"]);
  if (include.length > 0 && format !== "json") throw logprobsNotShown(format);
  checkChunking(form);
  return {
    ...shared(form, file),
    response_format: format,
    language: form.text("language", LANGUAGE_CHARACTERS_MAX) ?? "",
    languages: [...form.texts("languages", LANGUAGES)],
    keywords: [...form.texts("keywords", KEYWORDS)],
    timestamp_granularities: granularities.map((value) => granularity(value)),
    include: include.map(() => "logprobs" as const),
    stream: form.flag("stream"),
  };
}

/** Checks the form of a translation in the same way. */
export function checkTranslationForm(body: unknown): TranslationForm {
  const form = new FormValues(body);
  const file = form.file("file");
  return { ...shared(form, file), response_format: form.choice("response_format", TRANSLATION_FORMATS) ?? "json" };
}

const SPEECH_FORMATS = ["aac", "flac", "mp3", "opus", "pcm", "wav"] as const;
const INPUT_CHARACTERS_MAX = 4096;
const VOICE_CHARACTERS_MAX = 256;
const SPEEDS = { min: 0.25, max: 4 };

/** Checks the body of a request for speech in the same way. */
export function checkSpeechBody(body: unknown): CreateSpeechCall["body"] {
  const members = new FormValues(body);
  const input = members.text("input", INPUT_CHARACTERS_MAX);
  if (input === null) throw partMissing("input");
  const model = members.text("model", MODEL_CHARACTERS_MAX) ?? "";
  members.text("instructions", INPUT_CHARACTERS_MAX);
  const voice = members.members("voice")?.text("id", VOICE_CHARACTERS_MAX);
  return {
    input,
    model,
    voice: voice === undefined ? (members.text("voice", VOICE_CHARACTERS_MAX) ?? "") : (voice ?? ""),
    response_format: members.choice("response_format", SPEECH_FORMATS) ?? "mp3",
    speed: members.number("speed", SPEEDS) ?? 1,
    stream_format: members.choice("stream_format", ["audio", "sse"]) ?? "audio",
  };
}

function shared(form: FormValues, file: TranscriptionForm["file"]) {
  return {
    file,
    model: form.text("model", MODEL_CHARACTERS_MAX) ?? "",
    prompt: form.text("prompt", PROMPT_CHARACTERS_MAX) ?? "",
    temperature: form.number("temperature", TEMPERATURES) ?? 0,
  };
}

function granularity(value: string): (typeof GRANULARITIES)[number] {
  const choice = GRANULARITIES.find((one) => one === value);
  if (choice === undefined) throw partNotListed("timestamp_granularities", value, GRANULARITIES);
  return choice;
}

function refuseSpeakers(form: FormValues): void {
  for (const name of ["known_speaker_names", "known_speaker_references"])
    if (form.texts(name, { max: 4, charactersMax: 1024 * 1024 }).length > 0) throw speakersNotTold(name);
}

/** `auto`, or how the reference finds pauses, whose numbers have no effect. */
function checkChunking(form: FormValues): void {
  const members = form.members("chunking_strategy");
  if (members === null) return void form.choice("chunking_strategy", ["auto"]);
  members.choice("type", ["server_vad"]);
  members.number("threshold", TEMPERATURES);
  members.number("prefix_padding_ms", MILLISECONDS);
  members.number("silence_duration_ms", MILLISECONDS);
}
