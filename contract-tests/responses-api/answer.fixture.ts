import { expect } from "vitest";
import { type Clients, checkInteraction, type Interaction } from "./interaction.fixture.ts";

type Calls = {
  readonly [Name in keyof Clients]: (...client: Parameters<NonNullable<Clients[Name]>>) => PromiseLike<unknown>;
};

/** Checks that both clients return the members of `seen`. */
export async function checkAnswer(interaction: Interaction, seen: object, { official, own }: Calls): Promise<void> {
  await checkInteraction(interaction, {
    official: async (client) => expect(await official(client)).toMatchObject(seen),
    ...(own === undefined ? {} : { own: async (client) => expect(await own(client)).toMatchObject(seen) }),
  });
}
