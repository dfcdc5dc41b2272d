/** The model name that clients use for this engine. */
export const MODEL_NAME = "antiphon-built-in";
