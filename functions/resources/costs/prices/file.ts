import type { Price } from '../bill.ts';
import { type Decimal, decimal, times } from '../decimal.ts';
import list from './aws.json' with { type: 'json' };

/**
 * Prices in the package: AWS list prices in USD for a few regions, refreshed from time to time. Where AWS prices a
 * family in proportion to size, the file has the family's price for `large` and its sizes.
 */

/** Date of the list, `2025-06`. */
export const asOf: string = list.asOf;

/** AWS's normalization factors: prices within a family are in proportion to them. */
const factors: Record<string, string> = {
  nano: '0.0625',
  micro: '0.125',
  small: '0.25',
  medium: '0.5',
  large: '1',
  xlarge: '2',
};

const factorOf = (size: string): Decimal | undefined => {
  const factor = factors[size];
  if (factor) return decimal(factor);
  const many = /^(\d{1,2})xlarge$/.exec(size)?.[1];
  return many ? decimal(many) * 2n : undefined;
};

type Group = (typeof list.groups)[number];
const groups = new Map<string, Group>(list.groups.flatMap((group) => group.regions.map((region) => [region, group])));

const own = (table: object, key: string): string | undefined =>
  Object.hasOwn(table, key) ? (table as Record<string, string>)[key] : undefined;

const inProportion = (prices: object, type: string): Decimal | undefined => {
  const [family = '', size = ''] = type.split('.');
  const large = own(prices, family);
  const sizes = own(list.families, family)?.split(' ');
  const factor = sizes?.includes(size) ? factorOf(size) : undefined;
  return large && factor ? times(decimal(large), factor) : undefined;
};

/** Some prices are the same in every region, except those of other partitions (GovCloud, China). */
const commercial = /^(af|ap|ca|eu|il|me|mx|sa|us)-(?!gov|iso)/;

/** Undefined for missing prices; prices are never guessed. */
export const filePrice = ({ region, item }: Price): Decimal | undefined => {
  const group = groups.get(region);
  const exact =
    (group && own(group.prices, item)) ?? (commercial.test(region) ? own(list.everywhere, item) : undefined);
  if (exact) return decimal(exact);
  const [kind, type = ''] = item.split('/');
  return group && kind === 'ec2' ? inProportion(group.ec2, type) : undefined;
};
