import type { Details, MatchedDetail, UnmatchedDetail } from '#resources/costs/details.ts';

/** Formats USD from the API's decimal strings, without floating point. */

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',');

/** `1234.5` → `$1,234.50`, `-3.1` → `−$3.10`, `0.0` → `$0`. Rounded to cents; smaller amounts with all digits. */
export const dollars = (decimal: string): string => {
  const [, sign, whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(decimal) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if (whole === '0' && digits === '') return '$0';
  const small = whole === '0' && digits.startsWith('00');
  const cents = small ? { whole, fraction: digits } : roundedToCents(whole, digits);
  return `${sign ? '−' : ''}$${grouped(cents.whole)}.${cents.fraction}`;
};

const roundedToCents = (whole: string, digits: string): { whole: string; fraction: string } => {
  const cents = (BigInt(`${whole}${digits.padEnd(3, '0').slice(0, 3)}`) + 5n) / 10n;
  const text = cents.toString().padStart(3, '0');
  return { whole: text.slice(0, -2), fraction: text.slice(-2) };
};

/** A difference with its sign: `+$73.00`, `−$3.10`, `±$0`. */
export const signed = (decimal: string): string => {
  const text = dollars(decimal);
  if (text === '$0') return '±$0';
  return text.startsWith('−') ? text : `+${text}`;
};

/** Largest change first, then highest cost. Numbers are precise enough for sorting. */
const byWeight = (a: MatchedDetail, b: MatchedDetail): number => {
  const [delta, cost] = ['delta-monthly-cost', 'proposed-monthly-cost'] as const;
  return (
    Math.abs(Number(b[delta])) - Math.abs(Number(a[delta])) ||
    Number(b[cost]) - Number(a[cost]) ||
    (a.address < b.address ? -1 : 1)
  );
};

export interface CostTable {
  rows: MatchedDetail[];
  /** Number of resources that cost nothing before and after. */
  free: number;
  unmatched: UnmatchedDetail[];
  /** Assumptions, without duplicates. */
  assumptions: string[];
}

const isFree = (row: MatchedDetail): boolean =>
  row['prior-monthly-cost'] === '0.0' && row['proposed-monthly-cost'] === '0.0';

export const costTable = ({ matched, unmatched }: Details): CostTable => {
  const rows = matched.filter((row) => !isFree(row)).sort(byWeight);
  const regionAssumed = rows.find((row) => row['region-assumed']);
  return {
    rows,
    free: matched.length - rows.length,
    unmatched,
    assumptions: [
      ...new Set(rows.flatMap(({ assumptions }) => assumptions)),
      ...(regionAssumed ? [`region ${regionAssumed.region} assumed where the plan has none`] : []),
    ],
  };
};
