/** No Python for code can be made, for a reason that the operator can fix. The message is printed without a stack. */
export class CodeSetupError extends Error {
  override readonly name = "CodeSetupError";
}
