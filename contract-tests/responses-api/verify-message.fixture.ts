import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageProviderPact } from "@pact-foundation/pact";
import { type PactMessage, type Parties, pactFile, pickMessages, readPactMessages } from "../pact-files.fixture.ts";

/** Why a distant provider is not asked. */
export const ONLY_STAGED = "only a server of these tests can be put into its state";

export interface MessageCase {
  /** The same at each provider. */
  readonly title: string;
  readonly message: PactMessage;
}

export function casesOf(parties: Parties): MessageCase[] {
  return readPactMessages(pactFile(parties)).map((message) => ({
    title: `${message.description}, given ${message.state}`,
    message,
  }));
}

/** Holds what `provide` gives to one message of a pact. It is told what the consumer sends, where the message is an answer. */
export async function verifyMessage(
  parties: Parties,
  message: PactMessage,
  provide: (sent: unknown) => Promise<unknown>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-pact-"));
  const file = join(folder, "message.json");
  const isMeant = ({ description, state }: PactMessage) =>
    description === message.description && state === message.state;
  await writeFile(file, pickMessages(pactFile(parties), isMeant));
  let failure: unknown = null;
  const verifier = new MessageProviderPact({
    provider: parties.provider,
    pactUrls: [file],
    messageProviders: {
      [message.description]: async (asked: unknown) => {
        try {
          return await provide(Object(asked).request?.contents?.content);
        } catch (error) {
          failure = error; // Pact would say no more than that there was one.
          throw error;
        }
      },
    },
    stateHandlers: { [message.state]: async () => undefined },
    logLevel: "error",
  });
  try {
    await verifier.verify();
  } catch (error) {
    throw failure ?? new Error(mismatchesOf(error).join("\n"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Pact tells what differs as JSON, as the message of its error. */
function mismatchesOf(error: unknown): string[] {
  const text = error instanceof Error ? error.message : String(error);
  const { interactionResults: results } = Object(text.startsWith("{") ? JSON.parse(text) : {});
  const { mismatches } = Object(Array.isArray(results) ? results[0]?.mismatch : {});
  if (!Array.isArray(mismatches)) return [text];
  return mismatches.map(({ path, mismatch }) => `${path}: ${mismatch}`);
}
