/** Whether text is formatted, and by whom. */
export interface FormattingTier {
  /**
   * `off`: switched off. `no_key`: nobody is set up to format. `unauthorized`: the provider refused the key of the
   * latest call.
   */
  readonly status: "off" | "no_key" | "ready" | "unauthorized";
  /** Host and port of the provider; null where there is none. */
  readonly provider: string | null;
  /** Null unless it is known. */
  readonly model: string | null;
  /** Why text is not formatted, as a sentence; null: it is. */
  readonly detail: string | null;
}

/** Where nobody formats. */
export function tierOfNobody(status: "off" | "no_key"): FormattingTier {
  const detail = status === "off" ? "Formatting is off." : "No formatting provider is set up, or its key is missing.";
  return { status, provider: null, model: null, detail };
}
