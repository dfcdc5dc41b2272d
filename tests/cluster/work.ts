import { setTimeout as sleep } from "node:timers/promises";
import { ACTS, type Act } from "./acts.ts";
import { meet } from "./client-errors.ts";
import { converse, openTalk } from "./converse.ts";
import { type Desk, REST_MS } from "./desk.ts";

const CLIENTS_OF_A_KIND = 2;
const CONVERSATIONS = 4;

/** Has clients of all kinds work until this is over, and waits until they have ended what they began. */
export async function workDuring(desk: Desk, during: () => Promise<void>): Promise<void> {
  let isOver = false;
  const again = async (name: string, act: Act): Promise<void> => {
    while (!isOver) {
      await act(desk).then(
        () => desk.records.count(name),
        (error: unknown) => meet(desk.records, name, error),
      );
      await sleep(Math.random() * REST_MS);
    }
  };
  const clients = Object.entries(ACTS).flatMap(([name, act]) =>
    Array.from({ length: CLIENTS_OF_A_KIND }, () => again(name, act)),
  );
  const talks = await Promise.all(Array.from({ length: CONVERSATIONS }, () => openTalk(desk)));
  clients.push(...talks.map((talk) => again("conversation", () => converse(desk, talk))));
  await during().finally(() => (isOver = true));
  await Promise.all(clients);
}
