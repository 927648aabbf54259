/**
 * Marks of sensitive values: `true` for a whole value, or an object of marks by key. Plans also contain `false` for
 * unmarked values.
 */

export const marksAny = (marks: unknown): boolean =>
  marks === true || (typeof marks === 'object' && marks !== null && Object.values(marks).some(marksAny));

/** The value, or its marks, at a key. */
export const valueAt = (value: unknown, key: string | number): unknown => {
  if (value === true) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key];
};

const texts = function* (value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* texts(item);
};

const keys = function* (value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield* Object.keys(value);
  for (const item of Object.values(value)) yield* keys(item);
};

const markedTexts = function* (value: unknown, marks: unknown): Generator<string> {
  if (!marksAny(marks)) return;
  const alike = typeof value === 'object' && value !== null && marks !== true;
  if (!alike) yield* texts(value);
  else for (const [key, item] of Object.entries(value)) yield* markedTexts(item, valueAt(marks, key));
};

/** Shorter texts also occur in many unrelated values. */
const shortest = 4;
const shortestInside = 8;
const words = new Set(['true', 'false', 'null']);

/**
 * Texts that are marked somewhere and can occur unmarked elsewhere: a provider's results have no marks, so that
 * `output` of a terraform_data repeats sensitive values of its `input`.
 */
export class Secrets {
  readonly #whole = new Set<string>();
  #inside: string[] | undefined;

  add(value: unknown, marks: unknown): void {
    for (const text of markedTexts(value, marks)) {
      if (text.length >= shortest && !words.has(text)) this.#whole.add(text);
    }
    this.#inside = undefined;
  }

  /** Whether a value, or one of its keys, contains a secret. */
  isIn(value: unknown): boolean {
    if (this.#whole.size === 0) return false;
    this.#inside ??= [...this.#whole].filter((text) => text.length >= shortestInside);
    const inside = this.#inside;
    const gives = (text: string) => this.#whole.has(text) || inside.some((secret) => text.includes(secret));
    for (const text of texts(value)) if (gives(text)) return true;
    for (const text of keys(value)) if (gives(text)) return true;
    return false;
  }
}
