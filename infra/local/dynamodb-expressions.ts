import { createRequire } from 'node:module';

/*
 * dynalite's grammars try each way to read a condition again and again, doubled by each pair of parentheses: 3 ms for
 * that of a usual change, the most of what a write costs here. An expression that has been read is remembered with
 * places for its values.
 */
const load = createRequire(import.meta.url);

type Value = Record<string, unknown>;
interface Context {
  attrNames?: Record<string, string>;
  attrVals?: Record<string, Value>;
  /** What no expression of the call has used so far; a parser takes out what it does. */
  unusedAttrNames: Record<string, true>;
  unusedAttrVals: Record<string, true>;
  isKeyCondition?: boolean;
}
type Parse = (text: string, options: { context: Context }) => unknown;

interface Remembered {
  tree: unknown;
  names: string[];
  values: string[];
}

const maxParsed = 2000;

/** Whether the parser looks at more of the values than their types. */
const looksAtValues = /between|attribute_type/i;

const typesOf = (values: Record<string, Value> = {}): string =>
  Object.entries(values)
    .map(([name, value]) => name + Object.keys(value))
    .join();

/** Stands in a remembered tree for a value of the call. */
class Place {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A copy of the tree with what `change` makes of its objects, where that is something. */
const copied = (tree: unknown, change: (node: object) => unknown): unknown => {
  if (tree === null || typeof tree !== 'object') return tree;
  const changed = change(tree);
  if (changed !== undefined) return changed;
  if (Array.isArray(tree)) return tree.map((part) => copied(part, change));
  const copy: Record<string, unknown> = Object.create(Object.getPrototypeOf(tree));
  for (const [key, part] of Object.entries(tree)) copy[key] = copied(part, change);
  return copy;
};

const marks = (names: string[]): Record<string, true> => Object.fromEntries(names.map((name) => [name, true]));

/** The same answers as of `parse`, and the same marks in the context. */
const remembering = (parse: Parse): Parse => {
  const known = new Map<string, Remembered>();
  const read = (text: string, context: Context): Remembered => {
    const { attrNames = {}, attrVals } = context;
    const own: Context = {
      ...context,
      // Each an object of its own, to be known again in the tree.
      attrVals: attrVals && Object.fromEntries(Object.entries(attrVals).map(([name, value]) => [name, { ...value }])),
      // All of them, so that what this expression uses shows.
      unusedAttrNames: marks(Object.keys(attrNames)),
      unusedAttrVals: marks(Object.keys(attrVals ?? {})),
    };
    const tree = parse(text, { context: own });
    const values = Object.entries(own.attrVals ?? {});
    const places = new Map<object, Place>(values.map(([name, value]) => [value, new Place(name)]));
    return {
      tree: copied(tree, (node) => places.get(node)),
      names: Object.keys(attrNames).filter((name) => !own.unusedAttrNames[name]),
      values: values.map(([name]) => name).filter((name) => !own.unusedAttrVals[name]),
    };
  };
  return (text, { context }) => {
    if (looksAtValues.test(text)) return parse(text, { context });
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals, isKeyCondition } = context;
    const key = JSON.stringify([text, attrNames, typesOf(attrVals), isKeyCondition]);
    const found = known.get(key) ?? read(text, context);
    if (known.size >= maxParsed) known.clear();
    known.set(key, found);
    for (const name of found.names) delete unusedAttrNames[name];
    for (const name of found.values) delete unusedAttrVals[name];
    return copied(found.tree, (node) => (node instanceof Place ? attrVals[node.name] : undefined));
  };
};

for (const name of ['condition', 'update', 'projection']) {
  const parser = load(`dynalite/db/${name}Parser`) as { parse: Parse };
  parser.parse = remembering(parser.parse);
}
