export type ProviderKind = "ours" | "reference" | "other";

/** Titles of the test blocks. The report reads the provider from them. */
export const PROVIDER_TITLES: Readonly<Record<ProviderKind, string>> = {
  ours: "our server",
  reference: "the reference",
  other: "the other provider",
};

/** The settings that a provider needs. Shown as the reason when it is skipped. */
export const PROVIDER_NEEDS: Readonly<Record<ProviderKind, string>> = {
  ours: "nothing",
  reference: "REFERENCE_BASE_URL, REFERENCE_API_KEY and REFERENCE_MODEL",
  other: "--base-url, --api-key and --model",
};
