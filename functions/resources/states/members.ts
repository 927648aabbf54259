/** Finds members of a state's outermost object without parsing the rest. */

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const opening = [0x7b, 0x5b];
const closing = [0x7d, 0x5d];

const endOfString = (json: Buffer, from: number): number => {
  let at = json.indexOf(quote, from + 1);
  for (; at >= 0; at = json.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return json.length;
};

/**
 * Position of a member's value, from its colon to its terminator. Of several members with the name it is the last,
 * which every parser uses.
 */
export const placeOf = (json: Buffer, name: string): { from: number; to: number } | undefined => {
  let found: { from: number; to: number } | undefined;
  let depth = 0;
  /** 0: in no such member. */
  let from = 0;
  let isNameNext = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === quote) {
      const end = endOfString(json, at);
      const isMember = isNameNext && JSON.parse(json.toString('utf8', at, end + 1)) === name;
      isNameNext = false;
      at = end;
      if (isMember) from = json.indexOf(colon, end) + 1;
      continue;
    }
    const isEnd = closing.includes(byte);
    if (depth === 1 && (isEnd || byte === comma)) {
      if (from > 0) found = { from, to: at };
      from = 0;
    }
    if (opening.includes(byte)) depth++;
    if (isEnd) depth--;
    if (depth === 1 && (byte === comma || opening.includes(byte))) isNameNext = true;
  }
  return found;
};
