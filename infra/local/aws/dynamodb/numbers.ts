/** DynamoDB's numbers: up to 38 significant digits, from 1e-130 to below 1e126 (DynamoDB: data types). */

interface Decimal {
  /** All significant digits, with the sign. */
  digits: bigint;
  /** Power of ten, the exponent of the digits. */
  exponent: number;
}

export class NumberError extends Error {}

const plain = /^(0|-?[1-9]\d{0,14})$/;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

const parse = (text: string): Decimal => {
  const [whole, sign, integer = '', fraction = '', power = '0'] = pattern.exec(text) ?? [];
  if (whole === undefined || integer + fraction === '')
    throw new NumberError(`The parameter cannot be converted to a numeric value${text === '' ? '' : `: ${text}`}`);
  const significant = (integer + fraction).replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return { digits: 0n, exponent: 0 };
  const exponent = Number(power) - fraction.length + significant.length - digits.length;
  const magnitude = exponent + digits.length - 1;
  if (magnitude > 125)
    throw new NumberError('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (magnitude < -130)
    throw new NumberError('Number underflow. Attempting to store a number with magnitude smaller than supported range');
  if (digits.length > 38) throw new NumberError('Attempting to store more than 38 significant digits in a Number');
  return { digits: BigInt(sign + digits), exponent };
};

const format = ({ digits, exponent }: Decimal): string => {
  if (exponent >= 0) return String(digits * 10n ** BigInt(exponent));
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(1 - exponent, '0');
  const fraction = text.slice(exponent).replace(/0+$/, '');
  return sign + text.slice(0, exponent) + (fraction && `.${fraction}`);
};

const aligned = (a: string, b: string): [bigint, bigint, number] => {
  const [x, y] = [parse(a), parse(b)];
  const exponent = Math.min(x.exponent, y.exponent);
  const shifted = (one: Decimal) => one.digits * 10n ** BigInt(one.exponent - exponent);
  return [shifted(x), shifted(y), exponent];
};

/**
 * In DynamoDB's response format.
 * @throws NumberError
 */
export const canonical = (text: string): string => (plain.test(text) ? text : format(parse(text)));

export const compareNumbers = (a: string, b: string): number => {
  if (plain.test(a) && plain.test(b)) return Number(a) - Number(b);
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
};

/** @throws NumberError when the sum is not a number that can be stored */
export const add = (a: string, b: string, sign: 1n | -1n = 1n): string => {
  const [x, y, exponent] = aligned(a, b);
  return canonical(format({ digits: x + sign * y, exponent }));
};

/**
 * Bytes: one, plus one per two significant digits (DynamoDB: item sizes).
 * @param text canonical
 */
export const numberSize = (text: string): number => {
  const { digits, exponent } = parse(text);
  if (digits === 0n) return 1;
  const count = String(digits < 0n ? -digits : digits).length;
  const isSplit = count % 2 === 0 && (exponent + count - 1) % 2 === 0;
  return 1 + Math.ceil(count / 2) + (isSplit ? 1 : 0) + (digits < 0n ? 1 : 0);
};
