import type { LogProb } from "../../../generated/responses-api/types.ts";

const CHOSEN_LOGPROB = -0.1;
/** Log probability of the first alternative; each further one is less likely. All probabilities sum to less than 1. */
const ALTERNATIVE_LOGPROB = -3.1;
const ALTERNATIVE_STEP = -0.7;
const OTHER_TOKENS =
  " the, a, and, of, to, in, is, it, that, for, on, with, as, was, at, by, an, be, this, or, from, are".split(",");

/** Made-up log probabilities, always the same. The chosen token is the first of the alternatives. */
export function logProbOf(token: string, alternatives: number): LogProb {
  const others = OTHER_TOKENS.filter((other) => other !== token);
  const ranked = [
    { token, logprob: CHOSEN_LOGPROB },
    ...others.map((other, rank) => ({ token: other, logprob: roundedLogProb(rank) })),
  ];
  return {
    token,
    bytes: utf8(token),
    logprob: CHOSEN_LOGPROB,
    top_logprobs: ranked.slice(0, alternatives).map((entry) => ({ ...entry, bytes: utf8(entry.token) })),
  };
}

function roundedLogProb(rank: number): number {
  return Math.round((ALTERNATIVE_LOGPROB + rank * ALTERNATIVE_STEP) * 10) / 10;
}

function utf8(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}
