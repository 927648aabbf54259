import { type Attribute, attributeOf, type Item } from './attributes.ts';
import type { Path } from './parser.ts';

/** The values of one request's placeholders. */
export interface Scope {
  names: Record<string, string>;
  values: Record<string, Attribute>;
}

export const nameIn = (part: string, { names }: Scope): string =>
  part.startsWith('#') ? (names[part] as string) : part;

export const resolved = (path: Path, scope: Scope): Path =>
  path.map((part) => (typeof part === 'number' ? part : nameIn(part, scope)));

export const valueIn = (name: string, { values }: Scope): Attribute => values[name] as Attribute;

export const lookUp = (path: Path, item: Item, scope: Scope): Attribute | undefined => {
  let place: Attribute | undefined = { M: item };
  for (const part of path) {
    if (place === undefined) return undefined;
    if (typeof part === 'number') place = (place.L as Attribute[] | undefined)?.[part];
    else place = place.M === undefined ? undefined : attributeOf(place.M as Item, nameIn(part, scope));
  }
  return place;
};

export const pathText = (path: Path): string =>
  `[${path.map((part) => (typeof part === 'number' ? `[${part}]` : part)).join(', ')}]`;
