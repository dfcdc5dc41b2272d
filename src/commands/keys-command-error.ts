/** An error whose message is printed without a stack. */
export class KeysCommandError extends Error {
  override readonly name = "KeysCommandError";
}
