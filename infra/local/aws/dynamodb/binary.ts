import type { Attribute, Item } from './attributes.ts';

/**
 * This table stores binary values in base64, as on the wire. A function that gets an output as an object instead of
 * JSON needs byte arrays. Only items that may have binary values are searched for them: searching every item would cost
 * as much as parsing JSON.
 */

const noted = new WeakSet<Item>();

/** Also matches some items without binary values; the search then finds nothing. */
const mark = /"BS?":["[]/;

/** Remembers whether the item with this text may have binary values. */
export const noteBinary = (item: Item, text: string): Item => {
  if (mark.test(text)) noted.add(item);
  return item;
};

interface Output {
  Item?: Item;
  Attributes?: Item;
  Items?: Item[];
  Responses?: Record<string, Item[]>;
}

/** Replaces base64 with byte arrays in a response that is not shared. */
export const decodeBinary = <O extends object>(output: O): O => {
  const { Item, Attributes, Items = [], Responses = {} }: Output = output;
  for (const item of [Item, Attributes, ...Items, ...Object.values(Responses).flat()])
    if (item && noted.has(item)) decodeItem(item);
  return output;
};

const decodeItem = (item: Item): void => {
  for (const name of Object.keys(item)) decode(item[name] as Attribute);
};

const decode = (attribute: Attribute): void => {
  if (typeof attribute.B === 'string') attribute.B = bytesOf(attribute.B);
  else if (attribute.BS) attribute.BS = (attribute.BS as string[]).map(bytesOf);
  else if (attribute.M) decodeItem(attribute.M as Item);
  else if (attribute.L) for (const one of attribute.L as Attribute[]) decode(one);
};

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
