import type { ListedTool } from "./offered-tools.ts";

/** Words that occur in most names and descriptions and so do not tell tools apart. */
const COMMON_WORDS = new Set(
  `a about all also an and any are as at be been but by call can could current data did do does for from function get getting give given gives
  had has have he her him his how i if in info information into is it its just lets like list made make me my new no not now of on one only or our
  out please return returned returns set she should so some specified such tell than that the their them then there these they thing this those to
  tool two up us use used user users using value want was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
);
const NAME_WEIGHT = 3;
const DESCRIPTION_WORDS_MIN = 2;

/**
 * The tool that shares most words with the message, if one fits clearly: by half the words of its name, its whole name,
 * or two words of its description.
 */
export function fittingTool(tools: readonly ListedTool[], text: string): ListedTool | null {
  const textWords = contentWords(text);
  const scored = tools
    .map((tool) => ({ tool, score: scoreTool(tool, textWords, text) }))
    .filter(({ score }) => score > 0);
  return scored.toSorted((one, other) => other.score - one.score)[0]?.tool ?? null;
}

function scoreTool({ name, description }: ListedTool, textWords: ReadonlySet<string>, text: string): number {
  const nameWords = contentWords(name);
  const inName = nameWords.intersection(textWords).size;
  const inDescription = contentWords(description ?? "").intersection(textWords).size;
  if (name.length > 3 && text.includes(name)) return 100 + inName * NAME_WEIGHT + inDescription;
  const fits = (inName > 0 && inName * 2 >= nameWords.size) || inDescription >= DESCRIPTION_WORDS_MIN;
  return fits ? inName * NAME_WEIGHT + inDescription : 0;
}

/** The words that are not common, in lower case and without a plural "s". Camel case and snake case give the same. */
function contentWords(text: string): ReadonlySet<string> {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  const words = (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !COMMON_WORDS.has(word));
  return new Set(words.map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")));
}
