/**
 * The shape of the body that a route reads, learned from the route itself: a probe document has every property that the
 * route reads, and records it.
 */

/** The text of the body that the probe document replaces. */
export const probeBody = '{"probe":"of the shape of a body"}';

export interface Shape {
  /** The API's error for an object in this place; undefined if an object is valid. */
  problem?: string;
  /** Properties of an object by name; `*` is any entry of a list. */
  parts: Map<string, Shape>;
}

const pathOf = (pointer: string): string[] => pointer.split('/').slice(1).filter(Boolean);

const at = (shape: Shape, path: string[]): Shape => {
  let child = shape;
  for (const name of path) {
    let next = child.parts.get(name);
    if (!next) {
      next = { parts: new Map() };
      child.parts.set(name, next);
    }
    child = next;
  }
  return child;
};

/** Names that JavaScript reads of every object, not a route. */
const ofEveryObject = new Set(['then', 'toJSON', 'constructor', 'valueOf', 'toString', 'length', '__proto__']);

interface Known {
  shape: Shape;
  /** If there is a list. */
  lists: Set<string>;
  /** Properties that are absent this time, because they are completely known. */
  hidden: Set<string>;
  /** Ids of existing resources, if a route looks for the resource that it changes. */
  idAt(path: string[]): string | undefined;
}

const document = (learned: Known, path: string[] = []): object => {
  const { shape, lists, hidden } = learned;
  const name = (key: string) => [...path, key].join('/');
  const isNamed = (key: string | symbol): key is string =>
    typeof key === 'string' && !ofEveryObject.has(key) && path.length < 8 && !hidden.has(name(key));
  return new Proxy(
    {},
    {
      has: (_, key) => {
        if (!isNamed(key)) return false;
        at(shape, [...path, key]);
        return true;
      },
      get: (_, key) => {
        if (!isNamed(key)) return undefined;
        at(shape, [...path, key]);
        const id = key === 'id' ? learned.idAt(path) : undefined;
        if (id !== undefined) return id;
        if (!lists.has(name(key))) return document(learned, [...path, key]);
        return [document(learned, [...path, key, '*'])];
      },
      ownKeys: () => [],
    },
  );
};

interface Problem {
  detail?: string;
  source?: { pointer?: string };
}

const { parse } = JSON;

/** During this call, the probe's body is read as that document. */
const reading = async <T>(body: object, work: () => Promise<T>): Promise<T> => {
  JSON.parse = ((text: string, ...rest: []) => (text === probeBody ? body : parse(text, ...rest))) as typeof parse;
  try {
    return await work();
  } finally {
    JSON.parse = parse;
  }
};

/** @param ask sends the probe's body to the route, and returns the response's body */
export const learn = async (ask: () => Promise<string | undefined>, idAt: Known['idAt']): Promise<Shape> => {
  const shape: Shape = { parts: new Map() };
  const lists = new Set<string>();
  const hidden = new Set<string>();
  // A response reports at most 20 problems; reported properties are left out of the next attempt.
  for (let i = 0; i < 12; i++) {
    const text = await reading(document({ shape, lists, hidden, idAt }), ask);
    let problems: Problem[] = [];
    try {
      problems = (parse(text ?? '{}') as { errors?: Problem[] }).errors ?? [];
    } catch {
      // Not a document: there is nothing to learn.
    }
    let learned = false;
    for (const { detail = '', source } of problems) {
      const path = pathOf(source?.pointer ?? '').map((part) => (/^\d+$/.test(part) ? '*' : part));
      const name = path.join('/');
      if (path.length === 0 || hidden.has(name)) continue;
      learned = true;
      if (/must be a list$/.test(detail) && !lists.has(name)) {
        lists.add(name);
        at(shape, path).problem = detail;
        continue;
      }
      at(shape, path).problem ??= detail;
      hidden.add(name);
    }
    if (!learned) break;
  }
  return shape;
};
