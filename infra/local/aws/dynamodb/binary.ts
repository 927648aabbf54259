import type { Attribute, Item } from './attributes.ts';

/**
 * Binary values are base64 in this table, as on the wire. Functions that get an answer without text get byte arrays; few
 * items have any, and looking through all of them would cost as much as the text.
 */

const noted = new WeakSet<Item>();

/** Texts and maps may look so too: then the item is looked through for nothing. */
const mark = /"BS?":["[]/;

/** Remembers whether the item, whose text this is, may have binary values. */
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

/** Puts byte arrays in the place of base64 in an answer that nobody else has. */
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
