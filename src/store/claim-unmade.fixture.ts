import type { AbandonedRun, RunLedger } from "../runs/ports/run-ledger.ts";

/** Claims up to `limit` runs without a live worker, like a worker with room for all of them. */
export async function claimUnmade(
  ledger: RunLedger,
  limit: number,
  isHere: (responseId: string) => boolean = () => true,
): Promise<readonly AbandonedRun[]> {
  const { runs } = await ledger.listUnmade(isHere);
  return await ledger.claim(runs.slice(0, limit));
}
