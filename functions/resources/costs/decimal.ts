/**
 * Money as integers: a bigint counts units of 10⁻¹² USD, so that sums are exact and do not depend on their order.
 * Floating point would show in the output (`0.1 + 0.2`) and add up differently each time.
 */
export type Decimal = bigint;

const places = 12;
const one = 10n ** BigInt(places);

const pattern = /^(-?)(\d+)(?:\.(\d+))?$/;

/** `0.0116`. Digits beyond the twelfth place are dropped. @throws {RangeError} when it is not a decimal number */
export const decimal = (text: string): Decimal => {
  const [, sign, whole, fraction = ''] = pattern.exec(text) ?? [];
  if (whole === undefined) throw new RangeError(`${text.slice(0, 40)} is not a decimal number`);
  const value = BigInt(whole) * one + BigInt(fraction.slice(0, places).padEnd(places, '0'));
  return sign ? -value : value;
};

/** From a finite number, by its shortest decimal form within 10⁻¹² … 10²¹; integers exactly. */
export const quantity = (value: number): Decimal =>
  Number.isSafeInteger(value) ? BigInt(value) * one : decimal(value.toFixed(places));

const rounded = (value: bigint, divisor: bigint): bigint => {
  const half = divisor / 2n;
  return value < 0n ? -((-value + half) / divisor) : (value + half) / divisor;
};

export const times = (a: Decimal, b: Decimal): Decimal => rounded(a * b, one);

export const dividedBy = (a: Decimal, divisor: bigint): Decimal => rounded(a, divisor);

/** Rounds to a number of decimal places, half away from zero. */
export const round = (value: Decimal, digits: number): Decimal => {
  const unit = 10n ** BigInt(places - digits);
  return rounded(value, unit) * unit;
};

export const sum = (values: Iterable<Decimal>): Decimal => {
  let total = 0n;
  for (const value of values) total += value;
  return total;
};

/** Without trailing zeros, but with at least one decimal place, as in HCP's API: `25.488`, `0.0`. */
export const format = (value: Decimal): string => {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '') || '0';
  return `${value < 0n ? '-' : ''}${digits.slice(0, -places)}.${fraction}`;
};
