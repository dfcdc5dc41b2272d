import { isRecord } from "@antiphon/base/json/records.ts";
import { invalidRequest, missingAudio } from "./errors.ts";

const INSTRUCTION_CHARACTERS_MAX = 8000;
const LANGUAGE_CHARACTERS_MAX = 64;
/** A BCP 47 tag, or `auto`. */
const LANGUAGE = /^(?:auto|[a-z]{2,3}(?:-[a-z0-9]{1,8})*)$/i;

interface Audio {
  read(): AsyncIterable<Uint8Array>;
}

/** Checks the form of `/transcribe`. Throws `ApiError`. */
export function checkTranscribeForm(body: unknown): unknown {
  return checkForm(body, ["audio", "language"]);
}

/** Checks the form of `/stt_and_format`. Throws `ApiError`. */
export function checkSttAndFormatForm(body: unknown): unknown {
  const form = checkForm(body, ["audio", "instruction", "language"]);
  const { instruction } = form;
  if (instruction === undefined) return form;
  if (typeof instruction !== "string") throw invalidRequest("The part 'instruction' must be one text.");
  if (instruction.length > INSTRUCTION_CHARACTERS_MAX)
    throw invalidRequest(`The part 'instruction' is longer than ${INSTRUCTION_CHARACTERS_MAX} characters.`);
  return form;
}

function checkForm(body: unknown, names: readonly string[]): Record<string, unknown> {
  const form = isRecord(body) ? body : {};
  const unknown = Object.keys(form).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw invalidRequest(`The form has an unknown part '${unknown.slice(0, 64)}'. It may have: ${names.join(", ")}.`);
  if (Array.isArray(form["audio"])) throw invalidRequest("The form has more than one part 'audio'.");
  if (!isAudio(form["audio"])) throw missingAudio();
  if (form["language"] !== undefined && !isLanguage(form["language"]))
    throw invalidRequest("The part 'language' must be one tag such as de or pt-BR, or auto.");
  return form;
}

function isLanguage(value: unknown): boolean {
  return typeof value === "string" && value.length <= LANGUAGE_CHARACTERS_MAX && LANGUAGE.test(value);
}

/** A text part is not accepted as a file. */
function isAudio(value: unknown): value is Audio {
  return isRecord(value) && typeof value["read"] === "function";
}
