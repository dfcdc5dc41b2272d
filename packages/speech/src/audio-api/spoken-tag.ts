import { languageNotKnown, languageNotReadable } from "./errors.ts";
import type { RecordingHearing } from "./ports.ts";

/** What a request says about the words to hear. */
export interface SpokenWords {
  readonly language?: string;
  readonly languages?: readonly string[];
  readonly keywords?: readonly string[];
  readonly prompt?: string;
}

/** An ISO 639 code, with or without a region. */
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i;

/**
 * The language that is spoken; null if the engine is to detect it. Throws an `ApiError` for one that is no code, or
 * that the model does not know. `root`: the path of the members in the request, with its last point.
 */
export function spokenTag(
  { language = "", languages = [] }: SpokenWords,
  hearing: Pick<RecordingHearing, "knowsLanguage" | "model">,
  root = "",
): string | null {
  const single = checkedTag(`${root}language`, language, hearing);
  const possible = languages.map((one) => checkedTag(`${root}languages`, one, hearing));
  return single ?? (possible.length === 1 ? (possible[0] ?? null) : null);
}

function checkedTag(
  param: string,
  language: string,
  hearing: Pick<RecordingHearing, "knowsLanguage" | "model">,
): string | null {
  if (language === "" || language.toLowerCase() === "auto") return null;
  if (!LANGUAGE.test(language)) throw languageNotReadable(param, language);
  if (!hearing.knowsLanguage(language)) throw languageNotKnown(param, language, hearing.model());
  return language;
}

/** The prompt for the engine: keywords are likely words, and so is a prompt. Null if there are none. */
export function likelyWords({ prompt = "", keywords = [] }: SpokenWords): string | null {
  const text = [keywords.join(", "), prompt].filter((part) => part !== "").join(". ");
  return text === "" ? null : text;
}
