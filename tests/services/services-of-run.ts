import { inject, onTestFinished } from "vitest";
import { createDatabase, type DatabaseTemplate, dropDatabase } from "./databases.ts";

/**
 * Resolves to the address of a new database on the PostgreSQL server that all tests of the run share. The database
 * goes at the end of the test. Left out, `template` is an empty database.
 */
export async function databaseOfTest(
  template?: DatabaseTemplate,
  atEnd: (drop: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const url = await createDatabase(await serviceOfRun("postgres"), template);
  atEnd(() => dropDatabase(url));
  return url;
}

/** The address of the Redis that all tests of the run share. Tests tell their keys and channels apart themselves. */
export function redisOfRun(): Promise<string> {
  return serviceOfRun("redis");
}

async function serviceOfRun(name: "postgres" | "redis"): Promise<string> {
  const answer = await fetch(`${inject("servicesUrl")}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
