import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { againAfterDeadlock, translateFault } from "./postgres-faults.ts";

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test.skipIf(whyNoPostgres() !== undefined)("two transactions that wait for each other both end well", async () => {
  const url = await databaseOfTest();
  const one = await connect(url);
  const other = await connect(url);
  // Only the other finds the deadlock, and lets the first one end before it tries again: else they could meet again.
  await one.query("set deadlock_timeout = '10min'");
  await one.query("create table counters (number integer primary key, value integer not null)");
  await one.query("insert into counters values (1, 0), (2, 0)");
  const both = Promise.withResolvers<void>();
  let made = 0;
  let holding = 0;
  const countBoth = (client: Client, numbers: readonly number[], first?: Promise<void>): Promise<void> =>
    againAfterDeadlock(async () => {
      made += 1;
      if (made > 2) await first;
      await client.query("begin");
      try {
        for (const number of numbers) {
          await client.query("update counters set value = value + 1 where number = $1", [number]);
          if ((holding += 1) === 2) both.resolve();
          await both.promise; // Each has its first row.
        }
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw translateFault(error);
      }
    });
  const first = countBoth(one, [1, 2]);
  await Promise.all([first, countBoth(other, [2, 1], first)]);
  expect(made).toBe(3);
  expect((await one.query("select value from counters order by number")).rows).toEqual([{ value: 2 }, { value: 2 }]);
});
