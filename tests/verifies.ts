export function verifies(..._ids: string[]): void {}
