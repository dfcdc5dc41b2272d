import { APIConnectionError, APIError } from "../../packages/client/src/index.ts";

/** The sentence that the page shows for an error. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError) return error.message;
  if (error instanceof APIConnectionError) return "The server does not answer.";
  if (!(error instanceof Error)) return "Something went wrong.";
  if (error.name === "NotAllowedError") return "Allow it in the browser's settings.";
  if (error.name === "NotFoundError") return "No microphone was found.";
  return error.message;
}
