/**
 * Characters that are invisible, or that reorder others: control characters except line feed and tab, bidirectional
 * controls (Unicode Standard Annex #9), and code points that fonts leave out.
 */
const hidden = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters that shape their neighbors: in emoji, and joiners in Arabic and Indic scripts. */
const shaping =
  /(?:(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f(?=\u20e3)|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arabic}\p{M}])[\u200c\u200d](?=\p{L}))/gu;
const ordinary = /^[\n\t\x20-\x7e]*$/;

const escaped = (character: string): string => {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
};

/**
 * Makes different texts look different, and read in the order in which they are used: hidden characters appear as
 * `\u200b`.
 */
export const visible = (text: string): string => {
  if (ordinary.test(text) || text.search(hidden) < 0) return text;
  const kept = new Set([...text.matchAll(shaping)].map(({ index }) => index));
  return text.replace(hidden, (character, at: number) => (kept.has(at) ? character : escaped(character)));
};
