import { type Difference, type Kind, kindsByRisk } from '#clients/client/text/plan.ts';
import { totalsOf } from '../text/plan-totals.ts';
import { signs } from './diff-signs.ts';

/** Number of changes by type and module: an overview of a large plan. */
export const Totals = ({ differences }: { differences: Difference[] }) => {
  const { types, modules } = totalsOf(differences);
  const kinds = kindsByRisk.filter((kind) => differences.some((difference) => difference.kind === kind));
  return (
    <details class="totals-by">
      <summary>By type and module</summary>
      <div class="halves scrolls">
        <Table title="Type" rows={types} kinds={kinds} />
        <Table title="Module" rows={modules} kinds={kinds} />
      </div>
    </details>
  );
};

const Table = ({ title, rows, kinds }: { title: string; rows: [string, Map<Kind, number>][]; kinds: Kind[] }) => (
  <table class="costs">
    <thead>
      <tr>
        <th scope="col">{title}</th>
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
