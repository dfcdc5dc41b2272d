/** A running Responses API, ours or the reference. */
export interface Service {
  /** Without `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
}

/** The reference, if the environment names it; `null` skips its suite. */
export function referenceService(): Service | null {
  const { REFERENCE_BASE_URL: url, REFERENCE_API_KEY: apiKey, REFERENCE_MODEL: model } = process.env;
  if (url === undefined || apiKey === undefined || model === undefined) return null;
  return { url: url.replace(/\/+$/, "").replace(/\/v1$/, ""), apiKey, model };
}

export const REFERENCE_SETTINGS = "REFERENCE_BASE_URL, REFERENCE_API_KEY and REFERENCE_MODEL";

/** A distant model takes its time. */
export const REFERENCE_TIMEOUT_MS = 300_000;
