import type OpenAI from "openai";

export const POLL_MS = 50;
const POLLS_MAX = 600;

export function isOver({ status }: { readonly status?: string | undefined }): boolean {
  return status !== "queued" && status !== "in_progress";
}

/** Polls a response until it has ended. */
export async function waitForEnd(client: OpenAI, id: string): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    if (isOver(await client.responses.retrieve(id))) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`The response ${id} did not end in time.`);
}
