/** Said to people, in place of a stack. */
export class KeysCommandError extends Error {
  override readonly name = "KeysCommandError";
}
