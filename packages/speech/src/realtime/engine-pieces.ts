import type { RecordingHearing } from "../audio-api/ports.ts";
import { logprobsOfTokens } from "../audio-api/transcript-bodies.ts";
import type { PieceHearing } from "./ports.ts";

/** Hears pieces with the speech engine of this process. */
export function enginePieces(hearing: RecordingHearing): PieceHearing {
  return {
    model: () => hearing.model(),
    knowsLanguage: (language) => hearing.knowsLanguage(language),
    refusal: () => hearing.refusal(),
    async hearPiece(samples, request) {
      const { text, segments, language } = await hearing.hearSamples(samples, request);
      const tokens = segments.flatMap(({ details }) => details?.tokens ?? []);
      return { text, language, logprobs: logprobsOfTokens(tokens) };
    },
  };
}
