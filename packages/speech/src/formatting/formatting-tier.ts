/** Whether text is formatted, and by which provider. */
export interface FormattingTier {
  /**
   * `off`: switched off. `no_key`: no provider is configured. `unauthorized`: the provider refused the key in the
   * latest call.
   */
  readonly status: "off" | "no_key" | "ready" | "unauthorized";
  /** Host and port of the provider; null if there is none. */
  readonly provider: string | null;
  /** Null if not known. */
  readonly model: string | null;
  /** Why text is not formatted, as a sentence; null if it is. */
  readonly detail: string | null;
}

/** The state while no provider formats. */
export function inactiveTier(status: "off" | "no_key"): FormattingTier {
  const detail = status === "off" ? "Formatting is off." : "No formatting provider is set up, or its key is missing.";
  return { status, provider: null, model: null, detail };
}
