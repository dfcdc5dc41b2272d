/** Whether the long trials are left out, as in CI. */
export const isShort = process.env["TRIALS"] === "short";

/**
 * Cases of one test that are much alike: all of them, or each `step`-th from `first` on if long trials are left out.
 * Both count from 0.
 */
export function someCases<Case>(cases: readonly Case[], step: number, first = 0): readonly Case[] {
  return isShort ? cases.filter((_, index) => index % step === first) : cases;
}
