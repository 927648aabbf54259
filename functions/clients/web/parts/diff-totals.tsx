import { type Difference, type Kind, kindsByRisk } from '#clients/client/text/plan.ts';
import { totalsOf } from '../text/plan-totals.ts';
import { signs } from './diff-signs.ts';

/** Number of changes by type: an overview of a large plan. */
export const Totals = ({ differences }: { differences: Difference[] }) => {
  const kinds = kindsByRisk.filter((kind) => differences.some((difference) => difference.kind === kind));
  return (
    <details class="totals-by">
      <summary>By type</summary>
      <div class="scrolls fits">
        <Table rows={totalsOf(differences)} kinds={kinds} />
      </div>
    </details>
  );
};

/** `− 3 ~ 2` */
export const KindCounts = ({ of }: { of: readonly Difference[] }) => (
  <span class="counts">
    {kindsByRisk.map((kind) => {
      const number = of.filter((difference) => difference.kind === kind).length;
      return (
        number > 0 && (
          <span key={kind} class={signs[kind].tone}>
            <span aria-hidden="true">{signs[kind].sign}</span>
            {number} <span class="visually-hidden">{signs[kind].name}</span>
          </span>
        )
      );
    })}
  </span>
);

const Table = ({ rows, kinds }: { rows: [string, Map<Kind, number>][]; kinds: Kind[] }) => (
  <table class="costs">
    <thead>
      <tr>
        <th scope="col">Type</th>
        {kinds.map((kind) => (
          <th key={kind} scope="col">
            <span class={signs[kind].tone}>
              <span aria-hidden="true">{signs[kind].sign}</span> {signs[kind].chip}
            </span>
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, counts]) => (
        <tr key={name}>
          <th scope="row" class="mono break">
            {name}
          </th>
          {kinds.map((kind) => (
            <td key={kind}>{counts.get(kind) ?? <span class="soft">0</span>}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
