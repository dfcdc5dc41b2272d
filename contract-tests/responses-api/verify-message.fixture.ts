import { MessageProviderPact } from "@pact-foundation/pact";
import { type PactMessage, type Parties, pactFile, pickMessages, readPactMessages } from "../pact-files.fixture.ts";

/** Why a distant provider is not asked. */
export const ONLY_STAGED = "only a server of these tests can be put into its state";

import { holdTo } from "../pact-outcome.fixture.ts";

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

/**
 * Holds what `provide` gives to one message of a pact. It is told what the consumer sends, where the message is an
 * answer.
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
      failure = error; // Pact would say no more than that there was one.
      throw error;
    }
  };
  await holdTo(pickMessages(pactFile(parties), isMeant), (file) =>
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
