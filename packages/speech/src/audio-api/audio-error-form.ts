import type { ApiError } from "@antiphon/base/api-error.ts";
import { renderAudioError } from "./errors.ts";

const PATHS = /^(?:\/v1)+\/(?:audio|realtime)(?:\/|$)/;

interface AudioErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The form of errors of audio routes, which is the reference's; null for other paths. */
export function audioErrorForm(path: string): ((error: ApiError) => AudioErrorReply) | null {
  return PATHS.test(path) ? errorReplyOf : null;
}

function errorReplyOf(error: ApiError): AudioErrorReply {
  return { status: error.status, headers: error.headers, body: renderAudioError(error) };
}
