/** `antiphon runs` was typed wrongly. The message names the mistake. */
export class RunsMisused extends Error {
  override readonly name = "RunsMisused";
}
