import { type Decimal, quantity, times } from './decimal.ts';
import { isObject, type Json } from './plan.ts';

/** Identifies a price in the price file and the Price List API: `{region: 'eu-west-1', item: 'ec2/m5.large'}`. */
export interface Price {
  region: string;
  /** `<kind>/<what>`; the kinds are those of prices/catalog.ts. */
  item: string;
}

/** A quantity of an item with a price per hour or per month. */
export interface Charge {
  price: Price;
  quantity: Decimal;
  per: 'hour' | 'month';
}

/** A resource of a priced type whose price cannot be determined; users see the message. */
export class UnpricedError extends Error {
  override name = 'UnpricedError';
}

/** Larger numbers are rejected: no size, count or rate at AWS reaches them. */
const largest = 1e9;

/** Values of a resource or a block. They may have any shape: plans come from customers' code. */
export class Values {
  readonly #json: Json;
  readonly #unknown: unknown;

  constructor(json: Json, unknown: unknown = {}) {
    this.#json = json;
    this.#unknown = unknown;
  }

  /** Known only after apply. */
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

  /** Accepts numbers that providers store as text (`cpu = "256"`). @throws {UnpricedError} when out of range */
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

  /** Nested blocks: a list, even if there is only one. */
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

/** The charges of a resource, before prices are known. */
export class Bill {
  readonly region: string;
  readonly charges: Charge[] = [];
  /** Assumptions, shown to users. */
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

  /** Adds another bill, `count` times. */
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

/** Hours of a month as in AWS's price lists: 365 days / 12. */
export const hoursInMonth = 730n;
