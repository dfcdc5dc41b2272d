import { APIConnectionError, APIError } from "../../src/client/index.ts";

/** What a failure is called on the page. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError) return error.message;
  if (error instanceof APIConnectionError) return "The server does not answer.";
  if (!(error instanceof Error)) return "Something went wrong.";
  if (error.name === "NotAllowedError") return "Allow it in the settings of the browser.";
  if (error.name === "NotFoundError") return "There is none.";
  return error.message;
}
