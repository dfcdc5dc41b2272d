/** A model file cannot be used. The message is the end of a sentence about the file, without a full stop. */
export class ModelUnusable extends Error {
  override readonly name = "ModelUnusable";
}
