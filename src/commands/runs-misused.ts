/** `antiphon runs` was typed wrongly. The message says how. */
export class RunsMisused extends Error {
  override readonly name = "RunsMisused";
}
