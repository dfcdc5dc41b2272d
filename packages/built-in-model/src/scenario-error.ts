/** A scenario file is invalid. The message names the file and the place in it. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}
