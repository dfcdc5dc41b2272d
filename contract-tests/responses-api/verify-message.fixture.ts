import { MessageProviderPact } from "@pact-foundation/pact";
import { type PactMessage, type Parties, pactFile, pickMessages, readPactMessages } from "../pact-files.fixture.ts";

/** Why a remote provider is skipped. */
export const ONLY_STAGED = "its state needs a server of these tests";

import { verifyPact } from "../pact-outcome.fixture.ts";

export interface MessageCase {
  /** The same for each provider. */
  readonly title: string;
  readonly message: PactMessage;
}

export function casesOf(parties: Parties): MessageCase[] {
  return readPactMessages(pactFile(parties)).map((message) => ({
    title: `${message.description}, given ${message.state}`,
    message,
  }));
}

/**
 * Compares the result of `provide` with one message of a pact. `provide` receives the consumer's frame if the message
 * is an answer.
 */
export async function verifyMessage(
  parties: Parties,
  message: PactMessage,
  provide: (sent: unknown) => Promise<unknown>,
): Promise<void> {
  const isMeant = ({ description, state }: PactMessage) =>
    description === message.description && state === message.state;
  let failure: unknown = null;
  const provideOrTell = async (asked: unknown): Promise<unknown> => {
    try {
      return await provide(Object(asked).request?.contents?.content);
    } catch (error) {
      failure = error; // Pact would only report that an error was thrown.
      throw error;
    }
  };
  await verifyPact(pickMessages(pactFile(parties), isMeant), (file) =>
    new MessageProviderPact({
      provider: parties.provider,
      pactUrls: [file],
      messageProviders: { [message.description]: provideOrTell },
      stateHandlers: { [message.state]: async () => undefined },
      logLevel: "error",
    }).verify(),
  ).catch((error: unknown) => {
    throw failure ?? error;
  });
}
