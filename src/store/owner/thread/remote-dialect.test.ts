import { CompiledQuery, Kysely } from "kysely";
import { expect, test } from "vitest";
import type { Statement, StatementResult } from "../database-calls.ts";
import { remoteDialect, STATEMENTS_AT_ONCE_MAX } from "./remote-dialect.ts";

test("statements go to the database together up to a limit, and in the order in which they came", async () => {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const query = ({ sql }: Statement): Promise<StatementResult> => {
    sent.push(sql);
    return new Promise((resolve) => {
      answers.push(() => resolve({ rows: [], numAffectedRows: undefined, insertId: undefined }));
    });
  };
  const db = new Kysely<object>({ dialect: remoteDialect({ query }) });
  const numbers = Array.from({ length: STATEMENTS_AT_ONCE_MAX + 2 }, (_, index) => `select ${index}`);
  const all = Promise.all(numbers.map((sql) => db.executeQuery(CompiledQuery.raw(sql))));
  await expect.poll(() => sent).toEqual(numbers.slice(0, STATEMENTS_AT_ONCE_MAX));
  answers.at(-1)?.();
  await expect.poll(() => sent).toEqual(numbers.slice(0, -1));
  answers[0]?.();
  await expect.poll(() => sent).toEqual(numbers);
  for (const answer of answers) answer();
  await all;
});
