import { type Signal, useSignal } from '@preact/signals';
import type { Document } from '#clients/client/client.ts';
import { failedFragment } from '#clients/client/run-facts.ts';
import { count } from '#clients/client/text/time.ts';
import { addStyle } from '#clients/web/lazily.tsx';
import { useLive } from '#clients/web/live.ts';
import { hrefOf, useQuery } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { ExportButton } from '#clients/web/parts/export-button.tsx';
import { Pager } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { call, content } from '#clients/web/session.ts';
import explorerStyle from '#clients/web/style/explorer.css' with { type: 'text' };
import {
  columns,
  headingOf,
  isNarrow,
  parametersOf,
  type Question,
  questionIn,
  typeNames,
} from '#clients/web/text/explorer.ts';
import { readableTag } from '#clients/web/text/tags.ts';
import { type QueryType, queryTypes } from '#features/explorer/fields.ts';
import { type RunStatus, statuses } from '#run/status.ts';
import { Filters } from './filters.tsx';
import { Views } from './views.tsx';

/** Queries over all workspaces of an organization: versions, providers, modules, resources. */

addStyle(explorerStyle);

const size = 50;

type Value = string | number | boolean | null;
interface Row {
  id: string;
  attributes: Record<string, Value>;
}
interface Answer {
  rows: Row[];
  total: number;
  isIndexing: boolean;
}

export const Explorer = ({ organization }: OrganizationProps) => (
  <OrganizationShell
    organization={organization}
    at="explorer"
    refused={`The explorer is available to owners of ${organization} and to teams that can read all its workspaces or projects.`}
  >
    <Questions organization={organization} />
  </OrganizationShell>
);

const useQuestion = () => {
  const [type, filters, sort] = [useQuery('type'), useQuery('filters'), useQuery('sort')];
  const question = questionIn(type.value, filters.value, sort.value);
  const ask = (next: Question) => {
    type.value = next.type === 'workspaces' ? '' : next.type;
    filters.value = next.filters.length ? JSON.stringify(next.filters) : '';
    sort.value = next.sort;
  };
  return { question, ask };
};

const load = async (organization: string, question: Question, page: number): Promise<Answer> => {
  const parameters = parametersOf(question);
  const extra = question.type === 'workspaces' ? ['current_run_status', 'current_run_external_id'] : [];
  parameters.set('fields', [...columns[question.type], ...extra].join(','));
  parameters.set('page[size]', String(size));
  parameters.set('page[number]', String(page));
  const answer = (await call<Row[]>('GET', `/organizations/${organization}/explorer?${parameters}`)) as Document<
    Row[]
  > & {
    meta?: { indexing?: boolean };
  };
  const total = answer.meta?.pagination?.['total-count'] ?? answer.data.length;
  return { rows: answer.data, total, isIndexing: answer.meta?.indexing === true };
};

const Questions = ({ organization }: OrganizationProps) => {
  const { question, ask } = useQuestion();
  const page = useSignal(1);
  const askFirstPage = (next: Question) => {
    page.value = 1;
    ask(next);
  };
  const live = useLive(
    `explorer/${organization}/${parametersOf(question)}/${page.value}`,
    () => load(organization, question, page.value),
    // Each request indexes more states, until all are indexed.
    (answer) => (answer?.isIndexing ? 1000 : undefined),
  );
  const choose = (type: QueryType) => askFirstPage({ type, filters: [], sort: '' });
  return (
    <>
      <div class="row">
        <select
          aria-label="Show"
          value={question.type}
          onChange={(event) => choose(event.currentTarget.value as QueryType)}
        >
          {queryTypes.map((type) => (
            <option key={type} value={type}>
              {typeNames[type]}
            </option>
          ))}
        </select>
        <Views organization={organization} question={question} onOpen={askFirstPage} />
        <span class="grow" />
        <ExportButton
          name={`${question.type}-${organization}`}
          read={async () =>
            (await content(`/organizations/${organization}/explorer/export/csv?${parametersOf(question)}`)).text()
          }
        />
      </div>
      <Filters
        type={question.type}
        filters={question.filters}
        onChange={(filters) => askFirstPage({ ...question, filters })}
      />
      <Loaded live={live} what="answer">
        {(answer) => (
          <Answered {...answer} organization={organization} question={question} page={page} onAsk={askFirstPage} />
        )}
      </Loaded>
    </>
  );
};

interface AnsweredProps extends Answer, OrganizationProps {
  question: Question;
  page: Signal<number>;
  onAsk(question: Question): void;
}

const Answered = ({ rows, total, isIndexing, organization, question, page, onAsk }: AnsweredProps) => (
  <>
    {isIndexing && <Notice>Reading the states of this organization. Some fields are still empty.</Notice>}
    {rows.length === 0 ? (
      <Nothing question={question} />
    ) : (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard on narrow screens
      <section class="panel scrolls" tabIndex={0} aria-label={typeNames[question.type]}>
        <table class="stacks sorted explored">
          <caption class="soft small">{count(total, 'row')}</caption>
          <thead>
            <tr>
              {columns[question.type].map((field) => (
                <Heading key={field} field={field} question={question} onAsk={onAsk} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, attributes }) => (
              <tr key={id}>
                {columns[question.type].map((field) => (
                  <td key={field} data-label={headingOf(field)}>
                    <Cell field={field} row={attributes} organization={organization} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    )}
    <Pager page={page} last={page.value * size >= total} words={['Previous', 'Next']}>
      Page {page.value} of {Math.ceil(total / size)}
    </Pager>
  </>
);

const Nothing = ({ question: { type, filters } }: { question: Question }) => (
  <div class="panel empty">
    <p>
      <strong>{filters.length ? 'Nothing matches these filters.' : `No ${typeNames[type].toLowerCase()} yet.`}</strong>
    </p>
    <p class="soft">
      {filters.length
        ? 'Change or remove a filter.'
        : type === 'workspaces'
          ? 'Create one under Workspaces.'
          : 'They appear here when workspaces of this organization have states.'}
    </p>
  </div>
);

interface HeadingProps {
  field: string;
  question: Question;
  onAsk(question: Question): void;
}

const Heading = ({ field, question, onAsk }: HeadingProps) => {
  const isSorted = question.sort.replace(/^-/, '') === field;
  const isReverse = question.sort.startsWith('-');
  const next = isSorted && !isReverse ? `-${field}` : field;
  return (
    <th
      scope="col"
      class={isNarrow(field) ? 'narrow-column' : field === 'current_run_display' ? 'status-column' : undefined}
      aria-sort={isSorted ? (isReverse ? 'descending' : 'ascending') : undefined}
    >
      <button type="button" class="sorts" onClick={() => onAsk({ ...question, sort: next })}>
        {headingOf(field)}
        {isSorted && <span aria-hidden="true">{isReverse ? ' ↓' : ' ↑'}</span>}
      </button>
    </th>
  );
};

interface CellProps extends OrganizationProps {
  field: string;
  row: Row['attributes'];
}

const Cell = ({ field, row, organization }: CellProps) => {
  const value = row[field.replaceAll('_', '-')];
  if (value === null || value === undefined || value === '') return <span class="soft">–</span>;
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  if (field === 'workspace_name') {
    const to = { view: 'workspace', organization, workspace: String(value), tab: 'overview' } as const;
    return (
      <a class="cut" href={hrefOf(to)} title={String(value)}>
        {value}
      </a>
    );
  }
  if (field.endsWith('_at')) return <Ago at={String(value)} />;
  if (field === 'current_run_display')
    return <RunStatusOf name={String(value)} row={row} organization={organization} />;
  if (field === 'tags') return <TagList tags={String(value).split(', ').map(readableTag)} />;
  return (
    <span class="cut" title={String(value)}>
      {value}
    </span>
  );
};

const mostTags = 6;

/** All of them on hover. */
const TagList = ({ tags }: { tags: string[] }) => (
  <span class="cut" title={tags.join(', ')}>
    {tags.slice(0, mostTags).join(', ')}
    {tags.length > mostTags && ` and ${tags.length - mostTags} more`}
  </span>
);

interface RunStatusProps extends OrganizationProps {
  name: string;
  row: Row['attributes'];
}

/** The status of a failed run leads to what failed. */
const RunStatusOf = ({ name, row, organization }: RunStatusProps) => {
  const { 'current-run-status': status, 'current-run-external-id': id, 'workspace-name': workspace } = row;
  const look = { class: `status ${statuses[status as RunStatus].tone}`, title: name };
  if (status !== 'errored') {
    return (
      <span {...look}>
        <span>{name}</span>
      </span>
    );
  }
  const to = { view: 'run', organization, workspace: String(workspace), run: String(id) } as const;
  return (
    <a {...look} href={`${hrefOf(to)}#${failedFragment}`}>
      <span>{name}</span>
    </a>
  );
};
