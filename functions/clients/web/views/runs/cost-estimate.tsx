import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { type CostTable, costTable, dollars, signed } from '#clients/client/text/money.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { Table } from '#clients/web/parts/list.tsx';
import { Fold } from '#clients/web/parts/section.tsx';
import { get } from '#clients/web/session.ts';

const words: Record<string, string> = {
  pending: 'not started',
  queued: 'estimating',
  finished: 'per month',
  errored: 'failed',
  canceled: 'canceled',
  unreachable: 'not reached',
  skipped_due_to_targeting: 'skipped: the plan has targets',
};

/** Longer lists are expanded on request. */
const atFirst = 50;

/** Monthly cost before and after, in total and by resource. */
export const CostEstimate = ({ estimate }: { estimate: Resource<'cost-estimates'> | undefined }) => {
  if (!estimate) return null;
  const { status, 'error-message': message } = estimate.attributes;
  return (
    <Fold
      title="Cost estimate"
      status={words[status] ?? status}
      summary={<Totals estimate={estimate} />}
      unfolds={status === 'finished' || status === 'errored'}
    >
      {() =>
        status === 'finished' ? (
          <Resources estimate={estimate} />
        ) : (
          <div class="pad">
            <Notice kind="warn">{message}</Notice>
          </div>
        )
      }
    </Fold>
  );
};

const Totals = ({ estimate: { attributes } }: { estimate: Resource<'cost-estimates'> }) => {
  const { 'prior-monthly-cost': prior, 'proposed-monthly-cost': proposed, 'delta-monthly-cost': delta } = attributes;
  if (prior === null || proposed === null || delta === null) return null;
  const unpriced = attributes['unmatched-resources-count'] ?? 0;
  if (unpriced > 0 && !attributes['matched-resources-count'])
    return <span class="summary">{count(unpriced, 'resource')} without a known price</span>;
  return (
    <span class="summary">
      {unpriced > 0 && <span class="soft">{count(unpriced, 'resource')} not included</span>}
      <span>
        {dollars(prior)} <span aria-hidden="true">→</span>
        <span class="visually-hidden">becomes</span> <strong>{dollars(proposed)}</strong>
      </span>
      <span class={toneOf(delta)}>
        <strong>{signed(delta)}</strong>
      </span>
    </span>
  );
};

const toneOf = (delta: string): string => {
  if (/^-?[0.]+$/.test(delta)) return 'soft';
  return delta.startsWith('-') ? 'add' : 'destroy';
};

/** A finished estimate never changes. */
const Resources = ({ estimate }: { estimate: Resource<'cost-estimates'> }) => {
  const path = `/cost-estimates/${estimate.id}`;
  const live = useLive(path, async () => {
    const { resources } = (await get<'cost-estimates'>(path)).attributes;
    return costTable(resources ?? { matched: [], unmatched: [] });
  });
  return (
    <Loaded live={live} what="cost estimate">
      {(table) => <Costs table={table} estimate={estimate} />}
    </Loaded>
  );
};

const Costs = ({ table, estimate }: { table: CostTable; estimate: Resource<'cost-estimates'> }) => {
  const all = useSignal(false);
  const { rows, free, unmatched, assumptions } = table;
  const { 'price-sources': sources, 'prices-as-of': asOf } = estimate.attributes;
  const hidden = rows.length - atFirst;
  return (
    <section aria-label="cost of each resource">
      {rows.length > 0 && (
        <div class="scrolls">
          <Table class="costs" heads={['Resource', 'Before', 'After', 'Change']}>
            {(all.value ? rows : rows.slice(0, atFirst)).map((row) => (
              <tr key={row.address}>
                <th scope="row" class="mono break">
                  {row.address}
                </th>
                <td>{dollars(row['prior-monthly-cost'])}</td>
                <td>{dollars(row['proposed-monthly-cost'])}</td>
                <td class={toneOf(row['delta-monthly-cost'])}>{signed(row['delta-monthly-cost'])}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
      <div class="pad part stack small">
        {hidden > 0 && !all.value && (
          <p>
            <SmallButton text={`Show ${count(hidden, 'more resource')}`} onClick={() => (all.value = true)} />
          </p>
        )}
        {free > 0 && <p class="soft">{count(free, rows.length ? 'more resource' : 'resource')} at no charge.</p>}
        {unmatched.length > 0 && (
          <div>
            <p>Not estimated:</p>
            <ul class="plain">
              {unmatched.slice(0, atFirst).map(({ address, reason }) => (
                <li key={address}>
                  <code class="break">{address}</code> <span class="soft">{reason}</span>
                </li>
              ))}
            </ul>
            {unmatched.length > atFirst && <p class="soft">And {unmatched.length - atFirst} more.</p>}
          </div>
        )}
        {assumptions.length > 0 && <p class="soft">Assumed: {assumptions.join('; ')}.</p>}
        {sources && sources.length > 0 && <p class="soft">{priced(sources, asOf)}</p>}
      </div>
    </section>
  );
};

const priced = (sources: string[], asOf: string | null): string => {
  const names = sources.map((source) =>
    source === 'price-file' ? `AWS list prices of ${asOf}` : 'the AWS Price List API',
  );
  return `Prices from ${names.join(' and ')}, in USD per month of 730 hours. Your actual cost depends on usage and contract.`;
};
