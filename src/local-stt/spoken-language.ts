import type { SpeechEngine } from "../speech/speech-engine.ts";
import { unsupportedLanguage } from "./errors.ts";

/**
 * The language requested by a client; null if it is missing or `auto`. Throws an `ApiError` if the engine does not know
 * it.
 */
export function spokenLanguage(
  named: string | null,
  speech: Pick<SpeechEngine, "knowsLanguage" | "facts">,
): string | null {
  if (named === null || named.toLowerCase() === "auto") return null;
  if (!speech.knowsLanguage(named)) throw unsupportedLanguage(named, speech.facts().model);
  return named;
}
