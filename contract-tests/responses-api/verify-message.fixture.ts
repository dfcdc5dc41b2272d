import { MessageProviderPact } from "@pact-foundation/pact";
import { type PactMessage, pactFile, pickInteraction, readPactMessages, suffixOf } from "../pact-files.fixture.ts";
import { verifyPact } from "../pact-outcome.fixture.ts";

/** Why a remote provider is skipped. */
export const ONLY_STAGED = "its state needs a server of these tests";

export interface MessageCase {
  /** The same for each provider. */
  readonly title: string;
  readonly message: PactMessage;
}

export function casesOf(provider: string): MessageCase[] {
  return readPactMessages(pactFile(provider)).map((message) => ({
    title: `${message.description}, given ${message.state}${suffixOf(message)}`,
    message,
  }));
}

/**
 * Compares the result of `provide` with one message of a pact. `provide` receives the consumer's frame if the message
 * is an answer.
 */
export async function verifyMessage(
  provider: string,
  message: PactMessage,
  provide: (sent: unknown) => Promise<unknown>,
): Promise<void> {
  let failure: unknown = null;
  const provideOrTell = async (asked: unknown): Promise<unknown> => {
    try {
      return await provide(Object(asked).request?.contents?.content);
    } catch (error) {
      failure = error; // Pact would only report that an error was thrown.
      throw error;
    }
  };
  await verifyPact(pickInteraction(pactFile(provider), message.key), (file) =>
    new MessageProviderPact({
      provider,
      pactUrls: [file],
      messageProviders: { [message.description]: provideOrTell },
      stateHandlers: { [message.state]: async () => undefined },
      logLevel: "error",
    }).verify(),
  ).catch((error: unknown) => {
    throw failure ?? error;
  });
}
