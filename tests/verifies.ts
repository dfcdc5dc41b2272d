/** Cites the requirements of `specs/requirements.yaml` that a test proves. Does nothing; `scripts/requirements-coverage.ts` reads the calls. */
export function verifies(..._ids: readonly [string, ...string[]]): void {}
