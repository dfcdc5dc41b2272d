/** The name under which the engine is asked for; it says what it is. */
export const MODEL_NAME = "antiphon-built-in";
