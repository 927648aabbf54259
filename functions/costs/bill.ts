import { type Decimal, quantity, times } from './decimal.ts';
import { isObject, type Json } from './plan.ts';

/** One price, as the price file and the Price List API know it: `{region: 'eu-west-1', item: 'ec2/m5.large'}`. */
export interface Price {
  region: string;
  /** `<kind>/<what>`; the kinds are those of prices/catalog.ts. */
  item: string;
}

/** So much of something, of which one costs the price in an hour or in a month. */
export interface Charge {
  price: Price;
  quantity: Decimal;
  per: 'hour' | 'month';
}

/** A resource of a kind that has prices, but not this one; the message says why, for people. */
export class UnpricedError extends Error {
  override name = 'UnpricedError';
}

/** Beyond this no number in a plan is a size, a count or a rate of anything AWS sells. */
const largest = 1e9;

/** The values of a resource, or of a block in it, which may be of any shape: plans are made by customers' code. */
export class Values {
  readonly #json: Json;
  readonly #unknown: unknown;

  constructor(json: Json, unknown: unknown = {}) {
    this.#json = json;
    this.#unknown = unknown;
  }

  /** Known after apply only. */
  isUnknown(name: string): boolean {
    const mark = isObject(this.#unknown) ? this.#unknown[name] : undefined;
    return mark === true && (this.#json[name] === undefined || this.#json[name] === null);
  }

  text(name: string): string | undefined {
    const value = this.#json[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** @throws {UnpricedError} */
  needText(name: string): string {
    const value = this.text(name);
    if (value !== undefined) return value;
    throw new UnpricedError(this.isUnknown(name) ? `${name} is known after apply only` : `${name} is missing`);
  }

  /** Numbers that providers keep as text (`cpu = "256"`) count too. @throws {UnpricedError} when it cannot be meant */
  number(name: string): number | undefined {
    const raw = this.#json[name];
    const value = typeof raw === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(raw) ? Number(raw) : raw;
    if (typeof value !== 'number') return undefined;
    if (value >= 0 && value <= largest) return value;
    throw new UnpricedError(`${name} is ${value}, which AWS does not sell`);
  }

  /** @throws {UnpricedError} */
  needNumber(name: string): number {
    const value = this.number(name);
    if (value !== undefined) return value;
    throw new UnpricedError(this.isUnknown(name) ? `${name} is known after apply only` : `${name} is missing`);
  }

  flag(name: string): boolean {
    return this.#json[name] === true;
  }

  texts(name: string): string[] {
    const value = this.#json[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  /** Nested blocks, which are lists whatever their number. */
  blocks(name: string): Values[] {
    const value = this.#json[name];
    const marks = isObject(this.#unknown) ? this.#unknown[name] : undefined;
    return (Array.isArray(value) ? value : [])
      .filter(isObject)
      .map((block, i) => new Values(block, Array.isArray(marks) ? marks[i] : undefined));
  }

  block(name: string): Values | undefined {
    return this.blocks(name)[0];
  }
}

/** What one resource costs, before its prices are known. */
export class Bill {
  readonly region: string;
  readonly charges: Charge[] = [];
  /** What was taken for granted, for people. */
  readonly assumptions = new Set<string>();

  constructor(region: string) {
    this.region = region;
  }

  hourly(item: string, count = 1): void {
    this.#charge(item, quantity(count), 'hour');
  }

  monthly(item: string, count = 1): void {
    this.#charge(item, quantity(count), 'month');
  }

  /** Everything of another bill, so many times. */
  add({ charges, assumptions }: Bill, count: number): void {
    for (const charge of charges) this.charges.push({ ...charge, quantity: times(charge.quantity, quantity(count)) });
    for (const assumption of assumptions) this.assumptions.add(assumption);
  }

  assume(text: string): void {
    this.assumptions.add(text);
  }

  #charge(item: string, count: Decimal, per: Charge['per']): void {
    if (count > 0n) this.charges.push({ price: { region: this.region, item }, quantity: count, per });
  }
}

/** Hours of a month, as AWS reckons in its own price lists: 365 days / 12. */
export const hoursInMonth = 730n;
