import { isExactNumber } from '#platform/formats/exact-json.ts';
import { unknown, type Value } from './value.ts';

/** MessagePack contains numbers that 64 bits cannot represent exactly, such as 0.1, as text. */
const isNumber = (planned: Value): planned is number | string =>
  typeof planned === 'number' || (typeof planned === 'string' && /^-?\d/.test(planned));

const isSameNumber = (planned: Value, shown: unknown): boolean =>
  isNumber(planned) &&
  (typeof shown === 'number' || isExactNumber(shown)) &&
  Number(planned) === Number(JSON.stringify(shown));

/** Unknown values are missing in JSON objects, and null in lists. */
export const isUnknownOrSame = (planned: Value, shown: unknown): boolean =>
  planned === unknown ? shown === undefined || shown === null : isSame(planned, shown);

const isSame = (planned: Value, shown: unknown): boolean => {
  if (planned === null) return shown === null || shown === undefined;
  if (planned === shown || isSameNumber(planned, shown)) return true;
  if (typeof planned !== 'object' || typeof shown !== 'object' || shown === null) return false;
  if (Array.isArray(planned)) return Array.isArray(shown) && areSame(planned, shown);
  if (Array.isArray(shown)) return false;
  const members = shown as Record<string, unknown>;
  return (
    Object.entries(planned).every(([name, value]) =>
      isUnknownOrSame(value, Object.hasOwn(members, name) ? members[name] : undefined),
    ) && Object.keys(members).every((name) => Object.hasOwn(planned, name))
  );
};

/** A set with unknown elements may be ordered differently. */
const areSame = (planned: Value[], shown: unknown[]): boolean => {
  if (planned.length !== shown.length) return false;
  if (planned.every((value, i) => isUnknownOrSame(value, shown[i]))) return true;
  if (!planned.some(containsUnknown)) return false;
  const left = [...shown];
  return planned.every((value) => {
    const at = left.findIndex((one) => isUnknownOrSame(value, one));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
};

const containsUnknown = (value: Value): boolean =>
  value === unknown || (typeof value === 'object' && value !== null && Object.values(value).some(containsUnknown));

/** For lists whose order has no meaning. */
export const sorted = (values: unknown[]): string[] => values.map((value) => JSON.stringify(value)).sort();
