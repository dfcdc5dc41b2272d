export type ProviderKind = "ours" | "reference" | "other";

/** Blocks of tests are called "at our server" and so on; the report goes by that. */
export const PROVIDER_TITLES: Readonly<Record<ProviderKind, string>> = {
  ours: "our server",
  reference: "the reference",
  other: "the other provider",
};

/** What a provider needs to be judged, for those who wonder why it was skipped. */
export const PROVIDER_NEEDS: Readonly<Record<ProviderKind, string>> = {
  ours: "nothing",
  reference: "REFERENCE_BASE_URL, REFERENCE_API_KEY and REFERENCE_MODEL",
  other: "--base-url, --api-key and --model",
};
