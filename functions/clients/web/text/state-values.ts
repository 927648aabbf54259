/** Attributes of an instance in a state (Terraform's state format, version 4), unwrapped for display, with sensitive marks. */

/** One step of a path in `sensitive_attributes`; the key of an index is a value with its type. */
interface Step {
  type: string;
  value: unknown;
}

export type SensitivePath = Step[];

type Json = Record<string, unknown>;

/** `true`: sensitive as a whole; else by key, in the format of plans. */
export type Marks = true | { [key: string]: Marks };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const primitives: Record<string, string> = { string: 'string', number: 'number', bool: 'boolean' };

/** Whether a value has a type, in cty's JSON notation. */
const conforms = (value: unknown, type: unknown): boolean => {
  if (typeof type === 'string') {
    return type === 'dynamic' || (type in primitives && (value === null || typeof value === primitives[type]));
  }
  if (!Array.isArray(type)) return false;
  const [kind, of] = type as [unknown, unknown];
  const missing = value === null;
  switch (kind) {
    case 'list':
    case 'set':
      return missing || (Array.isArray(value) && value.every((element) => conforms(element, of)));
    case 'map':
      return missing || (isObject(value) && Object.values(value).every((element) => conforms(element, of)));
    case 'tuple':
      return (
        Array.isArray(of) &&
        (missing || (Array.isArray(value) && value.every((element, i) => conforms(element, of[i]))))
      );
    case 'object':
      return (
        isObject(of) &&
        (missing || (isObject(value) && Object.entries(value).every(([name, one]) => conforms(one, of[name]))))
      );
    default:
      return false;
  }
};

/** Values of dynamic type are stored together with their type. */
const isWrapper = (value: unknown): value is { value: unknown; type: unknown } =>
  isObject(value) && Object.keys(value).sort().join() === 'type,value' && conforms(value.value, value.type);

/** Paths skip these wrappers, which are never nested. */
const unwrapped = (value: unknown): unknown => {
  if (isWrapper(value)) return value.value;
  if (Array.isArray(value)) return value.map(unwrapped);
  return isObject(value) ? unwrappedAttributes(value) : value;
};

/** Tells a wrapper from a resource that has attributes named `type` and `value`. */
export const unwrappedAttributes = (attributes: Json): Json =>
  Object.fromEntries(Object.entries(attributes).map(([name, one]) => [name, unwrapped(one)]));

const keyOf = ({ type, value }: Step): string | number | undefined => {
  const key = type === 'index' && isObject(value) ? value.value : value;
  return typeof key === 'string' || typeof key === 'number' ? key : undefined;
};

/** A number may be an element of a set, as older Terraform wrote it, or an index of a list. */
const has = (value: unknown, key: string | number): boolean =>
  Array.isArray(value)
    ? typeof key === 'number' && Object.hasOwn(value, key) && !value.some((element) => typeof element === 'number')
    : isObject(value) && typeof key === 'string' && Object.hasOwn(value, key);

/** A path that cannot be followed (into a set, or written by another version) marks everything on its way. */
const mark = (marks: Marks | undefined, value: unknown, [step, ...rest]: SensitivePath): Marks => {
  if (marks === true || step === undefined) return true;
  const key = keyOf(step);
  if (key === undefined || !has(value, key)) return true;
  // Without a prototype, because `__proto__` may be a key.
  const object: { [key: string]: Marks } = marks ?? Object.create(null);
  object[key] = mark(object[key], (value as Json)[key], rest);
  return object;
};

export const marksOf = (value: unknown, paths: SensitivePath[]): Marks | undefined =>
  paths.reduce<Marks | undefined>((marks, path) => mark(marks, value, path), undefined);
