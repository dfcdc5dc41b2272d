/** Whether text is formatted, and by whom. */
export interface FormattingTier {
  /** `off`: switched off. `no_key`: nobody is set up to format. */
  readonly status: "off" | "no_key" | "ready";
  /** Host and port of the provider; null unless ready. */
  readonly provider: string | null;
  /** Null unless it is known. */
  readonly model: string | null;
}
