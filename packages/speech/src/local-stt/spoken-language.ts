import type { SpeechEngine } from "../recognition/speech-engine.ts";
import { unsupportedLanguage } from "./errors.ts";

/**
 * The language requested by a client; null if it is missing or `auto`. Throws an `ApiError` if the engine does not know
 * it.
 */
export function spokenLanguage(
  languageName: string | null,
  speech: Pick<SpeechEngine, "knowsLanguage" | "facts">,
): string | null {
  if (languageName === null || languageName.toLowerCase() === "auto") return null;
  if (!speech.knowsLanguage(languageName)) throw unsupportedLanguage(languageName, speech.facts().model);
  return languageName;
}
